"""A language model that lives: at each turn it is shown the block and the frame, uses its tools, hands in a plan.

It keeps a context between turns, within a budget; when that is full it begins afresh from what the memory holds. All
that a turn used is counted into the plan's account.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.agent.block import block
from scrubjay.agent.brief import brief
from scrubjay.agent.context import Context
from scrubjay.agent.offer import Offer
from scrubjay.agent.planning import CheckCall, Proposals, entries_of
from scrubjay.agent.schemas import ACT
from scrubjay.agent.toolbox import OwnTool, Toolbox
from scrubjay.agent.workshop import RULES, earlier_lives
from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.memory.layout import Layout
from scrubjay.models.chat import ChatModel, Image, Message, Reply, ToolCall, ToolResult, Usage
from scrubjay.models.contract import Account, Entry, Plan, Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Conversation", "Limits"]

_NUDGE = "Nothing was executed. Call act with a plan; what you only say is lost."


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a context and of a turn: estimated tokens, pictures a request, requests a turn."""

    tokens: int = 120_000
    images: int = 8
    requests: int = 24


def _nothing_to_call(name: str, arguments: Any) -> str | None:
    return f"{name!r} is neither an action nor an atom nor a procedure"


class Conversation:
    """A Model of the agent's contract on top of a ChatModel.

    `before_reset` is told before a context is given up. `first` is asked at the beginning of every turn: a plan that it
    gives is taken, and the language model is not asked.
    """

    def __init__(
        self,
        model: ChatModel,
        memory: Memory,
        *,
        offer: Offer | None = None,
        limits: Limits | None = None,
        rules: str = "",
        own: Callable[[], Sequence[str]] = tuple,
        check: CheckCall = _nothing_to_call,
        before_reset: Callable[[Turn], None] = lambda turn: None,
        tools: Sequence[OwnTool] = (),
        recalled: Callable[[Turn], Sequence[str]] = lambda turn: (),
        encoders: Sequence[str] = (),
    ) -> None:
        self._model, self._memory = model, memory
        self._offer, self._limits = offer or Offer(), limits or Limits()
        self._rules, self._own, self._check, self.before_reset = rules, own, check, before_reset
        self._tools, self._recalled, self._encoders = tuple(tools), recalled, tuple(encoders)
        self._context = Context(self._limits.tokens, self._limits.images)
        self._proposals = Proposals()
        self._life = 0
        self._inspected: list[str] = []
        self.first: Callable[[Turn], Plan | None] = lambda turn: None

    @property
    def name(self) -> str:
        """The language model's name."""
        return self._model.name

    @property
    def chat(self) -> ChatModel:
        """The language model."""
        return self._model

    def decide(self, turn: Turn) -> Plan:
        """One turn: requests and tool calls until a valid plan is handed in.

        A model that hands in none within the limit of requests gets a plan of one action that changes least (the
        environment's first), and the account says so.
        """
        known = self.first(turn)
        if known is not None:
            return known
        began = time.monotonic()
        resets = self._begin(turn)
        box = self._box(turn)
        system = brief(turn, self._offer, box.tools, self._rules)
        self._context.add(Message("user", (self._block(turn), _picture(turn.frame))))
        usage, refusals = Usage(), 0
        for _ in range(self._limits.requests):
            reply = self._model.request(system, self._context.messages, box.tools)
            usage += reply.usage
            self._context.add(reply.message)
            plan, refused = self._carry_out(reply, box, turn)
            refusals += refused
            if plan is not None:
                self._inspected = box.inspected or self._inspected
                spent = time.monotonic() - began
                account = Account(
                    usage, box.calls, tuple(box.inspected), resets, refusals, spent, encoders=self._encoders
                )
                return Plan(plan[0], plan[1], account)
        spent = time.monotonic() - began
        account = Account(usage, box.calls, tuple(box.inspected), resets, refusals, spent, encoders=self._encoders)
        return Plan((Entry(turn.actions[0]),), "the model handed in no plan", account)

    def workshop(self, turn: Turn) -> Account:
        """A turn without a plan, over the evidence of earlier lives: it looks, and writes its documents.

        Raises what a request raises; the acting turns then begin with a fresh context.
        """
        began, usage = time.monotonic(), Usage()
        resets = self._begin(turn)
        box = self._box(turn)
        tools = tuple(tool for tool in box.tools if tool.name != ACT.name)
        system = brief(turn, self._offer, box.tools, self._rules)
        told = f"{self._block(turn)}\n\n{RULES} When nothing is left to do, answer without a call.\n\n"
        self._context.add(Message("user", (told + earlier_lives(self._memory, turn.life), _picture(turn.frame))))
        try:
            for _ in range(self._limits.requests):
                reply = self._model.request(system, self._context.messages, tools)
                usage += reply.usage
                self._context.add(reply.message)
                if not reply.calls:
                    break
                self._context.add(Message("tool", results=tuple(map(box.call, reply.calls))))
        except ScrubjayError:
            self._context.reset()
            raise
        self._inspected = box.inspected
        return Account(usage, box.calls, tuple(box.inspected), resets, seconds=time.monotonic() - began)

    def _box(self, turn: Turn) -> Toolbox:
        return Toolbox(self._memory, self._offer, turn.frame, self._tools, turn.life)

    def _begin(self, turn: Turn) -> int:
        """A new life, or a full context, begins afresh; returns how often the context was given up for being full."""
        if turn.life != self._life:
            self._life, self._proposals = turn.life, Proposals()
            self._context.reset()
        elif self._context.is_full:
            self.before_reset(turn)
            self._context.reset()
            return 1
        return 0

    def _block(self, turn: Turn) -> str:
        text = block(turn, self._offer, self._memory.grid(), self._own(), self._working(turn.life))
        recalled = self._recalled(turn)
        if recalled:
            text += "\n[RECALLED] from earlier, chosen for this turn\n" + "\n".join(f"  {line}" for line in recalled)
        if not self._context.messages and self._inspected:
            text += f"\n[LOOKED AT] before this context began: {', '.join(self._inspected[-8:])}"
        return text

    def _working(self, life: int) -> str | None:
        try:
            return self._memory.documents.read(Layout.working(life))
        except NotFound:
            return None

    def _carry_out(self, reply: Reply, box: Toolbox, turn: Turn) -> tuple[tuple[tuple[Entry, ...], str] | None, int]:
        """Answers every call of a reply; returns the accepted plan, if any, and how many were refused."""
        if not reply.calls:
            self._context.add(Message("user", (_NUDGE,)))
            return None, 0
        accepted: tuple[tuple[Entry, ...], str] | None = None
        refused, results = 0, []
        for call in reply.calls:
            if call.name != ACT.name:
                results.append(box.call(call))
                continue
            box.calls += 1
            try:
                if accepted is not None:
                    raise InvalidInput("one plan a turn: this one was not taken")
                accepted = self._accept(call, turn)
                results.append(ToolResult(call.id, call.name, ("accepted; it is being executed",)))
            except InvalidInput as error:
                refused += 1
                results.append(ToolResult(call.id, call.name, (f"refused: {error}",), is_error=True))
        self._context.add(Message("tool", results=tuple(results)))
        return accepted, refused

    def _accept(self, call: ToolCall, turn: Turn) -> tuple[tuple[Entry, ...], str]:
        if call.arguments is None:
            raise InvalidInput(f"the arguments are no JSON object: {call.raw[:200]!r}")
        entries = entries_of(call.arguments, turn.actions, self._check)
        self._proposals.judge(entries, turn.unchanged)
        intention = call.arguments.get("intention", "")
        return entries, intention if isinstance(intention, str) else ""


def _picture(frame: Any) -> Image:
    """The current frame as PNG: any model reads it, and it is exact."""
    from PIL import Image as Pillow

    buffer = io.BytesIO()
    Pillow.fromarray(frame).save(buffer, "PNG")
    return Image(buffer.getvalue(), "image/png", "the current frame")
