"""A cycle: what its folder tells, what is kept and what rolled back, and a kill at any point of it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scrubjay.errors import Damaged, InvalidInput, Locked, TrainingFailed
from scrubjay.memory.layout import Layout
from scrubjay.parametric.adapters import Adapters, digest_of_weights
from scrubjay.parametric.cycle import Material, Settings, agrees, hold_out, run_cycle
from scrubjay.parametric.examples import Example, Preference, Prompt
from scrubjay.parametric.generated import Parsed
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.training import Recipe
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
