"""What a user wrote beside where they stand is found by its dotted path, and what is wrong with it is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from corridor import Corridor
from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.environments.named import load, make_environment
from scrubjay.errors import InvalidInput
from scrubjay.methods.named import make_method
from scrubjay.models.named import make_model
from scrubjay.surfaces.cli import main

OWN = """
from scrubjay.models.contract import Entry, Plan
from corridor import Corridor

class Right:
    name = "right (rules)"

    def decide(self, turn):
        import beside  # only when it is asked
        return Plan((Entry("right", repeat=beside.STEPS),))
"""


def test_a_module_in_the_current_folder_is_found_by_the_installed_command(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "beside.py").write_text("STEPS = 2\n")
    (tmp_path / "corridor.py").write_text(Path(__file__).with_name("corridor.py").read_text())
    # -P is how the installed command runs: the current folder is not on the path.
    command = [sys.executable, "-P", "-m", "scrubjay", "run", "own:Corridor", "--model", "own:Right"]
    done = subprocess.run([*command, "--memory", "m", "--steps", "2"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 steps, 1 turn" in done.stdout


def test_a_module_that_is_nowhere_is_told_with_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    for choice, missing in (("nowhere_at_all:Env", "nowhere_at_all"), ("json.nowhere:Env", "json.nowhere")):
        with pytest.raises(InvalidInput, match=f"no module {missing}, neither installed nor in {tmp_path}"):
            make_environment(choice)
    (tmp_path / "needing.py").write_text("import nowhere_at_all\n")
    with pytest.raises(InvalidInput, match="needs the module nowhere_at_all, which is not installed"):
        make_environment("needing:Env")


@pytest.mark.parametrize("choice", [":Env", "corridor:", "a..b:Env", ".a:Env", "a b:Env", "a:b.c", "chess", ""])
def test_what_is_no_path_is_told(choice: str) -> None:
    with pytest.raises(InvalidInput, match=r"or a path like my\.module:Name"):
        load(choice, {"one": "x:Y"}, "environment")


class Nameless:
    def decide(self, turn: object) -> None:
        return None


class Silent(Nameless):
    name = "silent"


def test_what_lacks_a_part_of_its_contract_is_told_before_a_life_begins() -> None:
    with pytest.raises(InvalidInput, match=r"CartPoleEnv lacks world, actions, milestones; scrubjay\.environments"):
        make_environment("gymnasium.envs.classic_control.cartpole:CartPoleEnv")
    with pytest.raises(InvalidInput, match=r"Nameless lacks name; scrubjay\.models"):
        make_model("test_own_paths:Nameless", "crafter")
    with pytest.raises(InvalidInput, match="list lacks name, decide"):
        make_model("builtins:list", "crafter")
    with pytest.raises(InvalidInput, match=r"missing 1 required positional argument"):
        make_model("json:loads", "crafter")
    with pytest.raises(InvalidInput, match="dict lacks traits, recall, conversation"):
        make_method("builtins:dict")
    assert make_model("test_own_paths:Silent", "crafter").name == "silent"


def test_a_model_that_decides_nothing_is_told(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        model = make_model("test_own_paths:Silent", "corridor")
        with pytest.raises(InvalidInput, match="silent decided NoneType"):
            Run(Corridor(), model, memory, steps=3).run()


def test_an_environment_without_a_scripted_player_says_what_to_choose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "corridor:Corridor", "--memory", str(tmp_path / "m")]) == 1
    assert "choose a model, such as my.module:Model" in capsys.readouterr().err
