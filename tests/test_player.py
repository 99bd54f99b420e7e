"""The scripted player: what it knows it sees or finds in the memory, and nothing is kept between turns."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Memory, Query
from scrubjay.agent.loop import Run
from scrubjay.environments.crafter import Crafter
from scrubjay.errors import Conflict, NotFound
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.memory.records import Row
from scrubjay.models.contract import Plan, Turn
from scrubjay.models.named import make_model
from scrubjay.models.scripted.crafter import CrafterPlayer
from scrubjay.models.scripted.crafter.chart import Chart
from scrubjay.models.scripted.crafter.paths import Paths
from scrubjay.models.scripted.crafter.rules import COSTS, MAKE, TOOL_FOR, Cell
from scrubjay.models.scripted.crafter.working import Plant, Working, load_working

SMALL = (18, 18)
STEPS = 300


class Shelf:
    """Documents of the simplest kind."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def read(self, path: str) -> str:
        if path not in self.texts:
            raise NotFound(path)
        return self.texts[path]

    def write(self, path: str, text: str, *, expected: str | None = None) -> None:
        if expected not in (None, sha256(self.texts.get(path, "").encode()).hexdigest()):
            raise Conflict(path)
        self.texts[path] = text

    def append(self, path: str, text: str) -> None:
        self.texts[path] = self.texts.get(path, "") + text


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """300 steps of the player, with small frames."""
    memory = Memory.create(tmp_path_factory.mktemp("life") / "m")
    progress = Run(Crafter(size=SMALL), CrafterPlayer(), memory, seed=2, steps=STEPS).run()
    assert progress.step == STEPS
    assert len(progress.reached) >= 10
    memory.close()
    return memory


def actions_of(memory: Memory) -> list[Any]:
    return [[row["entries"], row["intention"], row["episodes"]] for row in journal.rows(memory.layout.turns(1))]


class Forgetful:
    """A new player and a newly opened memory for every turn."""

    name = "scripted"

    def decide(self, turn: Turn) -> Plan:
        memory = turn.recall
        assert isinstance(memory, Memory)
        with Memory.open(memory.root) as opened:
            return CrafterPlayer().decide(replace(turn, recall=opened))


def test_the_player_keeps_nothing_between_turns(life: Memory, tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    Run(Crafter(size=SMALL), Forgetful(), memory, seed=2, steps=100).run()
    forgetful = actions_of(memory)[:-1]  # the last may be cut by the budget
    assert len(forgetful) > 40
    assert forgetful == actions_of(life)[: len(forgetful)]
    for path in ("notes.md", "map-crafter-2.md"):
        assert memory.documents.read(path).startswith("# ")


DECIDE = """
import json, pickle, sys
from scrubjay import Memory
from scrubjay.models.named import make_model
from scrubjay.models.contract import Turn
with Memory.open(sys.argv[1]) as memory:
    plan = make_model("scripted", "crafter").decide(Turn(recall=memory, **pickle.loads(sys.stdin.buffer.read())))
    print(json.dumps([[[entry.action, entry.repeat] for entry in plan.entries], plan.intention]))
"""


def test_a_fresh_process_decides_the_same(tmp_path: Path) -> None:
    class Asking:
        name = "scripted"

        def decide(self, turn: Turn) -> Plan:
            here = make_model("scripted", "crafter")
            if turn.turn != 12:
                return here.decide(turn)
            assert isinstance(turn.recall, Memory)
            given = {name: getattr(turn, name) for name in turn.__slots__ if name != "recall"}
            answer = subprocess.run(
                [sys.executable, "-c", DECIDE, turn.recall.root],
                input=pickle.dumps(given),
                capture_output=True,
                check=True,
            )
            elsewhere.append(json.loads(answer.stdout))
            return here.decide(turn)

    elsewhere: list[Any] = []
    memory = Memory.create(tmp_path / "m")
    Run(Crafter(size=SMALL), Asking(), memory, seed=2, steps=40).run()
    assert elsewhere == [actions_of(memory)[11][:2]]


def test_what_it_writes_cites_evidence_and_the_memory_is_sound(life: Memory) -> None:
    report = check(life.layout)
    assert report.is_sound, [str(problem) for problem in report.problems]
    notes = life.documents.read("notes.md")
    reached = next(line for line in notes.splitlines() if "reached collect_wood" in line)
    cited = reached[reached.index("[") + 1 : reached.index("]")]
    assert "milestone collect_wood" in life.episode(cited).row.events


def test_the_map_holds_what_the_view_showed_and_nothing_else(life: Memory) -> None:
    shown: dict[Cell, str] = {}
    for row in life.find(Query(life=1, limit=None)).rows:
        for step in life.episode(row).steps():
            x, _, z = step.state["pos"]
            for j, line in enumerate(step.state["view"], z - 3):
                for i, word in enumerate(line.split(), x - 4):
                    shown.setdefault((i, j), word)
    chart = Chart(life.documents, "crafter-2", 99, "ep_000000")
    known = {(x, z) for x in range(64) for z in range(64) if chart.known((x, z))}
    assert known
    assert known <= set(shown)
    for cell in known:
        assert shown[cell] in (chart.at(cell), "player", "cow", "zombie", "skeleton", "arrow")


def test_the_next_life_reads_what_the_last_one_noted(life: Memory) -> None:
    death = Row(id="ep_000009", path="", life=1, world="crafter-2", end=(30.0, 0.0, 31.0), tags=("died",))

    class Recall:
        documents = life.documents

        def find(self, query: Query) -> Any:
            return type("Found", (), {"rows": [death] if query.tag == "died" else []})

        def grid(self, world: str | None = None) -> Any:
            return life.grid(world)

    from scrubjay.models.scripted.crafter.notes import load_notes

    turn = Turn("", 2, 1, 0, 100, life.world("crafter-2"), None, {}, (), (), Recall())  # type: ignore[arg-type]
    notes = load_notes(turn)
    assert {"collect_wood", "place_table"} <= notes.reached
    notes.learn(turn, "ep_000100")
    assert notes.deaths == [(30, 31)]


# --- its parts

WORDS = st.sampled_from(["grass", "sand", "path", "tree", "water", "stone", "coal", "iron", "diamond", "lava", "table"])
CELLS = st.tuples(st.integers(0, 63), st.integers(0, 63))


@given(st.dictionaries(CELLS, WORDS, max_size=40), st.dictionaries(CELLS, WORDS, max_size=40))
def test_a_chart_reads_back_what_it_wrote(first: dict[Cell, str], later: dict[Cell, str]) -> None:
    shelf = Shelf()
    for seen in (first, later):
        chart = Chart(shelf, "w", 1, "ep_000007")
        chart.see(seen.items())
        chart.save()
    again = Chart(shelf, "w", 1, "ep_000008")
    for cell, word in {**first, **later}.items():
        assert again.at(cell) == word
    other_life = Chart(shelf, "w", 2, "ep_000009")
    for cell, word in {**later, **first}.items():
        assert other_life.at(cell) == word  # terrain comes back


def test_two_who_map_a_world_at_once_lose_nothing() -> None:
    shelf = Shelf()
    first = Chart(shelf, "w", 1, "ep_000001")
    first.see([((0, 0), "tree")])
    first.save()
    one, other = Chart(shelf, "w", 1, "ep_000002"), Chart(shelf, "w", 2, "ep_000003")
    one.see([((1, 0), "water")])
    other.see([((2, 0), "iron")])
    one.save()
    other.save()
    again = Chart(shelf, "w", 3, "ep_000004")
    assert [again.at((x, 0)) for x in range(4)] == ["tree", "water", "iron", None]


@given(
    st.text("abc: ", max_size=20).map(str.strip),
    st.none() | st.builds(Plant, CELLS, st.integers(0, 999), st.none() | st.integers(0, 999)),
    st.dictionaries(CELLS, st.integers(0, 9999), max_size=4),
)
def test_working_memory_reads_back_what_it_wrote(intention: str, plant: Plant | None, avoid: dict[Cell, int]) -> None:
    shelf = Shelf()
    written = Working("working/0001.md", "Working memory, life 1", intention, plant, avoid)
    written.save(shelf, "ep_000001")
    read = load_working(shelf, 1)
    assert (read.intention, read.plant, read.avoid) == (intention, plant, avoid)
    before = dict(shelf.texts)
    read.save(shelf, "ep_000002")
    assert shelf.texts == before  # nothing changed, so nothing is written


def test_ways_go_around_and_through() -> None:
    rows = ["..#..", ".~#~.", "....."]
    costs = {".": 1.0, "#": 5.0, "~": None}

    def cost(cell: Cell) -> float | None:
        x, z = cell
        return costs[rows[z][x]] if 0 <= x < 5 and 0 <= z < 3 else None

    paths = Paths((1, 0), cost)
    through = paths.to(lambda cell: cell == (3, 0))
    assert through is not None
    assert (through.cells, through.cost) == (((2, 0), (3, 0)), 6.0)
    around = paths.to(lambda cell: cell == (3, 2))
    assert around is not None
    assert (len(around.cells), around.cost) == (6, 6.0)
    beside = paths.next_to(lambda cell: cell == (1, 1))
    assert beside is not None
    assert (beside.cells, beside.target) == ((), (1, 1))
    assert paths.to(lambda cell: cell == (9, 9)) is None


def test_recipes_are_those_of_the_package() -> None:
    assert COSTS["table"] == {"wood": 2}
    assert COSTS["furnace"] == {"stone": 4}
    assert MAKE["iron_pickaxe"] == ({"wood": 1, "coal": 1, "iron": 1}, ("table", "furnace"))
    assert (TOOL_FOR["tree"], TOOL_FOR["diamond"]) == (None, "iron_pickaxe")
