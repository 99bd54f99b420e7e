"""A coding agent lives: it is started for every turn, reads, looks, writes, and hands in a plan as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from agents import agent
from corridor import Corridor
from scrubjay import Memory, Query
from scrubjay.agent.driver import Driver, Patience
from scrubjay.agent.loop import Run
from scrubjay.errors import InvalidInput, ModelUnavailable
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.memory.jsonio import Json
from scrubjay.surfaces.cli import COMMANDS, main


def lived(folder: Path, body: str, steps: int = 2, **patience: Any) -> tuple[Memory, list[Json], list[str]]:
    """A life of an agent with this program; the memory, its turns, and what was told."""
    memory, told = Memory.create(folder / "m"), list[str]()
    patient = Patience(**{"seconds": 20.0, **patience})
    with Driver(agent(folder, body), memory, patience=patient, tell=told.append) as driver:
        Run(Corridor(), driver, memory, task="walk to the right", steps=steps).run()
    memory.close()
    return memory, list(journal.rows(memory.layout.turns(1))), told


WELL_BEHAVED = """
from PIL import Image
assert os.environ["SCRUBJAY_LIFE"] == "1"
assert sys.stdin.read() == ""
folder = pathlib.Path("lives/0001/turn")
assert Image.open(folder / "frame.png").size == (6, 4)
assert f"turn {turn}" in (folder / "observation.md").read_text()
rows = [json.loads(line) for line in scrubjay("episodes", ".", "--last", "1", "--json").splitlines()]
scrubjay("look", ".", rows[-1]["id"], "--out", "mine/look.png", "--q", "where am I?")
assert Image.open("mine/look.png").size[0] >= 6
scrubjay("memory", ".", "append", "notes.md", f"Turn {turn} went right [{rows[-1]['id']}].")
pathlib.Path("mine/GUIDE.md").write_text("Go right (hypothesis).")
act(right, intention="on to the milestone")
print(json.dumps({"type": "result", "num_turns": 4, "total_cost_usd": 0.25,
                  "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7}}))
"""


def test_an_agent_that_behaves_queries_looks_notes_and_walks(tmp_path: Path) -> None:
    memory, turns, told = lived(tmp_path, WELL_BEHAVED)
    assert told == []
    assert memory.documents.read("notes.md").split("\n")[:2] == [
        "Turn 1 went right [ep_000000].",
        "Turn 2 went right [ep_000001].",
    ]
    assert memory.documents.read("GUIDE.md") == "Go right (hypothesis)."
    assert [row.action_kind for row in memory.find(Query(life=1)).rows] == [None, "right", "right"]
    assert [turn["intention"] for turn in turns] == ["on to the milestone"] * 2
    assert {key: turns[0][key] for key in ("requests", "input_tokens", "output_tokens", "cost", "refusals")} == {
        "requests": 4, "input_tokens": 100, "output_tokens": 7, "cost": 0.25, "refusals": 0,
    }  # fmt: skip
    assert "events" not in turns[0]
    assert len(memory.questions()) == 2
    assert [turn["inspected"] for turn in turns] == [["ep_000000"], ["ep_000001"]]
    assert memory.lives()[0].model == f"driver:{Path(sys.executable).name}"
    assert check(memory.layout).is_sound


def test_the_plan_does_not_stay_and_the_turn_is_no_document(tmp_path: Path) -> None:
    memory, _, _ = lived(tmp_path, "act(right)")
    assert memory.documents.list() == []
    assert memory.documents.history() == []
    assert sorted(path.name for path in (tmp_path / "m/lives/0001/turn").iterdir()) == [
        "frame.png", "observation.md", "prompt.md", "stderr-1.txt", "stdout-1.txt",
    ]  # fmt: skip


def test_a_wrong_plan_is_told_in_a_second_start(tmp_path: Path) -> None:
    body = """
if "neither an action" in prompt:
    act(right)
else:
    act([{"action": "fly"}])
"""
    _, turns, _ = lived(tmp_path, body)
    assert [turn["entries"] for turn in turns] == [[["right", 1]]] * 2
    assert (turns[0]["refusals"], turns[0]["requests"]) == (1, 2)
    assert "'fly' is neither an action" in turns[0]["events"][0]


GARBAGE = {
    "nothing": "",
    "bytes": "pathlib.Path('mine/actions.json').write_bytes(os.urandom(4000))",
    "no object": "pathlib.Path('mine/actions.json').write_text('[1]')",
    "deep": "pathlib.Path('mine/actions.json').write_text('[' * 100000)",
    "large": "pathlib.Path('mine/actions.json').write_text(json.dumps({'plan': ['x' * 3_000_000]}))",
    "empty plan": "act([])",
    "too many steps": "act([{'action': 'right', 'repeat': 401}])",
    "another turn's": "turn -= 1; act(right)",
    "a folder": "os.makedirs('mine/actions.json/x')",
    "a pipe": "os.mkfifo('mine/actions.json')",
    "a link": "pathlib.Path('mine/a').write_text(json.dumps({'plan': right})); os.symlink('a', 'mine/actions.json')",
    "a device": "os.symlink('/dev/zero', 'mine/actions.json')",
    "crash": "raise SystemExit(0) if act([{'action': 7}]) else None",
}


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_costs_the_turn_and_nothing_else(tmp_path: Path, body: str) -> None:
    memory, turns, _ = lived(tmp_path, body, steps=1, starts=1)
    assert [(turn["entries"], turn["intention"]) for turn in turns] == [
        ([["left", 1]], "the agent handed in no plan"),
    ]
    assert turns[0]["events"][0].startswith("no plan: ")
    assert turns[0]["refusals"] == 1
    assert check(memory.layout).is_sound


def test_an_old_plan_is_no_new_one(tmp_path: Path) -> None:
    body = """
if turn == 1:
    act(right); shutil.copy2("mine/actions.json", "mine/old.json")
else:
    shutil.copy2("mine/old.json", "mine/actions.json")
"""
    _, turns, _ = lived(tmp_path, body, starts=1)
    assert [turn["entries"] for turn in turns] == [[["right", 1]], [["left", 1]]]
    assert "the plan is for turn 1" in turns[1]["events"][0]


def test_a_third_identical_plan_without_effect_is_refused(tmp_path: Path) -> None:
    _, turns, _ = lived(tmp_path, "act([{'action': 'wait'}])", steps=3, starts=1)
    assert turns[2]["refusals"] == 1
    assert "changed nothing" in turns[2]["events"][0]


def test_output_is_kept_within_bounds(tmp_path: Path) -> None:
    body = """
for _ in range(50):
    sys.stdout.write("x" * 1_000_000)
print("the end"); act(right)
"""
    _, turns, _ = lived(tmp_path, body, steps=1)
    assert turns[0]["entries"] == [["right", 1]]
    kept = (tmp_path / "m/lives/0001/turn/stdout-1.txt").read_text()
    assert len(kept) < 400_000
    assert kept.startswith("xxx")
    assert kept.endswith("the end\n")
    assert "bytes left out]" in kept


def test_a_command_that_cannot_work_stops_the_run_before_it_spends_the_steps(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="status 3 and without a plan in 3 turns"):
        lived(tmp_path, "raise SystemExit(3)", steps=50, starts=1)
    with Memory.open(tmp_path / "m") as memory:
        assert memory.lives()[0].ended
        assert len(memory.find(Query(life=1)).rows) == 3


def test_a_command_that_is_not_there_is_said_before_a_life_begins(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    for command in ("no-such-agent -p", ""):
        with pytest.raises(InvalidInput, match="not a command"):
            Driver(command, memory)


def test_what_is_told_names_only_commands_and_options_that_are_there(tmp_path: Path) -> None:
    lived(tmp_path, "act(right)", steps=1)
    told = (tmp_path / "m/lives/0001/turn/prompt.md").read_text()
    commands = [line.split() for line in told.splitlines() if line.strip().startswith("scrubjay ")]
    assert len(commands) >= 8
    assert {words[1] for words in commands} <= COMMANDS.keys()
    for words in commands:
        if words[1] == "episodes" and "--sheet" not in words:
            values = [{"X": "1", "Z": "1", ".": str(tmp_path / "m")}.get(word, word) for word in words[1:]]
            assert main(values) == 0
    assert "walk to the right" in told
    assert len(told.encode()) < 12 * 1024


def test_the_command_line_takes_a_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "corridor:Corridor", "--memory", "m", "--steps", "3", "--driver"]
    command = agent(tmp_path, "act(right)\nif turn == 2: os.unlink('index.jsonl')")
    assert main([*words, command]) == 0
    out, err = capfd.readouterr()
    assert "driver:" in out
    assert "3 steps, 3 turns, 4 episodes" in out
    assert err == "restored index.jsonl: it was removed\n"
    assert main([*words, command, "--method", "direct"]) == 1
    assert main([*words, "no-such-command"]) == 1


def test_text_with_any_character_reaches_the_agent(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    seen = "pathlib.Path('mine/prompt.txt').write_text(prompt); act(right)"
    with Driver(agent(tmp_path, seen), memory) as driver:
        Run(Corridor(), driver, memory, task="a\0b\ud800 – 木\n'\"$(touch x)", steps=1).run()
    assert "– 木\n'\"$(touch x)" in memory.documents.read("prompt.txt")
    memory.close()


def test_what_is_too_long_for_an_argument_is_read_from_a_file(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    body = """
words = prompt.split()
told = next(word for word in words if word.endswith("prompt.md"))
text = pathlib.Path(told).read_text()
assert "walk on" in text and '"turn": 1' in text
pathlib.Path("mine/actions.json").write_text(json.dumps({"plan": right}))
"""
    with Driver(agent(tmp_path, body), memory) as driver:
        done = Run(Corridor(), driver, memory, task="walk on, " * 20_000, steps=1).run()
    (turn,) = journal.rows(memory.layout.turns(1))
    memory.close()
    assert done.step == 1
    assert turn["entries"] == [["right", 1]]


@pytest.mark.parametrize(
    ("out", "tokens"),
    [
        (b'{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":3,"output_tokens":2}}', (5, 2, 1)),
        (b'noise {"usage"\n{"usage": [1]}\n', (0, 0, 1)),
        (b'{"num_turns": true,\n"usage": {"input_tokens": -4, "output_tokens": "9"}}', (0, 0, 1)),
    ],
)
def test_usage_is_what_the_command_says(out: bytes, tokens: tuple[int, int, int]) -> None:
    from scrubjay.agent.reported_usage import usage_of

    usage = usage_of(out)
    assert (usage.input_tokens, usage.output_tokens, usage.requests) == tokens
