"""Makes tests/data/format1, the memory of format 1 that every later version must open. Run once; never run again.

python tests/data/make_format1.py FOLDER
"""

from __future__ import annotations

import sys

import numpy as np

from scrubjay import Memory, World


def frame(step: int) -> np.typing.NDArray[np.uint8]:
    """24x16 pixels that tell the step."""
    pixels = np.full((16, 24, 3), 30, np.uint8)
    pixels[4:12, (step * 3) % 20 : (step * 3) % 20 + 4] = (200, 40 + step, 90)
    return pixels


def main(folder: str) -> None:
    """Two lives in two worlds: one that ends, one that dies; documents, a question, notes in several scripts."""
    memory = Memory.create(folder)
    day = "2026-11-30T12:00:{:02d}+01:00"
    seed = World("seed-7", up="y", unit="block", cell=1.0, yaw="0 looks to +z, clockwise")
    with memory.live("Mine a diamond", seed, method="mfm", model="scripted", milestones=("log_1", "stone_1")) as life:
        start = {"pos": [-0.5, 64.0, 3.25], "health": 20, "inventory": {}, "milestones": []}
        with life.episode(None, kind="initial", frame=frame(0), state=start, time=day.format(0)) as episode:
            episode.finish()
        with life.episode("go_to", {"x": 3.0, "z": 3.0, "within": 1.5}, plan="walk to the tree") as episode:
            for step in range(1, 5):
                state = {"pos": [-0.5 + step, 64.0, 3.25], "health": 20 - step % 2, "inventory": {}, "milestones": []}
                episode.step({"forward": 1}, frame=frame(step), state=state, time=day.format(step))
            episode.finish("success", note="Iron? 设备清单 \u00e9 e\u0301", events=["heard water"])
        with life.episode("attack") as episode:
            for step in range(5, 8):
                log = {"log": step - 5}
                state = {"pos": [3.5, 64.0, 3.25], "health": 19, "inventory": log, "milestones": ["log_1"] * (step > 5)}
                episode.step({"attack": 1}, frame=frame(step), state=state, reward=1.0, time=day.format(step))
            episode.finish("success")
    memory.documents.create("notes.md", "# Notes\n\n- Trees stand east of the start [ep_000001#4].\n")
    memory.documents.append("notes.md", "- Water is near (hypothesis).\n")
    memory.look("ep_000001#2", question="Is the path free?")
    memory.answer("q_000001", "Yes.")
    life = memory.live("Click", World("desk", up="z", unit="pixel", cell=100.0), method="mfm", model="scripted")
    cameras = {"left": frame(1), "right": frame(2)}
    there = {"pos": [120, 340, 0]}
    with life.episode("click", {"x": 120}, frame=cameras, state=there, place="Editor", time=day.format(19)) as episode:
        episode.step("click", frame=cameras, state={"pos": [120, 340, float("nan")]}, time=day.format(20))
        episode.finish("success")
    dying = life.episode("type", {"text": "9V"})
    dying.step(
        "type 9V", frame={"left": frame(3), "right": frame(4)}, state={"pos": [130, 340, 0]}, time=day.format(21)
    )
    life.writer.drain()
    life.abandon()
    memory.close()


if __name__ == "__main__":
    main(sys.argv[1])
