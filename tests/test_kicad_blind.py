"""The solver decides as another user, who can read nothing of the project: what it does, it does from the screen."""

from __future__ import annotations

import os
import pickle
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.agent.evaluating import evaluations
from scrubjay.agent.loop import Run
from scrubjay.environments.kicad.environment import KiCad
from scrubjay.models.contract import Plan, Turn
from test_kicad import needs_kicad

pytestmark = pytest.mark.xdist_group("screens")
_PROGRAM = Path(__file__).with_name("decide_alone.py")
_DROPPED = ("--clear-groups", "--bounding-set=-all", "--inh-caps=-all")
_AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", *_DROPPED)


def _can_be_nobody() -> bool:
    """Another user runs our Python: that takes root, and a Python and a source tree that anybody may read."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        return False
    return subprocess.run([*_AS_NOBODY, sys.executable, "-c", "import scrubjay"], capture_output=True).returncode == 0


class Elsewhere:
    """The solver, in a process of user nobody for every turn."""

    name = "scripted"

    def __init__(self, environment: KiCad, memory: Path) -> None:
        self._environment, self._memory = environment, memory
        self.decided = 0

    def decide(self, turn: Turn) -> Plan:
        """What the solver says there; AssertionError where it could read the project, or failed."""
        assert self._environment.home is not None
        project = self._environment.home.root / "project"
        assert list(project.iterdir())
        _open_to_all(self._memory)
        command = [*_AS_NOBODY, sys.executable, str(_PROGRAM), str(self._memory), str(project)]
        told = pickle.dumps(replace(turn, recall=None))  # type: ignore[arg-type]
        done = subprocess.run(command, input=told, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        self.decided += 1
        plan: Plan = pickle.loads(done.stdout)
        return plan


def _open_to_all(folder: Path) -> None:
    for one in (folder, *folder.rglob("*")):
        one.chmod(0o777 if one.is_dir() else 0o666)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users can reach."""
    folder = Path(tempfile.mkdtemp(prefix="test-kicad-blind-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@needs_kicad
@pytest.mark.skipif(
    not _can_be_nobody(), reason="it takes root to be another user; test_kicad's watch over opened files stands for it"
)
def test_a_task_is_solved_by_a_user_who_can_read_no_file_of_the_project(shared: Path) -> None:
    environment = KiCad("supply")
    try:
        with Memory.create(shared / "memory") as memory:
            model = Elsewhere(environment, shared / "memory")
            Run(environment, model, memory, task=environment.task.text, steps=100, lives=1, method="mfm").run()
            assert evaluations(memory)[1][-1]["score"] == 1.0
            assert model.decided >= 10
            written = memory.layout.root + "/mine/procedures/change-value/SKILL.md"
            assert os.stat(written).st_uid == pwd.getpwnam("nobody").pw_uid
    finally:
        environment.close()
