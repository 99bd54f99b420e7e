"""`scrubjay stats`: counts and bytes of what lies on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.surfaces.cli import main


def test_the_table_counts_what_lies_on_disk(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    lived.documents.create("notes.md", "- East is free [ep_000001].\n")
    lived.close()
    assert main(["stats", lived.root, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    parts = {part["name"]: part for part in found["parts"]}
    assert (found["lives"], found["steps"]) == (1, 12)
    assert parts["episodes"]["count"] == 4
    assert parts["index"]["bytes"] == Path(lived.layout.index).stat().st_size
    assert found["actions"] == {"go_to": 4}
    # A start that is the previous end is one file on disk, and weighs once.
    frames = {path.stat().st_ino: path.stat().st_size for path in Path(lived.layout.episodes_folder).rglob("*.webp")}
    tars = sum(path.stat().st_size for path in Path(lived.layout.episodes_folder).rglob("*.tar"))
    assert parts["frames"]["bytes"] == sum(frames.values()) + tars
    assert main(["stats", lived.root]) == 0
    assert "episode records" in capsys.readouterr().out
