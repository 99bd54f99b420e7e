"""A consolidator on top of a language model: it reads the evidence, may look, and hands in updates by tool calls.

A refused update comes back to the model with the reason. It knows messages and tools; documents are changed by
others, from what it hands in.
"""

from __future__ import annotations

from dataclasses import replace

from scrubjay.agent.consolidation_text import RULES, shown
from scrubjay.agent.offer import Offer
from scrubjay.agent.proposed import item_of, text_of
from scrubjay.agent.schemas import ACT
from scrubjay.agent.toolbox import Toolbox
from scrubjay.errors import InvalidInput, ModelUnavailable, RequestTooLarge
from scrubjay.memory.jsonio import Json
from scrubjay.models.chat import ChatModel, Message, Tool, ToolCall, ToolResult, Usage
from scrubjay.models.consolidating import Evidence, Item, Judge, Proposal
from scrubjay.public import Memory

__all__ = ["CONSOLIDATING_TOOLS", "ModelConsolidator"]

_LOOKS = ("episodes", "look", "sheet", "compare")
_MOST_READ = 20_000
_NUDGE = "Nothing is handed in yet. Call update for what is worth knowing, or answer once more that nothing is."
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}


def _tool(name: str, description: str, properties: Json, *required: str) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return Tool(name, description, parameters)


CONSOLIDATING_TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        _tool(
            "update",
            "One claim of a document: add it, revise an entry to it, or let it supersede an entry that is wrong.",
            {
                "document": {**_TEXT, "description": "notes.md, GUIDE.md or another Markdown document"},
                "operation": {**_TEXT, "enum": ["add", "revise", "supersede"]},
                "claim": {**_TEXT, "description": "one plain sentence, without citations"},
                "cites": {**_TEXTS, "description": "references that show it: ep_000043, ep_000043#2350"},
                "entry": {**_TEXT, "description": "the text of the list item that it revises or supersedes"},
                "why": {**_TEXT, "description": "what shows that the entry no longer holds"},
            },
            "document", "operation", "claim", "cites",
        ),
        _tool("working", "The new text of the working memory, under 40 lines.", {"text": _TEXT}, "text"),
        _tool(
            "procedure",
            "Make a procedure or change it, or with disabled, a reason that cites episodes, offer it no longer.",
            {
                "name": _TEXT,
                "description": {**_TEXT, "description": "one line: what it does, and when"},
                "code": {**_TEXT, "description": "Python with a function of its name or main; leave out for text"},
                "text": {**_TEXT, "description": "how to use it, or the method itself where there is no code"},
                "cites": {**_TEXTS, "description": "episodes in which the method worked"},
                "disabled": _TEXT,
            },
            "name",
        ),
        _tool("read", "The text of one of your documents.", {"path": _TEXT}, "path"),
    )
}  # fmt: skip


class ModelConsolidator:
    """Asks a language model, at most `requests` times. It can look at the evidence of `memory` and write nothing.

    `offer` is what its way of remembering lets it see and do: without frames it opens none, without procedures it
    makes none.
    """

    def __init__(self, model: ChatModel, memory: Memory, *, offer: Offer | None = None, requests: int = 16) -> None:
        self._model, self._memory, self._requests = model, memory, requests
        offer = offer or Offer()
        self._looks = replace(offer, tools=tuple(name for name in offer.tools if name in _LOOKS))
        self._tools = tuple(
            tool for name, tool in CONSOLIDATING_TOOLS.items() if offer.procedures or name != "procedure"
        )

    @property
    def name(self) -> str:
        """The language model's name."""
        return self._model.name

    def propose(self, evidence: Evidence, judge: Judge) -> Proposal:
        """The items that the model handed in and that were not refused."""
        # Read-only: a look stores no question, so that evidence is the same before and after.
        with Memory.open(self._memory.root, read_only=True) as reader:
            talk = _Talk(self._model, self._tools, Toolbox(reader, self._looks, None), evidence, judge)
            return talk.hold(self._requests)


class _Talk:
    """One consolidation's conversation."""

    def __init__(
        self, model: ChatModel, tools: tuple[Tool, ...], box: Toolbox, evidence: Evidence, judge: Judge
    ) -> None:
        self._own = {tool.name: tool for tool in tools}
        self._model, self._box, self._evidence, self._judge = model, box, evidence, judge
        self._items: list[Item] = []

    def hold(self, requests: int) -> Proposal:
        looks = tuple(tool for tool in self._box.tools if tool.name != ACT.name)
        tools = (*self._own.values(), *looks)
        messages: tuple[Message, ...] = (Message("user", (shown(self._evidence),)),)
        usage, is_nudged = Usage(), False
        for _ in range(requests):
            try:
                reply = self._model.request(RULES, messages, tools)
            except (ModelUnavailable, RequestTooLarge) as error:
                return Proposal((), usage, broken_off=error)
            usage += reply.usage
            messages += (reply.message,)
            if reply.calls:
                messages += (Message("tool", results=tuple(self._answer(call) for call in reply.calls)),)
            elif self._items or is_nudged:
                break
            else:
                is_nudged = True
                messages += (Message("user", (_NUDGE,)),)
        return Proposal(tuple(self._items), usage)

    def _answer(self, call: ToolCall) -> ToolResult:
        if call.name not in self._own:
            return self._box.call(call)
        try:
            return ToolResult(call.id, call.name, (self._take(call),))
        except InvalidInput as error:
            return ToolResult(call.id, call.name, (f"refused: {error}",), is_error=True)

    def _take(self, call: ToolCall) -> str:
        if call.arguments is None:
            raise InvalidInput(f"the arguments of {call.name} are no JSON object: {call.raw[:200]!r}")
        if call.name == "read":
            return self._read(text_of(call.arguments, "path"))
        item = item_of(call.name, call.arguments)
        reason = self._judge(item)
        if reason is not None:
            raise InvalidInput(reason)
        self._items.append(item)
        return "taken"

    def _read(self, path: str) -> str:
        path = path.removeprefix("/memories").lstrip("/").removeprefix("mine/")
        text = self._evidence.documents.get(path)
        if text is None:
            raise InvalidInput(
                f"there is no document {path}; there are {', '.join(self._evidence.documents) or 'none'}"
            )
        return text if len(text) <= _MOST_READ else text[:_MOST_READ] + "\n(cut)"
