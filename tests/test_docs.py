"""Every block of the documentation runs: Python in one namespace a page, commands through the real command."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|sh|json)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


READERS = ("cat", "cut", "find", "grep", "head", "ls", "tail", "tar", "wc")


def command(line: str, folder: Path) -> None:
    """Runs a line of a page: a command of ours, or one that reads files. What installs something is passed over."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["scrubjay"]:
        run = [sys.executable, "-W", "error", "-m", "scrubjay", *words[1:]]
    elif words and words[0] in READERS:
        run = ["bash", "-o", "pipefail", "-c", line]
    else:
        return
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for kind, block in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(block, page.name, "exec"), namespace)
        elif kind == "sh":
            for line in block.splitlines():
                command(line, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
