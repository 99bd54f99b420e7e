"""What looking back led to, counted from turns and episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scrubjay import Memory
from scrubjay.experiments.inspecting import inspection_counts
from scrubjay.experiments.report import report
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json


def lived(path: Path, *turns: tuple[list[tuple[float, float]], list[str]]) -> Memory:
    """A life that goes to the spots of each turn, after looking at the episodes of that turn."""
    memory = Memory.create(path)
    life = memory.live(world="w")
    here = (0.0, 0.0)
    for number, (spots, inspected) in enumerate(turns, 1):
        first, done = life.step, []
        for spot in spots:
            with life.episode("go_to", {"x": spot[0], "z": spot[1]}, state=state(here)) as episode:
                episode.step("go", state=state(spot))
                done.append(episode.finish().id)
                here = spot
        row: Json = {
            "turn": number, "first_step": first, "last_step": life.step, "episodes": done, "milestones": [],
            "entries": [["go_to", 1]] * len(spots), "inspected": inspected,
        }  # fmt: skip
        path_of_turns = memory.layout.turns(1)
        journal.append(path_of_turns, memory.layout.lock_of(path_of_turns), [row])
    journal.append(path_of_turns, memory.layout.lock_of(path_of_turns), [{"kind": "consolidation", "turn": 9}])
    life.end()
    return memory


def state(spot: tuple[float, float]) -> Json:
    return {"pos": [spot[0], 0.0, spot[1]]}


def test_turns_are_counted_by_looks_and_retargets(tmp_path: Path) -> None:
    memory = lived(
        tmp_path / "m",
        ([(0, 0), (100, 0)], []),  # retarget, no look; episodes 0 and 1, which start at (0, 0)
        ([(100, 0)], []),  # neither: the plan before named it; episode 2 starts at (100, 0)
        ([(103, 4)], ["ep_000002#2"]),  # looked, and goes near what it saw
        ([(50, 50)], ["ep_000000", "ep_000002"]),  # looked, and goes elsewhere
        ([(50, 50)], ["ep_000004"]),  # looked, and goes on
    )
    told = inspection_counts(memory)
    assert told["table"] == [[2, 1], [1, 1]]
    assert told["recalls"] == 1
    assert told["lags"] == [0, 0, 1, 3]
    assert told["earlier"] == 0
    # of three stored episodes one starts near (103, 4); of four none is near (50, 50)
    assert abs(told["chance"] - (1 / 3) / 2) < 1e-9


def test_what_a_plan_names_counts_also_where_it_was_dropped(tmp_path: Path) -> None:
    memory = lived(tmp_path / "m", ([(1.0, 1.0)], []), ([(1.0, 1.0)], ["ep_000000"]))
    path = memory.layout.turns(1)
    last = memory.find().rows[-1]
    for dropped, looked in (((50.0, 3.0), ["ep_000000"]), ((2.0, 3.0), [last.id])):
        row = {
            "turn": 7, "first_step": 2, "last_step": 2, "episodes": [], "milestones": [], "inspected": looked,
            "entries": [["wait", 1], ["go_to", 1, {"x": dropped[0], "z": dropped[1]}]],
        }  # fmt: skip
        journal.append(path, memory.layout.lock_of(path), [row])
    counts = inspection_counts(memory)
    assert counts["table"] == [[2, 1], [1, 0]]
    assert counts["recalls"] == 1  # (2, 3) lies near the last episode, (50, 3) near none


def test_nothing_is_counted_of_nothing(tmp_path: Path) -> None:
    told = inspection_counts(Memory.create(tmp_path / "m"))
    assert told == {"table": [[0, 0], [0, 0]], "recalls": 0, "chance": None, "lags": [], "earlier": 0}


def test_the_report_tests_what_was_counted() -> None:
    counts: Json = {"table": [[8, 2], [3, 17]], "recalls": 6, "chance": 0.2, "lags": [5, 7, 100], "earlier": 1}
    trial: Any = {"environment": "e", "task": {"name": "t", "text": "T", "steps": 9, "arguments": {}}}
    result: Json = {
        "trial": {**trial, "model": "m:n", "method": "mfm", "seed": 1},
        "model": {"name": "n", "is_scripted": False},
        "known_milestones": [], "reached": [], "deaths": [], "steps": 9, "turns": 30, "episodes": 9, "cpu_seconds": 1.0,
        "use": {"turns": 30, "requests": 60, "input_tokens": 10, "output_tokens": 5, "images": 30, "seconds": 3,
                "steps_per_turn": 0.3, "inspected": 12, "cost": None},
        "storage": {"bytes": 10, "parts": {}}, "scores": {}, "inspection": counts,
    }  # fmt: skip
    text = report([result], "T")
    assert "| mfm | 8 of 10 | 3 of 20 | 0.00097 | 6 of 8 | 0.20 | 0.0012 | 7 | 1 |" in text
    assert "| requests per turn | 2 |" in text
    assert "## t, m:n" in text
