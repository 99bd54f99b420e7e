"""Temporary folders: none outlives its owner for longer than until the next one is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.environments.temporary import TemporaryFolder

_OWNER = """
import sys, time
from scrubjay.environments.temporary import TemporaryFolder
made = TemporaryFolder()
(made.path / "kept").mkdir()
print(made.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def owner() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", _OWNER], stdin=-1, stdout=-1, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_owner_left_goes_with_the_next_start_and_what_is_in_use_stays() -> None:
    (killed, left), (living, used) = owner(), owner()
    killed.kill()
    killed.communicate()
    assert (left / "kept").is_dir()
    mine = TemporaryFolder()
    assert not left.exists()
    assert (used / "kept").is_dir()
    assert mine.path.stat().st_mode & 0o777 == 0o700
    living.communicate("")
    mine.remove()
    mine.remove()
    assert not mine.path.exists()


def test_what_is_not_ours_to_remove_stays(place: Path) -> None:
    """A folder without a lock (one that is just being made), a lock that is a link, a folder that is a link."""
    (place / "scrubjay-run-made").mkdir()
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "owned.lock").touch()
    (place / "scrubjay-run-link").symlink_to(place / "elsewhere")
    (place / "scrubjay-run-lock").mkdir()
    (place / "scrubjay-run-lock" / "owned.lock").symlink_to(place / "elsewhere" / "owned.lock")
    before = sorted(place.rglob("*"))
    TemporaryFolder().remove()
    assert sorted(place.rglob("*")) == before
