"""A language model's turn: block and frame in, tools, a checked plan out. The model here is a list of replies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conftest import live_some, numbered
from scrubjay import Memory
from scrubjay.agent.block import block
from scrubjay.agent.brief import LIMIT, brief
from scrubjay.agent.context import Context
from scrubjay.agent.conversation import Conversation, Limits
from scrubjay.agent.offer import ALL_TOOLS, Offer
from scrubjay.agent.schemas import QUERY_PARAMETERS, TOOLS
from scrubjay.agent.toolbox import RECORDED, Toolbox
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.models.chat import Image, Message, Reply, Tool, ToolCall, ToolResult, Usage
from scrubjay.models.contract import Turn
from scrubjay.retrieval.query import Query

ACTIONS = ("noop", "forward", "use")


class Says:
    """A ChatModel that gives prepared replies and keeps what it was shown."""

    name = "prepared replies"

    def __init__(self, *replies: Reply | Callable[[tuple[Message, ...]], Reply]) -> None:
        self._replies = list(replies)
        self.shown: list[tuple[str, tuple[Message, ...], tuple[Tool, ...]]] = []

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        self.shown.append((system, messages, tools))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        return reply if isinstance(reply, Reply) else reply(messages)


def calls(name: str, arguments: Json | None, raw: str = "") -> Reply:
    return Reply("", (ToolCall("c1", name, arguments, raw),), Usage(1, 100, 10, 1, 0.01), "calls")


def act(*actions: str) -> Reply:
    return calls("act", {"plan": [{"action": action} for action in actions], "intention": "go on"})


def turn_of(memory: Memory, **changes: Any) -> Turn:
    values: dict[str, Any] = {
        "task": "Mine a diamond.", "life": 1, "turn": 3, "step": 12, "steps_left": 88, "world": memory.world("seed-7"),
        "frame": numbered(12), "state": {"pos": [12.5, 64.0, -0.5], "health": 8, "inventory": {"log": 3}},
        "milestones": ("log_1",), "recent": tuple(memory.find(Query(last=2)).rows), "recall": memory,
        "actions": ACTIONS, "known_milestones": ("log_1", "stone_1"),
    }  # fmt: skip
    return Turn(**{**values, **changes})


def results(shown: tuple[Message, ...]) -> list[ToolResult]:
    return [result for message in shown for result in message.results]


def texts(result: ToolResult) -> str:
    return "\n".join(part for part in result.parts if isinstance(part, str))


def test_a_plan_comes_out_and_the_account_counts(lived: Memory) -> None:
    model = Says(calls("episodes", {"last": 2}), act("forward", "use"))
    plan = Conversation(model, lived).decide(turn_of(lived))
    assert [(entry.action, entry.repeat) for entry in plan.entries] == [("forward", 1), ("use", 1)]
    assert plan.intention == "go on"
    assert plan.account.usage == Usage(2, 200, 20, 2, 0.02)
    assert plan.account.tool_calls == 2


def test_the_first_message_is_the_block_with_the_current_frame(lived: Memory) -> None:
    model = Says(act("noop"))
    Conversation(model, lived).decide(turn_of(lived))
    _, messages, tools = model.shown[0]
    text, picture = messages[0].parts
    assert isinstance(text, str)
    assert "Step 12, 88 left of 100" in text
    assert "First unmet: stone_1" in text
    assert f"[RECENT] {RECORDED}\n  ep_000002" in text
    assert "[MAP] 13 cells of seed-7 walked" in text
    assert "hazard: damage" in text
    assert isinstance(picture, Image)
    assert [tool.name for tool in tools] == [*ALL_TOOLS, "act"]


def test_tools_answer_with_rows_and_pictures(lived: Memory) -> None:
    look = calls("look", {"reference": "ep_000001#4", "question": "Is it free?"})
    model = Says(calls("episodes", {"near": [0, 0], "tag": ["damage"]}), look, act("noop"))
    plan = Conversation(model, lived).decide(turn_of(lived))
    found, seen = results(model.shown[2][1])
    assert texts(found).startswith(RECORDED)
    assert "ep_000000" in texts(found)
    assert "q_000001" in texts(seen)
    assert isinstance(seen.parts[1], Image)
    assert plan.account.inspected == ("ep_000001#4",)


def test_documents_are_written_through_the_tool(lived: Memory) -> None:
    create = calls("documents", {"command": "create", "path": "/memories/notes.md", "file_text": "# Notes\n"})
    append = calls("documents", {"command": "append", "path": "/memories/notes.md", "text": "- Iron [ep_000001].\n"})
    Conversation(Says(create, append, act("noop")), lived).decide(turn_of(lived))
    assert lived.documents.read("notes.md") == "# Notes\n- Iron [ep_000001].\n"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("nothing", {}, "there is no tool 'nothing'"),
        ("episodes", {"grep": ""}, "some text to look for"),
        ("episodes", {"flavour": 1}, "flavour"),
        ("look", {}, "reference is missing"),
        ("look", {"reference": "ep_000099"}, "ep_000099"),
        ("look", {"reference": "../../etc/passwd"}, "not a reference"),
        ("documents", {"command": "view", "path": "/memories/../episodes"}, ""),
        ("answer", {"id": "q_000009", "text": "x"}, "q_000009"),
        ("episodes", None, "no JSON object"),
    ],
)
def test_what_goes_wrong_is_told_to_the_model(lived: Memory, name: str, arguments: Json | None, told: str) -> None:
    model = Says(calls(name, arguments, "{brok"), act("noop"))
    Conversation(model, lived).decide(turn_of(lived))
    result = results(model.shown[1][1])[0]
    assert result.is_error
    assert told in texts(result)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ([], "a list of entries was expected"),
        ([{"action": "fly"}], "neither an action nor an atom"),
        ([{"action": "forward", "repeat": 0}], "a count above 0"),
        ([{"action": "forward", "repeat": 401}], "at most 400"),
        ([{"action": "forward", "arguments": {"x": 1}}], "takes no arguments"),
        (["forward"], "entry 1"),
    ],
)
def test_a_wrong_plan_is_refused_before_a_step_is_spent(lived: Memory, plan: list[Any], told: str) -> None:
    model = Says(calls("act", {"plan": plan}), act("noop"))
    accepted = Conversation(model, lived).decide(turn_of(lived))
    assert told in texts(results(model.shown[1][1])[0])
    assert accepted.account.refusals == 1
    assert accepted.entries[0].action == "noop"


def test_the_third_identical_plan_without_effect_is_refused(lived: Memory) -> None:
    model = Says(act("use"), act("use"), act("use"), act("forward"))
    agent = Conversation(model, lived)
    assert agent.decide(turn_of(lived)).entries[0].action == "use"
    assert agent.decide(turn_of(lived, unchanged=1)).entries[0].action == "use"
    assert agent.decide(turn_of(lived, unchanged=2)).entries[0].action == "forward"


def test_a_model_that_only_talks_is_told_so_and_costs_no_more_than_the_limit(lived: Memory) -> None:
    model = Says(Reply("I would walk.", usage=Usage(1)))
    plan = Conversation(model, lived, limits=Limits(requests=3)).decide(turn_of(lived))
    assert len(model.shown) == 3
    assert plan.entries[0].action == "noop"
    assert plan.intention == "the model handed in no plan"


def test_a_full_context_begins_afresh_from_the_memory(lived: Memory) -> None:
    lived.documents.create("working/0001.md", "- Going east [ep_000003].\n")
    model = Says(calls("look", {"reference": "ep_000001"}), act("noop"), act("noop"))
    warned: list[int] = []
    agent = Conversation(model, lived, limits=Limits(tokens=2000), before_reset=lambda turn: warned.append(turn.turn))
    agent.decide(turn_of(lived))
    plan = agent.decide(turn_of(lived, turn=4))
    assert warned == [4]
    assert plan.account.resets == 1
    (message,) = model.shown[2][1]
    text = message.parts[0]
    assert isinstance(text, str)
    assert "Going east" in text
    assert "ep_000001" in text.split("[LOOKED AT]")[1]


def test_pictures_in_a_request_are_bounded() -> None:
    context = Context(10**9, 2)
    for nth in range(5):
        context.add(Message("user", (f"turn {nth}", Image(b"x", "image/png", f"frame {nth}"))))
    shown = [part.label for message in context.messages for part in message.parts if isinstance(part, Image)]
    assert shown == ["frame 3", "frame 4"]
    assert "frame 0" in str(context.messages[0].parts[1])


def test_an_offer_without_frames_opens_none(lived: Memory) -> None:
    box = Toolbox(lived, Offer(frames=False), numbered(0))
    assert [tool.name for tool in box.tools] == ["episodes", "answer", "documents", "act"]
    assert box.call(ToolCall("c", "look", {"reference": "ep_000001"})).is_error


def test_parameters_of_episodes_are_those_of_query() -> None:
    pictures = {"same_screen", "like"}  # a model has no picture of its own to ask with: then_now shows the current one
    assert set(QUERY_PARAMETERS) == set(Query.__dataclass_fields__) - pictures


def test_the_brief_names_what_there_is_and_stays_small(memory: Memory) -> None:
    live_some(memory)
    turn, offer = turn_of(memory), Offer()
    box = Toolbox(memory, offer, numbered(0))
    text = brief(turn, offer, box.tools, "Water is blue.")
    assert len(text.encode()) < LIMIT
    for name in (*ALL_TOOLS, "act", *ACTIONS, "stone_1"):
        assert name in text
    with pytest.raises(InvalidInput, match="12288 are allowed"):
        brief(turn, offer, box.tools, "x" * LIMIT)


def test_a_block_without_memory_shows_none(lived: Memory) -> None:
    bare = Offer(tools=(), recent=False, map=False, own=False, working=False)
    text = block(turn_of(lived), bare, None)
    assert "[RECENT]" not in text
    assert "[MAP]" not in text
    assert "[STATE] pos (12.5, 64, -0.5)" in text
    assert set(ALL_TOOLS) == set(TOOLS)
