"""The `scrubjay` command as a shell sees it: help, pipes, full disks, wrong names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scrubjay import Memory
from scrubjay.surfaces.cli import COMMANDS, main


def shell(line: str) -> subprocess.CompletedProcess[str]:
    command = line.replace("scrubjay", f"{sys.executable} -W error -m scrubjay", 1)
    return subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"usage: scrubjay {name}" in text
    assert text.count("\n") > 8


def test_the_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name}" in text for name in COMMANDS)
    assert main(["fly"]) == 2
    assert "'fly' is not a command" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(lived: Memory) -> None:
    for line in ("scrubjay --help | head -c 5", f"scrubjay episodes {lived.root} | head -c 1"):
        done = shell(line)
        assert (done.returncode, done.stderr) == (0, ""), line


def test_a_full_disk_behind_the_output_is_told(lived: Memory) -> None:
    done = shell(f"scrubjay episodes {lived.root} > /dev/full")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["episodes", "/nowhere"],
        ["episodes", "{root}", "--last", "99999999999999999999999"],
        ["episodes", "{root}", "--regex", "a{{99999999999999999999}}"],
        ["episodes", "{root}", "--near", "nan", "0"],
        ["look", "{root}", "ep_1"],
        ["look", "{root}", "ep_000099"],
        ["stats", "{root}/index.jsonl"],
        ["check", "{root}/mine"],
    ],
)
def test_wrong_input_is_told_in_a_line(lived: Memory, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([argument.format(root=lived.root) for argument in arguments]) in (1, 2)
    told = capsys.readouterr().err
    assert told.startswith("scrubjay ")
    assert len(told.splitlines()) <= 2
