"""The pages under docs/reference say what the code says, and leave out no command and no public name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import scrubjay
from scrubjay.surfaces.cli import COMMANDS, help_of

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="argparse of other versions lays its help out otherwise")
def test_the_pages_are_what_the_script_writes() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_reference.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun scripts/make_reference.py"


def test_every_command_and_every_option_is_there() -> None:
    page = (REFERENCE / "commands.md").read_text()
    for name in COMMANDS:
        assert f"\n## {name}\n" in page
        assert "usage: " in help_of(name)


def test_every_public_name_is_there() -> None:
    page = (REFERENCE / "python.md").read_text()
    for name in scrubjay.__all__:
        assert name == "__version__" or f"`{name}`" in page


def test_a_page_behind_the_code_is_noticed(tmp_path: Path) -> None:
    script = tmp_path / "scripts" / "make_reference.py"
    script.parent.mkdir()
    script.write_text((ROOT / "scripts" / "make_reference.py").read_text())
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "commands.md: behind the code" in done.stdout
