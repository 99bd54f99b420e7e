"""Memories for tests of pages: one with a bit of everything, every text of which is hostile, and a server for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import uvicorn

from scrubjay import Memory
from scrubjay.memory.lives import Life
from scrubjay.memory.procedure_runs import Run
from scrubjay.memory.records import World
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.web.application import application
from scrubjay.surfaces.web.reader import Reader

HOSTILE = '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">\'"&{{7*7}}'
WORLD = 'w"><script>window.pwned=1</script>'
GOALS = ("iron", HOSTILE)
NOTES = f"""---
title: {HOSTILE}
---
# Notes {HOSTILE}

- Iron at the north wall [ep_000001#3].
- A claim that rests on nothing {HOSTILE}
- It may be warm (hypothesis)
- Of what is not there [ep_999999]

[a](javascript:window.pwned=1) [b](data:text/html,<script>window.pwned=1</script>) <javascript:window.pwned=1>
[c](JaVaScRiPt:window.pwned=1) ![d](https://elsewhere.example/p.png) [e](https://elsewhere.example/)
[f](//elsewhere.example/)
<iframe src="https://elsewhere.example/"></iframe> [the guide](GUIDE.md) [up](../memory.json) [g](vbscript:x)

```
{HOSTILE}
```
"""


WIDE = f"{'| a column ' * 40}|\n{'| --- ' * 40}|\n{'| 1 ' * 40}|\n"


def frame(value: int, height: int = 48, width: int = 64) -> np.typing.NDArray[np.uint8]:
    """A frame with a pattern that no other number gives."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = value * 40 % 256, 90, 160
    pixels[: height // 2, : width // 2] = (value * 17 % 256, value * 29 % 256, 40)
    return pixels


def hostile_memory(folder: Path, episodes: int = 6) -> str:
    """A life of episodes with frames, states, notes, cells, a call of a procedure, questions, documents."""
    made = Memory.create(folder)
    with made as memory, memory.live(HOSTILE, World(WORLD), method="mfm", model="scripted", milestones=GOALS) as life:
        for number in range(episodes):
            _live_one(life, number)
        write_documents(memory)
        view = memory.look("ep_000001#4", question=f"what {HOSTILE}?")
        memory.answer(view.inspection or "", HOSTILE)
    (folder / "mine" / "<img src=x onerror=window.pwned=1>.md").write_text("refused\n")
    return str(folder)


def _live_one(life: Life, number: int) -> None:
    """An episode of three steps, from step 3 * number: hurt at its first step."""
    state = {"pos": [number, 64, -number], "health": 9, HOSTILE: HOSTILE, "inventory": {"wood": number}}
    with life.episode(f"go {HOSTILE}", {"x": HOSTILE}, frame=frame(4 * number), state=state, plan=HOSTILE) as one:
        for step in range(1, 4):
            state = {**state, "pos": [number + step / 4, 64, -number], "health": 9 - step % 2}
            reached = {"milestones": ["iron"]} if number == 1 and step == 3 else {}
            one.step({"forward": HOSTILE}, frame=frame(4 * number + step), state={**state, **reached})
        one.finish("success" if number % 2 else "failure", note=f"note {HOSTILE}", events=[HOSTILE])


def write_documents(memory: Memory) -> None:
    """Notes with claims of each kind, a guide, a text with a difficult name, a procedure with a failed call."""
    memory.documents.write("notes.md", NOTES.replace("[ep_000001#3]", "[ep_000001]"))
    memory.documents.write("notes.md", NOTES)
    memory.documents.write("GUIDE.md", f"# Guide\n\n- Look first [ep_000001, ep_000002].\n\n{WIDE}")
    memory.documents.write("a&b '#1' %.txt", f"{HOSTILE} [ep_000001]\n")
    code = f"def cut_step(n):\n    return {HOSTILE!r}\n"
    memory.procedures.create("cut-step", f"cuts {HOSTILE}", code=code, cites=["ep_000001"])
    arguments = {"n": HOSTILE}
    run = Run("cut-step", "failure", "procedure", arguments, ("ep_000001",), HOSTILE, steps=3, life=1, step=6)
    memory.procedures.record(run)


@contextmanager
def serving(root: str, token: str | None = None) -> Iterator[str]:
    """The base address of a real server for a memory, on a free port of the loopback."""
    reader = Reader(root)
    app = application(reader, Address("127.0.0.1", 0), token)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.02)
            assert thread.is_alive()
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
        reader.close()
