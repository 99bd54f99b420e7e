"""Methods: what each of them tells a model of the memory, and what it keeps back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corridor import Always, Corridor
from scrubjay import Memory, Query
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.errors import Conflict, InvalidInput, NotFound
from scrubjay.methods.contract import Method
from scrubjay.methods.log_search import LogSearch, sections
from scrubjay.methods.named import METHODS, make_method
from scrubjay.methods.table import methods_table
from scrubjay.models.contract import Plan, Recall, Turn
from scrubjay.retrieval.query import ALL_LIVES
from scrubjay.surfaces.cli import main
from test_conversation import Says, act, calls

ALL = sorted(METHODS)


class Writing(Always):
    """Notes what it can read and find before it writes a line more."""

    def __init__(self) -> None:
        super().__init__(("left", 2))
        self.read: list[str] = []
        self.recalls: list[Recall] = []

    def decide(self, turn: Turn) -> Plan:
        self.recalls.append(turn.recall)
        documents = turn.recall.documents
        try:
            self.read.append(documents.read("notes.md").replace("\n", ""))
        except NotFound:
            self.read.append("")
        documents.append("notes.md", f"{turn.life}.{turn.turn} ")
        return super().decide(turn)


def lived(path: Path, method: Method, model: Always, steps: int = 9, environment: Any = None) -> Memory:
    memory = Memory.create(path)
    Run(environment or Corridor(), model, memory, steps=steps, method=method.traits.name, recall=method.recall).run()
    return memory


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("direct", ["", "", "", "", "", ""]),
        ("prolong", ["", "", "", "", "", ""]),
        ("vista", ["", "1.1 ", "", "2.1 ", "", "3.1 "]),
        ("mfm", ["", "1.1 ", "1.1 1.2 ", "1.1 1.2 2.1 ", "1.1 1.2 2.1 2.2 ", "1.1 1.2 2.1 2.2 3.1 "]),
    ],
)
def test_documents_last_as_long_as_the_method_keeps_them(name: str, read: list[str], tmp_path: Path) -> None:
    model = Writing()
    lived(tmp_path / "m", make_method(name), model)  # three lives of two turns, each ended by death
    assert model.read == read


def test_what_a_direct_model_asks_is_not_answered(tmp_path: Path) -> None:
    model = Writing()
    lived(tmp_path / "m", make_method("direct"), model)
    for recall in model.recalls:
        assert list(recall.find(Query(last=5)).rows) == []
        assert list(recall.grid().rows()) == []
    documents = model.recalls[0].documents
    assert documents.read("notes.md") == "1.1 "  # in the turn itself it is there
    with pytest.raises(Conflict):
        documents.write("notes.md", "x", expected="0" * 64)


def test_guide_is_what_vista_takes_to_the_next_life(tmp_path: Path) -> None:
    model = Writing()
    memory = lived(tmp_path / "m", make_method("vista"), model)
    model.recalls[0].documents.write("GUIDE.md", "Left hurts.")
    assert model.recalls[-1].documents.read("GUIDE.md") == "Left hurts."
    assert list(model.recalls[0].find(Query(last=5)).rows) == []
    assert sorted(memory.documents.list()) == ["GUIDE.md", *(f"working/000{n}-notes.md" for n in (1, 2, 3))]


@pytest.fixture(scope="module")
def corridor(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Two lives: one that dies on the left, one that is cut by the budget."""
    model = Always(("right", 2), ("wait", 1), ("left", 6))
    return lived(tmp_path_factory.mktemp("logs") / "m", make_method("mfm"), model, steps=25)


def test_the_log_tells_of_episodes_what_the_index_tells(corridor: Memory) -> None:
    told = LogSearch(corridor, 1).find(Query(life=ALL_LIVES, limit=None)).rows
    known = corridor.find(Query(life=ALL_LIVES, limit=None)).rows
    assert len(told) == len(known) > 8
    for one, other in zip(told, known, strict=True):
        assert (one.id, one.life, one.action_kind, one.first_step, one.end) == (
            other.id, other.life, other.action_kind, other.first_step, other.end,
        )  # fmt: skip
        assert one.outcome == other.outcome or other.kind == "initial"
        assert one.last_step in (other.last_step, None)
        assert one.position in (other.position, None)
        assert set(one.tags) <= set(other.tags)
    assert [row.id for row in told if "died" in row.tags] == [row.id for row in known if "died" in row.tags]


@pytest.mark.parametrize(
    "query",
    [
        Query(action="right", life=1),
        Query(tag="died", life=ALL_LIVES, world="corridor-0"),
        Query(tag="milestone", life=ALL_LIVES),
        Query(last=2, life=2),
        Query(last=0, life=2),
        Query(grep='"WAIT"', life=ALL_LIVES, limit=2),
        Query(regex=r'"le..\b', life=1),
        Query(life=ALL_LIVES, action="left", after="ep_000004"),
    ],
    ids=str,
)
def test_a_search_of_the_log_finds_what_a_query_finds(corridor: Memory, query: Query) -> None:
    found = [row.id for row in LogSearch(corridor, 3).find(query).rows]
    assert found == [row.id for row in corridor.find(query).rows]


def test_a_log_is_not_asked_for_places_or_pictures(corridor: Memory) -> None:
    for query in (Query(near=(0, 0)), Query(same_screen="0" * 32), Query(like=b"x"), Query(match="left")):
        with pytest.raises(InvalidInput, match="text"):
            LogSearch(corridor, 1).find(query)
    with pytest.raises(InvalidInput, match="no stored frames"):
        make_method("mfm-no-frames").recall(corridor, None).find(Query(like=b"x"))  # type: ignore[arg-type]


def test_earlier_lives_of_a_log(corridor: Memory) -> None:
    rows = LogSearch(corridor, 2).find(Query(previous=True)).rows
    assert {row.life for row in rows} == {1}
    assert list(sections("no log", 1)) == []
    assert LogSearch(corridor, 9).text(9) == ""


@pytest.mark.parametrize("name", ["mfm-no-frames", "mfm-no-procedures", "mfm-no-consolidation"])
def test_ablations_a_scripted_player_can_not_feel(name: str, tmp_path: Path) -> None:
    whole, without = Writing(), Writing()
    lived(tmp_path / "whole", make_method("mfm"), whole)
    lived(tmp_path / "without", make_method(name), without)
    assert whole.read == without.read
    assert [turn.step for turn in whole.turns] == [turn.step for turn in without.turns]


@pytest.mark.parametrize("name", ALL)
def test_a_language_model_is_offered_the_tools_of_its_method(name: str, tmp_path: Path) -> None:
    method = make_method(name)
    memory, environment = Memory.create(tmp_path / "m"), Corridor()
    model = Says(calls("log", {"text": "right"}), act("right"), act("right"))
    agent = method.conversation(model, memory, Skills(environment, memory))
    Run(environment, agent, memory, steps=2, recall=method.recall).run()
    shown = {tool.name for tool in model.shown[0][2]}
    looks = {"look", "sheet", "then_now", "compare"} if not method.traits.offer.frames else set()
    assert shown == {*method.traits.offer.tools, "act"} - looks
    answer = str(model.shown[1][1][-1].results[0].parts[0])
    if "log" in method.traits.offer.tools:
        assert "nothing in the log" in answer
    else:
        assert "there is no tool 'log'" in answer


def test_the_log_tool_answers_with_sections(corridor: Memory) -> None:
    from scrubjay.methods.log_tool import log_tool

    tool = log_tool(corridor)
    found = tool.answer({"text": "outcome died", "life": "all"})
    assert found.count("[STATE]") == 1
    assert found.startswith("life 1 Action 9 | Step 15")
    assert tool.answer({"steps": [0, 0], "life": 1, "last": 1}).count("[ACTION]") == 1
    with pytest.raises(InvalidInput, match="last"):
        tool.answer({"last": 0})


def test_without_procedures_none_is_called_or_shown(tmp_path: Path) -> None:
    method = make_method("mfm-no-procedures")
    memory, environment = Memory.create(tmp_path / "m"), Corridor()
    memory.procedures.create("hop", "Hops.", code="def hop() -> None:\n    act('right')\n")
    model = Says(calls("act", {"plan": [{"action": "hop"}]}), act("wait"))
    agent = method.conversation(model, memory, Skills(environment, memory))
    Run(environment, agent, memory, steps=1, recall=method.recall).run()
    assert "hop" not in str(model.shown[0])
    assert "neither an action nor an atom" in str(model.shown[1])


def test_the_table_is_made_from_the_traits() -> None:
    lines = methods_table().splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| `{name}`" for name in METHODS]
    assert len({line.count(" | ") for line in lines[:1] + lines[2:]}) == 1
    row = next(line for line in lines if line.startswith("| `mfm-no-frames`"))
    assert "`episodes`" in row
    assert "`look`" not in row


def test_every_name_is_that_of_its_method_and_others_are_told() -> None:
    for name in METHODS:
        assert make_method(name).traits.name == name
    with pytest.raises(InvalidInput, match="one of direct"):
        make_method("remember-all")


def test_the_command_lives_with_a_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "m")
    command = ["run", "corridor:Corridor", "--model", "corridor:Walker", "--memory", path, "--steps", "3"]
    assert main([*command, "--method", "prolong"]) == 0
    assert main([*command, "--method", "nothing"]) == 1
    assert "prolong" in capsys.readouterr().err
    with Memory.open(path, read_only=True) as memory:
        assert [life.method for life in memory.lives()] == ["prolong"]


def test_the_guide_shows_the_table_as_it_is() -> None:
    assert methods_table() in (Path(__file__).parent.parent / "docs" / "experiments.md").read_text()
