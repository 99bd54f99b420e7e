"""A run that consolidates: after turns, before a reset, at the end of a life, by the model that lives it."""

from __future__ import annotations

from corridor import Corridor
from scrubjay import Memory
from scrubjay.agent.consolidation import Consolidation
from scrubjay.agent.consolidation_turns import ConsolidationTurns
from scrubjay.agent.conversation import Conversation, Limits
from scrubjay.agent.loop import Run
from scrubjay.agent.triggers import When
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.methods.named import make_consolidation, make_method
from scrubjay.models.chat import Message, Reply, Tool, ToolCall, Usage
from scrubjay.models.named import make_model
from scrubjay.models.scripted.consolidating import ScriptedConsolidator


class Walks:
    """A ChatModel that walks, and when asked to consolidate adds one claim. `tools` are those it was offered then."""

    name = "walks"

    def __init__(self, action: str = "right") -> None:
        self._action = action
        self.tools: list[tuple[str, ...]] = []

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        names = tuple(tool.name for tool in tools)
        if "act" in names:
            return _call("act", {"plan": [{"action": self._action}], "intention": "walk"})
        self.tools.append(names)
        if len(messages) > 1:
            return Reply("done", usage=Usage(1))
        claim = {"document": "notes.md", "operation": "add", "claim": "It goes on", "cites": ["ep_000001"]}
        return _call("update", claim)


def _call(name: str, arguments: Json) -> Reply:
    return Reply("", (ToolCall("c", name, arguments),), Usage(1, 10, 1), "calls")


def consolidations(memory: Memory, life: int = 1) -> list[Json]:
    return [row for row in journal.rows(memory.layout.turns(life)) if row.get("kind") == "consolidation"]


def live(memory: Memory, chat: Walks, when: When, steps: int = 6, limits: Limits | None = None) -> None:
    player = Conversation(chat, memory, limits=limits)
    turns = make_consolidation(player, make_method("mfm"), memory)
    assert turns is not None
    turns.when = when
    Run(Corridor(), player, memory, steps=steps, consolidation=turns).run()


def test_after_turns_and_at_the_end(memory: Memory) -> None:
    live(memory, Walks(), When(every=4))
    rows = consolidations(memory)
    assert [(row["when"], row["turn"]) for row in rows] == [("4 turns", 4), ("end of life 1: budget spent", 6)]
    assert [row["requests"] for row in rows] == [2, 2]
    assert memory.documents.read("notes.md") == "# Notes\n\n- It goes on [ep_000001]\n"
    assert {change.life for change in memory.documents.history()} == {1}


def test_before_a_reset(memory: Memory) -> None:
    live(memory, Walks(), When(every=None, at_end=False), steps=3, limits=Limits(tokens=10))
    assert [(row["when"], row["turn"]) for row in consolidations(memory)] == [
        ("before a reset", 1),
        ("before a reset", 2),
    ]


def test_a_death_is_consolidated_before_the_next_life(memory: Memory) -> None:
    live(memory, Walks("left"), When(every=None), steps=4)
    assert [row["when"] for row in consolidations(memory)] == ["death"]
    assert [row["when"] for row in consolidations(memory, 2)] == ["end of life 2: budget spent"]


def test_a_run_by_rules(memory: Memory) -> None:
    turns = ConsolidationTurns(memory, Consolidation(memory, ScriptedConsolidator()))
    Run(Corridor(), Conversation(Walks(), memory), memory, steps=7, consolidation=turns).run()
    assert "Milestone six" in memory.documents.read("GUIDE.md")


def test_a_method_offers_what_it_offers_elsewhere(memory: Memory) -> None:
    for name in ("mfm", "mfm-no-frames", "mfm-no-procedures"):
        chat = Walks()
        player = Conversation(chat, memory)
        turns = make_consolidation(player, make_method(name), memory)
        Run(Corridor(), player, memory, steps=1, consolidation=turns).run()
        assert ("look" in chat.tools[0]) == (name != "mfm-no-frames")
        assert ("procedure" in chat.tools[0]) == (name != "mfm-no-procedures")
        assert "update" in chat.tools[0]


def test_who_does_not_consolidate(memory: Memory) -> None:
    player = Conversation(Walks(), memory)
    assert make_consolidation(player, make_method("mfm-no-consolidation"), memory) is None
    assert make_consolidation(player, make_method("direct"), memory) is None
    assert make_consolidation(make_model("scripted", "crafter"), make_method("mfm"), memory) is None
