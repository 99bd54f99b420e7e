"""A cycle: what its folder tells, what is kept and what rolled back, and a kill at any point of it."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from practice import Practice, state
from scrubjay import Memory
from scrubjay.errors import Damaged, InvalidInput, Locked, StorageFull, TrainingFailed
from scrubjay.memory.layout import Layout
from scrubjay.parametric.adapters import WEIGHTS, Adapters, digest_of_weights
from scrubjay.parametric.categories import load_categories
from scrubjay.parametric.cycle import Material, Settings, agrees, hold_out, run_cycle
from scrubjay.parametric.examples import Example, Preference, Prompt
from scrubjay.parametric.generated import Parsed
from scrubjay.parametric.scoring import Due
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.skills import skills_of
from scrubjay.parametric.training import Recipe
from scrubjay.parametric.trigger import Fired
from scrubjay.parametric.updating import update
from scrubjay.parametric.worthiness import Scored, Terms
from small_models import reader
from test_parametric_update import BAD, GOOD, PAIR, PROMPT, RECIPE, SHAPE, SUCCESS


def material(**changes: Any) -> Material:
    return Material(**{"successes": [SUCCESS], "pairs": [PAIR], "held_out": [SUCCESS], **changes})


def always(answer: bool) -> Any:
    def check(example: Example, parsed: Parsed) -> bool:
        return answer

    return check


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "m").mkdir()
    return Shelf(Layout(tmp_path / "m"))


def in_place(shelf: Shelf) -> str:
    current = shelf.current("craft")
    assert current is not None
    return digest_of_weights(current.adapter)


def test_a_cycle_is_a_folder_that_tells_all_of_it(shelf: Shelf) -> None:
    owner = Adapters(reader(), SHAPE)
    outcome = run_cycle(shelf, owner, "craft", material(skills={"make-pickaxe": "d"}), Settings(RECIPE), always(True))
    assert (outcome.kept, outcome.before, outcome.after, outcome.n) == (True, 1, 1, 1)
    folder = outcome.folder
    assert sorted(os.listdir(folder.path)) == [
        "adapter", "configuration.json", "data.jsonl", "losses.jsonl", "result.json",
    ]  # fmt: skip
    assert folder.rows("data") == [
        {"kind": "success", "task": "Task: make a pickaxe", "succeeded": ["ep_000002"]},
        {"kind": "held out", "task": "Task: make a pickaxe", "succeeded": ["ep_000002"]},
        {"kind": "pair", "task": "Task: make a pickaxe", "failed": ["ep_000001"], "corrected": ["ep_000002"]},
    ]
    said, result = folder.read("configuration"), folder.read("result")
    assert said is not None
    assert (said["base"], said["from_cycle"], said["skills"]) == ("small", None, {"make-pickaxe": "d"})
    assert result is not None
    assert result["weights_sha256"] == in_place(shelf)
    assert result["margin"] == outcome.trained.margin
    assert [row["step"] for row in folder.rows("losses")] == [1, 2, 3, 4]


def test_the_next_cycle_goes_on_from_the_adapter_in_place(shelf: Shelf) -> None:
    first = run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(True))
    second = run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(True))
    assert second.trained.losses[0].cloning == pytest.approx(train_loss_after(first.folder.adapter), abs=1e-4)
    assert second.trained.losses[0].preferring == pytest.approx(math.log(2), abs=1e-5)
    assert (second.folder.read("configuration") or {})["from_cycle"] == 1
    assert shelf.all()["craft"].number == 2


def train_loss_after(folder: str) -> float:
    owner = Adapters(reader(), SHAPE)
    owner.load("craft", folder)
    with owner.use("craft"):
        sums, tokens = owner.backbone.log_probabilities([PROMPT], [GOOD])
    return -float(sums / tokens)


def test_an_update_that_the_verifier_likes_less_is_rolled_back(shelf: Shelf, tmp_path: Path) -> None:
    owner = Adapters(reader(), SHAPE)
    run_cycle(shelf, owner, "craft", material(), Settings(RECIPE), always(True))
    before = in_place(shelf)
    answers = iter([True, False])
    outcome = run_cycle(shelf, owner, "craft", material(), Settings(RECIPE), lambda example, parsed: next(answers))
    assert (outcome.kept, outcome.before, outcome.after) == (False, 1, 0)
    assert in_place(shelf) == before
    assert (outcome.folder.read("result") or {})["kept"] is False
    owner.save("craft", str(tmp_path / "now"))
    assert digest_of_weights(str(tmp_path / "now")) == before  # what is loaded is the old one too


def test_a_loss_that_is_no_number_leaves_the_old_adapter(shelf: Shelf) -> None:
    owner = Adapters(reader(), SHAPE)
    run_cycle(shelf, owner, "craft", material(), Settings(RECIPE), always(True))
    before = in_place(shelf)
    with pytest.raises(TrainingFailed, match=r"nan|inf"):
        run_cycle(shelf, owner, "craft", material(), Settings(Recipe(steps=30, rate=1e30, batch=2)), always(True))
    assert in_place(shelf) == before
    *_, failed = shelf.cycles("craft")
    assert "TrainingFailed" in (failed.read("result") or {})["error"]
    run_cycle(shelf, owner, "craft", material(), Settings(RECIPE), always(True))  # what is loaded was put back


def test_no_success_is_said_before_anything_is_made(shelf: Shelf) -> None:
    with pytest.raises(TrainingFailed, match="no verified success"):
        run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(successes=[]))
    assert list(shelf.cycles()) == []


def test_a_cycle_on_another_base_leaves_the_old_adapter(shelf: Shelf) -> None:
    run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(True))
    before = in_place(shelf)
    with pytest.raises(InvalidInput, match="another base"):
        run_cycle(shelf, Adapters(reader(seed=1), SHAPE), "craft", material(), Settings(RECIPE), always(True))
    assert in_place(shelf) == before
    *_, failed = shelf.cycles("craft")
    assert "another base" in (failed.read("result") or {})["error"]


def test_one_cycle_of_a_category_at_a_time(shelf: Shelf) -> None:
    with shelf.cycle("craft"), shelf.cycle("gather"), pytest.raises(Locked, match="another cycle of craft"):
        run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material())


@pytest.mark.parametrize("at", ["training", "verifying", "saving"])
def test_a_kill_in_mid_cycle_leaves_the_old_adapter(at: str, shelf: Shelf, tmp_path: Path) -> None:
    run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(True))
    before = in_place(shelf)
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "import os, signal\n"
        "from test_parametric_cycle import *\n"
        "def die(*a, **k): os.kill(os.getpid(), signal.SIGKILL)\n"
        "class Dying(Shelf):\n"
        "    def put_in_place(self, folder): die()\n"
        "asked = []\n"
        "def check(example, parsed):\n"
        "    asked.append(1)\n"
        "    if sys.argv[3] == 'training' or (sys.argv[3] == 'verifying' and len(asked) == 2): die()\n"
        "    return True\n"
        "shelf, owner = Dying(Layout(sys.argv[1])), Adapters(reader(), SHAPE)\n"
        "run_cycle(shelf, owner, 'craft', material(), Settings(RECIPE), check)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m"), str(Path(__file__).parent), at]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    assert in_place(shelf) == before
    *_, killed = shelf.cycles("craft")
    assert killed.is_finished == (at == "saving")
    assert run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(True)).kept


def test_a_kill_at_any_write_leaves_the_old_adapter(shelf: Shelf, tmp_path: Path) -> None:
    """A process that dies at its n-th file, for every n, until one comes through."""
    run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(skills={"one": "d"}), Settings(RECIPE), always(True))
    before, code = in_place(shelf), (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "import os, signal\n"
        "from test_parametric_cycle import *\n"
        "quick = Settings(Recipe(steps=1, rate=1e-2), 24)\n"
        "short = Example(PROMPT, 'def f():\\n    a()', ('ep_000002',))\n"
        "learned = Material([short], [], [short], {'two': 'd'})\n"
        "root, shelf = sys.argv[1], Shelf(Layout(sys.argv[1]))\n"
        "owner, seen, at, is_child = Adapters(reader(), SHAPE), [], 0, False\n"
        "def hook(event, arguments):\n"
        "    is_write = event in ('os.mkdir', 'os.rename') or event == 'open' and arguments[2] & 3\n"
        "    if is_child and is_write and any(str(one).startswith(root) for one in arguments):\n"
        "        seen.append(event)\n"
        "        if len(seen) == at: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(hook)\n"
        "while True:\n"
        "    at += 1\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        is_child = True\n"
        "        run_cycle(shelf, owner, 'craft', learned, quick, always(True))\n"
        "        os._exit(0)\n"
        "    if os.waitpid(child, 0)[1] == 0: break\n"
        "    current = shelf.current('craft')\n"
        "    known = {name for one in shelf.lineage() for name in one.read('configuration')['skills']}\n"
        "    print(current.number, digest_of_weights(current.adapter), *sorted(known), flush=True)\n"
    )  # fmt: skip
    command = [sys.executable, "-c", code, str(tmp_path / "m"), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    states = done.stdout.splitlines()
    assert len(states) > 15
    assert set(states) == {f"1 {before} one"}  # also where the result said that it was kept
    assert in_place(shelf) != before
    assert run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(True)).kept


@pytest.mark.parametrize("room", [0, 300, 900, 20_000])
def test_a_full_disk_leaves_the_old_adapter_on_it_and_in_memory(room: int, shelf: Shelf, tmp_path: Path) -> None:
    owner = Adapters(reader(), SHAPE)
    run_cycle(shelf, owner, "craft", material(), Settings(RECIPE), always(True))
    before, limits = in_place(shelf), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(StorageFull, match="free some"):
            run_cycle(shelf, owner, "craft", material(), Settings(RECIPE), always(True))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert in_place(shelf) == before
    owner.save("craft", str(tmp_path / "now"))
    assert digest_of_weights(str(tmp_path / "now")) == before


def test_what_the_fast_policy_can_not_write_whole_is_not_learned(shelf: Shelf) -> None:
    owner = Adapters(reader(), SHAPE)
    long = Example(Prompt("Task: make a house"), "def f():\n" + "    place('stone')\n" * 20, ("ep_000009",))
    both = material(successes=[SUCCESS, long], held_out=[long])
    outcome = run_cycle(shelf, owner, "craft", both, Settings(RECIPE), always(True))
    rows = outcome.folder.rows("data")
    assert [row["kind"] for row in rows] == ["success", "held out", "pair", "too long"]
    assert rows[1]["succeeded"] == ["ep_000002"]
    assert rows[3]["succeeded"] == ["ep_000009"]
    with pytest.raises(TrainingFailed, match="each of 1 successes is longer than 160 tokens"):
        run_cycle(shelf, owner, "craft", material(successes=[long], held_out=[long]), Settings(RECIPE), always(True))
    *_, failed = shelf.cycles("craft")
    assert "TrainingFailed" in (failed.read("result") or {})["error"]


def test_at_most_32_contexts_are_held_out_and_their_code_is_in_no_pair() -> None:
    successes = [Example(Prompt(f"Task: {i}"), GOOD, (f"ep_{i:06d}",)) for i in range(1000)]
    pairs = [Preference(Prompt(f"Failed: {i}"), GOOD, BAD, (f"ep_{i:06d}",), ("ep_999999",)) for i in range(1000)]
    learned, kept, held = hold_out(successes, pairs)
    assert (len(learned), len(kept), len(held)) == (968, 968, 32)
    assert not {one.episodes for one in held} & {one.chosen_episodes for one in kept}


def test_an_adapter_that_can_not_be_read_costs_its_own_category_alone(memory: Memory) -> None:
    owner = Adapters(reader(), SHAPE)
    with memory.live("Make things.", "w") as life:
        practice = Practice(memory, life)
        for category, name, task in (("craft", "make-it", "make a pickaxe"), ("gather", "get-it", "collect pickaxe")):
            practice.write(name, f"def {name.replace('-', '_')}():\n    go()\n", category)
            practice.call(name, task, state({}), state({"pickaxe": 1}))
    skills = {one.category: one for one in skills_of(memory, load_categories(memory.layout))}
    due = [
        Due(Scored(skills[category], Terms(1, 1, 0, 0), 1.0), True, Fired(1, "it fails"))
        for category in ("craft", "gather")
    ]
    assert [one.outcome is not None for one in update(memory, due, Settings(RECIPE), always(True), owner)] == [
        True,
        True,
    ]
    weights = Path(memory.layout.adapters) / "craft" / "0001" / "adapter" / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:100])
    craft, gather = update(memory, due, Settings(RECIPE), always(True), owner)
    assert craft.outcome is None
    assert WEIGHTS in craft.why
    assert gather.outcome is not None
    with Shelf(memory.layout).cycle("gather"):
        assert "another cycle of gather" in list(update(memory, due, Settings(RECIPE), always(True), owner))[1].why


def test_an_adapter_that_does_no_held_out_task_is_not_put_in_place(shelf: Shelf) -> None:
    outcome = run_cycle(shelf, Adapters(reader(), SHAPE), "craft", material(), Settings(RECIPE), always(False))
    assert (outcome.kept, outcome.before, outcome.after, outcome.n) == (False, 0, 0, 1)
    assert shelf.current("craft") is None


def test_a_quarter_of_the_contexts_is_held_out_with_its_pairs() -> None:
    successes = [Example(Prompt(f"Task: {i // 2}"), GOOD) for i in range(16)]
    pairs = [Preference(Prompt(f"Task: {i}"), GOOD, BAD) for i in range(8)]
    learned, kept, held = hold_out(successes, pairs)
    assert {one.prompt.text for one in held} == {"Task: 3", "Task: 7"}
    assert len(learned) == 12
    left = {one.prompt.text for one in learned} | {one.prompt.text for one in kept}
    assert not {one.prompt.text for one in held} & left
    assert hold_out(successes[:2], []) == (successes[:2], [], [successes[1]])


def test_the_same_program_under_another_name_agrees() -> None:
    assert agrees(SUCCESS, Parsed(GOOD.replace("def f", "def make_pickaxe"), "make_pickaxe"))
    assert not agrees(SUCCESS, Parsed(BAD, "f"))
    assert not agrees(SUCCESS, Parsed(GOOD, failure="max_new_tokens"))
    assert not agrees(Example(PROMPT, "\0"), Parsed(GOOD, "f"))
    deep = f"def f():\n    return {'1 + ' * 1500}1"  # Python reads it, and can't write down what it read
    assert agrees(Example(PROMPT, deep), Parsed(deep, "f"))
    assert not agrees(Example(PROMPT, deep), Parsed(GOOD, "f"))


def test_a_damaged_file_of_what_is_in_place_is_named(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "m" / "adapters" / "craft"
    folder.mkdir(parents=True)
    for text in ("[", '{"cycle": "1"}', "3"):
        (folder / "current.json").write_text(text)
        with pytest.raises(Damaged, match=r"current\.json"):
            shelf.current("craft")
    with pytest.raises(InvalidInput):
        shelf.current("../x")
    (folder / "current.json").write_text(json.dumps({"cycle": 1}))
    assert shelf.base is None
