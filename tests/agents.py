"""Small coding agents for tests: programs that take a prompt as their last argument, each with its own manners."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_HEAD = """\
import json, os, pathlib, shutil, signal, subprocess, sys, time
prompt = sys.argv[-1]
turn = int(prompt.split('{"turn": ', 1)[1].split(",", 1)[0]) if '{"turn": ' in prompt else 0

def act(plan, **more):
    pathlib.Path("mine/actions.json").write_text(json.dumps({"turn": turn, "plan": plan, **more}))

def scrubjay(*words):
    done = subprocess.run([sys.executable, "-m", "scrubjay", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

right = [{"action": "right", "repeat": 1}]
"""


def agent(folder: Path, body: str) -> str:
    """The command of an agent whose program is `body`; it knows `turn`, `prompt`, `act`, `scrubjay` and `right`."""
    path = folder / "agent.py"
    path.write_text(_HEAD + body)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"
