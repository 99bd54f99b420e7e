"""`scrubjay adapters`: from a memory's episodes to an adapter in place, by commands."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from practice import FAILS, WORKS, Practice, state
from scrubjay import Memory
from scrubjay.errors import ReadOnly
from scrubjay.parametric.adapters import Adapters
from scrubjay.parametric.bases import load_base
from scrubjay.parametric.contexts import prompt_of
from scrubjay.parametric.cycle import Settings
from scrubjay.parametric.policy import LocalPolicy, policy_of
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.training import Recipe
from scrubjay.parametric.updating import cycle_of
from scrubjay.surfaces.cli import main
from small_models import reader

LEARNS = ["--steps", "120", "--rate", "0.01", "--batch", "2"]  # some three seconds
SWORD = "def make_sword():\n    make('sword')\n"


@pytest.fixture
def practised(tmp_path: Path) -> str:
    """A memory with a corrected failure, a success of another kind, a walk, and a folder with a small base."""
    with Memory.create(tmp_path / "m") as memory, memory.live("Make things.", "w") as life:
        practice = Practice(memory, life)
        practice.write("make-pickaxe", FAILS, "craft")
        practice.call("make-pickaxe", "make a pickaxe", state({"wood": 3}), state({"wood": 3}), "failure")
        practice.write("make-pickaxe", WORKS)
        practice.call("make-pickaxe", "make a pickaxe", state({"wood": 3}), state({"pickaxe": 1}))
        practice.write("make-sword", SWORD, "craft")
        practice.call("make-sword", "make a sword", state({"wood": 3}), state({"sword": 1}))
        practice.write("go-home", "def go_home():\n    go_to(1, 2)\n")
        practice.call("go-home", "go home", state({}), {**state({}), "pos": [1, 0, 2]})
    base = reader()
    base.model.save_pretrained(tmp_path / "base")
    base.tokenizer.save_pretrained(tmp_path / "base")
    return str(tmp_path / "m")


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_stage_counts_what_there_is_and_what_yields_no_pair(practised: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adapters", "stage", practised]) == 0
    assert said(capsys) == [
        "craft: 2 verified successes, 1 pairs",
        "other: 0 verified successes, 0 pairs",
        "    1 gave no pair: of no category",
    ]
    assert main(["adapters", "stage", practised, "--json"]) == 0
    rows = [json.loads(line) for line in said(capsys)]
    assert [row["kind"] for row in rows] == ["success", "success", "pair", "count", "count"]
    assert (rows[2]["failed"], rows[2]["corrected"]) == (["ep_000000"], ["ep_000001"])


def test_score_and_weights_print_what_they_rest_on(practised: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adapters", "score", practised]) == 0
    lines = said(capsys)
    assert len(lines) == 3
    assert all(word in lines[0] for word in ("cost", "stable", "redundant", "forgetting"))
    assert main(["adapters", "weights", practised, "--size", "1"]) == 0
    assert len(said(capsys)) == 11
    assert main(["adapters", "weights", practised, "--size", "3"]) == 1
    assert main(["adapters", "score", practised, "--q", "0"]) == 1


def test_update_trains_what_is_due_and_nothing_else(practised: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adapters", "base", practised, str(Path(practised).parent / "base")]) == 0
    update = ["adapters", "update", practised, *LEARNS]
    said(capsys)
    assert main(update) == 0
    assert "no skill is due" in capsys.readouterr().err
    with Memory.open(practised) as memory, memory.live("Make things.", "w") as life:
        practice = Practice(memory, life)
        for carried in (*({"sword": 1},) * 10, *({},) * 9):  # it says that it succeeded, and at last makes nothing
            practice.call("make-sword", "make a sword", state({"wood": 3}), state(carried))
    assert main(["adapters", "score", practised, "--trigger", "sequential"]) == 0
    assert [line for line in said(capsys) if "due" in line]
    assert main(update) == 0
    due, trained = said(capsys)
    assert due == "make-sword is due: 9 of 10 failed, 0 of 10 before: z 4.05"
    assert trained.startswith("craft: the adapter of cycle 1 is in place, verified 0 -> ")
    assert main([*update, "--json"]) == 0  # it was not called since
    assert said(capsys) == []
    with Memory.open(practised) as memory, memory.live("Make things.", "w") as life:
        Practice(memory, life).call("make-sword", "make a sword", state({"wood": 3}), state({}))
    assert main([*update, "--json"]) == 0
    assert json.loads(said(capsys)[-1])["path"] == "adapters/craft/0002"


def test_a_cycle_by_command_puts_an_adapter_in_place(practised: str, capsys: pytest.CaptureFixture[str]) -> None:
    cycle = ["adapters", "cycle", practised, "craft", *LEARNS]
    assert main(cycle) == 1
    assert "no base model was chosen" in capsys.readouterr().err
    assert main(["adapters", "base", practised, str(Path(practised).parent / "base")]) == 0
    assert main(["adapters", "cycle", practised, "combat"]) == 1
    assert "no verified success" in capsys.readouterr().err
    assert main(["adapters", "cycle", practised, "sing"]) == 1
    assert "there are craft, gather, combat" in capsys.readouterr().err
    assert main(cycle) == 0
    assert main([*cycle, "--json"]) == 0
    second = json.loads(said(capsys)[-1])
    assert (second["cycle"], second["kept"], second["path"]) == (2, True, "adapters/craft/0002")
    assert main(["adapters", "list", practised]) == 0
    first, second = said(capsys)
    assert first.startswith("craft 1: replaced, verified 0 -> 2 of 2")
    assert second.startswith("craft 2: in place")
    with Memory.open(practised, read_only=True) as memory:
        policy = policy_of(memory)
        assert policy is not None
        assert policy.categories == ("craft",)
        shelf = Shelf(memory.layout)
        local = LocalPolicy(shelf, Adapters(load_base(shelf.base or "")), max_new_tokens=5)
        prompt = prompt_of("make a sword", {})
        assert policy.generate("craft", prompt).text.startswith(local.generate("craft", prompt).text)
        assert not policy.sees
    assert main(["adapters", "score", practised, "--json"]) == 0
    known = {row["name"]: row for row in map(json.loads, said(capsys))}
    assert {name: row["forgetting"] for name, row in known.items()} == {
        "go-home": 0.0, "make-pickaxe": 1.0, "make-sword": 1.0,
    }  # fmt: skip


def test_a_cycle_that_failed_and_one_that_was_killed_are_listed(
    practised: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.open(practised) as memory:
        shelf = Shelf(memory.layout)
        with shelf.cycle("craft") as folder:
            folder.write("result", {"kept": False, "error": "TrainingFailed: the loss of step 1 is nan"})
        with shelf.cycle("craft"):
            pass
        with shelf.cycle("craft") as folder:
            folder.write("result", {"kept": False})
    assert main(["adapters", "list", practised]) == 0
    assert said(capsys) == [
        "craft 1: failed: TrainingFailed: the loss of step 1 is nan",
        "craft 2: unfinished: it runs, or was killed",
        "craft 3: rolled back",
    ]
    assert main(["adapters", "list", practised, "--json"]) == 0


def test_a_broken_file_of_one_category_is_named_and_the_others_are_listed(
    practised: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.open(practised) as memory:
        shelf = Shelf(memory.layout)
        for category in ("combat", "craft", "gather"):
            with shelf.cycle(category) as folder:
                folder.write("result", {"kept": True})
                shelf.put_in_place(folder)
    adapters = Path(practised) / "adapters"
    (adapters / "combat" / "current.json").write_text("[")
    (adapters / "craft" / "0001" / "result.json").write_text("7")
    assert main(["adapters", "list", practised]) == 1
    told = capsys.readouterr()
    assert told.out.splitlines() == ["gather 1: in place"]
    assert [line.partition(":")[0] for line in told.err.splitlines()] == ["combat", "craft"]
    assert "current.json" in told.err
    assert "result.json" in told.err


def test_a_memory_that_is_open_read_only_is_not_trained(practised: str) -> None:
    assert main(["adapters", "base", practised, str(Path(practised).parent / "base")]) == 0
    with Memory.open(practised, read_only=True) as memory, pytest.raises(ReadOnly, match="to train its adapters"):
        cycle_of(memory, "craft")


def test_a_server_trains_nothing(practised: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adapters", "base", practised, "http://127.0.0.1:1"]) == 0
    assert main(["adapters", "cycle", practised, "craft"]) == 1
    assert "serves adapters" in capsys.readouterr().err


def test_a_base_must_be_there_and_is_found_from_everywhere(
    practised: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(practised).parent)
    assert main(["adapters", "base", "m", "base"]) == 0
    whole = str(Path(practised).parent / "base")
    assert said(capsys) == [whole]
    for base, why in (
        ("smollm2", "'smollm2' is no base model: a folder with config.json, or smollm2-135m, was expected"),
        ("http://[::1", "no address of a server"),
        ("http://127.0.0.1:1?kind=other", "kind=vllm or kind=llama"),
    ):
        assert main(["adapters", "base", "m", base]) == 1
        assert why in capsys.readouterr().err
    assert main(["adapters", "base", "m", "--json"]) == 0
    assert json.loads(said(capsys)[0]) == {"base": whole}  # what was chosen stays


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("config.json", b"{", "no description of a model"),
        ("model.safetensors", b"\0" * 5000, "the base can't be loaded"),
        ("tokenizer.json", b"{", "the base can't be loaded"),
    ],
)
def test_a_base_with_a_broken_file_is_named(
    name: str, content: bytes, why: str, practised: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base = Path(practised).parent / "base"
    assert main(["adapters", "base", practised, str(base)]) == 0
    (base / name).write_bytes(content)
    assert main(["adapters", "cycle", practised, "craft"]) == 1
    told = capsys.readouterr().err
    assert why in told
    assert str(base) in told


def test_numbers_that_are_none_are_refused_before_anything_is_made(
    practised: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adapters", "base", practised, str(Path(practised).parent / "base")]) == 0
    for more in (["--steps", "0"], ["--batch", "0"], ["--rate", "nan"], ["--rate", "-1"]):
        assert main(["adapters", "cycle", practised, "craft", *more]) == 1
        assert "expected" in capsys.readouterr().err
    assert main(["adapters", "weights", practised, "--size", "0"]) == 1
    assert main(["adapters", "cycle", practised, "../craft"]) == 1
    assert main(["adapters", "list", practised]) == 0
    assert "(no adapter)" in capsys.readouterr().err


def test_ctrl_c_in_a_cycle_leaves_the_adapter_and_says_so(
    practised: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adapters", "base", practised, str(tmp_path / "base")]) == 0
    began = tmp_path / "m" / "adapters" / "craft" / "0001" / "configuration.json"
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # tests may run in the background, without it
        "from scrubjay.surfaces.cli import main\n"
        "sys.exit(main(['adapters', 'cycle', sys.argv[1], 'craft', '--steps', '1000000']))\n"
    )
    running = subprocess.Popen([sys.executable, "-c", code, practised], stderr=subprocess.PIPE, text=True)
    try:
        while not began.exists():
            assert running.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=60)[1]
    finally:
        running.kill()
    assert running.returncode == 130
    assert told.strip() == "scrubjay adapters: stopped"
    said(capsys)
    assert main(["adapters", "list", practised]) == 0
    assert said(capsys) == ["craft 1: failed: stopped"]


def test_an_agent_that_lives_takes_the_adapter_of_a_later_cycle_without_a_new_start(practised: str) -> None:
    assert main(["adapters", "base", practised, str(Path(practised).parent / "base")]) == 0
    asked = prompt_of("make a pickaxe", state({"wood": 3}))
    with Memory.open(practised, read_only=True) as memory:
        living = policy_of(memory)
        assert living is not None
        assert not living.categories
        texts = []
        for steps in (1, 12):
            with Memory.open(practised) as trained:
                assert cycle_of(trained, "craft", Settings(Recipe(steps=steps, rate=0.02)), lambda *_: True).kept
            assert list(living.categories) == ["craft"]
            texts.append(living.generate("craft", asked).text)
        fresh = policy_of(memory)
        assert fresh is not None
        assert texts[0] != texts[1] == fresh.generate("craft", asked).text
