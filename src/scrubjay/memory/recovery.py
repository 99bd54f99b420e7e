"""What a writable open does for lives that died: adopt their last episode, complete its projections, end the life.

It reads what lies on disk and adds; it changes no byte of evidence. Running it twice, or in two processes, does
nothing more than running it once.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scrubjay.memory import journal
from scrubjay.memory import record as records
from scrubjay.memory.deriving import DefaultDeriver, Deriver, Happened
from scrubjay.memory.disk import lock_exclusive, sync_folder, write_file
from scrubjay.memory.evidence import step_of
from scrubjay.memory.framewriter import CueMaker
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.observations import Observation, utc
from scrubjay.memory.projections import complete
from scrubjay.memory.records import Step, World

__all__ = ["adopt_episode", "open_lives", "rebuild", "recover"]

WorldOf = Callable[[str | None], World]


def open_lives(layout: Layout) -> list[Json]:
    """The start rows of lives that have no end row: running, or dead."""
    started: dict[int, Json] = {}
    for row in journal.rows(layout.lives):
        number = row.get("life")
        if not isinstance(number, int):
            continue
        if row.get("event") == "start":
            started[number] = row
        else:
            started.pop(number, None)
    return list(started.values())


def recover(
    layout: Layout,
    world_of: WorldOf,
    cue_makers: Mapping[str, CueMaker],
    deriver: Callable[[], Deriver] = DefaultDeriver,
) -> list[str]:
    """Ends every dead life; returns the ids of the episodes it adopted."""
    adopted: list[str] = []
    for start in open_lives(layout):
        lock = lock_exclusive(layout.life_lock(start["life"]), wait=False) if _has_folder(layout, start) else None
        if lock is None:
            continue  # it runs, or another process recovers it now
        try:
            if any(row["life"] == start["life"] for row in open_lives(layout)):
                adopted += _bury(layout, start, world_of, cue_makers, deriver)
        finally:
            os.close(lock)
    return adopted


def _has_folder(layout: Layout, start: Json) -> bool:
    return os.path.isdir(layout.life(start["life"]))


def _bury(
    layout: Layout, start: Json, world_of: WorldOf, cue_makers: Mapping[str, CueMaker], deriver: Callable[[], Deriver]
) -> list[str]:
    life = start["life"]
    adopted: list[str] = []
    ended, steps, episodes = start.get("started"), 0, 0
    for nth, entry in enumerate(journal.read_backwards(layout.begun(life))):
        begun = entry.row
        if nth == 0:
            if adopt_episode(layout, life, begun, start, world_of, cue_makers, deriver):
                adopted.append(begun["id"])
            episodes = begun.get("ordinal", 0)
        record = _record_if_indexed(layout, begun)
        if record is None:
            if nth == 0:
                continue
            break
        if nth == 0 or not steps:
            ended, steps = record["ended"], record["last_step"]
        # Power loss may have taken the projections of several episodes; the first whole one has all before it.
        if not complete(layout, record, begun.get("grid_at", 0), begun.get("log_at", 0)) and nth > 0:
            break
    row: Json = {"life": life, "event": "end", "ended": ended, "outcome": "interrupted", "recovered": utc(None)}
    row.update({"episodes": episodes, "steps": steps})
    journal.append(layout.lives, layout.lock_of(layout.lives), [row])
    return adopted


def _record_if_indexed(layout: Layout, begun: Json) -> Json | None:
    if not _is_indexed(layout, begun):
        return None
    path = os.path.join(layout.episode(begun["id"]), Layout.EPISODE_RECORD)
    try:
        with open(path, "rb") as file:
            return records.parse(file.read(), layout.relative(path))
    except (OSError, ValueError):
        return None  # damaged afterwards: check names it


def _is_indexed(layout: Layout, begun: Json) -> bool:
    return any(row.get("id") == begun["id"] for row in journal.rows(layout.index, _line_start(layout, begun)))


def _line_start(layout: Layout, begun: Json) -> int:
    """Where to begin to look in the index: what it held when the episode began, or all of it where it was shortened."""
    offset = begun.get("index_at", 0)
    return offset if isinstance(offset, int) and 0 <= offset <= os.path.getsize(layout.index) else 0


def adopt_episode(
    layout: Layout,
    life: int,
    begun: Json,
    start: Json,
    world_of: WorldOf,
    cue_makers: Mapping[str, CueMaker],
    deriver: Callable[[], Deriver] = DefaultDeriver,
) -> bool:
    """Commits an episode that was begun and not acknowledged, with the steps it had; true where it did.

    One without a single observation stays an empty claim: there is nothing to keep.
    """
    folder = layout.episode(begun["id"])
    path = os.path.join(folder, Layout.EPISODE_RECORD)
    if not os.path.exists(layout.index):
        journal.append_lines(layout.index, layout.lock_of(layout.index), b"")
    if not os.path.exists(path):
        world = world_of(begun.get("world"))
        record = rebuild(folder, life, begun, _died(begun, start), world, cue_makers, deriver)
        if record is None:
            return False
        write_file(path, records.encode(record))
        sync_folder(os.path.dirname(folder))
    elif _is_indexed(layout, begun):
        return False
    with open(path, "rb") as file:
        data = file.read()
    row = records.row_of(records.parse(data, layout.relative(path)), records.digest_of(data))
    journal.append(layout.index, layout.lock_of(layout.index), [row.to_json()])
    return True


def rebuild(
    folder: str,
    life: int,
    begun: Json,
    happened: Happened,
    world: World,
    cue_makers: Mapping[str, CueMaker],
    deriver: Callable[[], Deriver] = DefaultDeriver,
    given: Json | None = None,
) -> Json | None:
    """The record of an episode from what lies in its folder; None without a single whole step.

    Steps and frames are those on disk; the rest of `happened` is taken as it is.
    """
    steps = _whole_steps(os.path.join(folder, Layout.STEPS))
    if not steps:
        return None
    happened = replace(happened, first_step=steps[0].step, last_step=steps[-1].step)
    seen = deriver()
    seen.begin(world)
    for step in steps:
        seen.observe(step.step, step.state, step.after)
    first, last = (Observation(step.state, {}, step.time) for step in (steps[0], steps[-1]))
    return records.build_record(
        ident=begun["id"],
        life=life,
        world=begun.get("world"),
        place=begun.get("place"),
        happened=happened,
        derived=seen.derive(happened),
        given=given or {},
        ends=(first, last),
        evidence=_frames_on_disk(folder, steps, cue_makers),
        extra={},
    )


def _died(begun: Json, start: Json) -> Happened:
    """What is known of an episode whose process died."""
    return Happened(
        kind=begun.get("kind", "episode"),
        action_kind=begun.get("action_kind"),
        arguments=begun.get("arguments"),
        first_step=0,
        last_step=0,
        outcome="interrupted",
        events=("the process died",),
        plan=begun.get("plan"),
        ordinal=begun.get("ordinal", 1),
        milestones=tuple(start.get("milestones") or ()),
    )


def _whole_steps(path: str) -> list[Step]:
    steps = []
    for row in journal.rows(path):
        try:
            steps.append(step_of(row))
        except ValueError:
            continue
    return steps


def _frames_on_disk(folder: str, steps: list[Step], cue_makers: Mapping[str, CueMaker]) -> Json:
    """The evidence section for what a dead process left: every frame that is whole, the others with a reason."""
    frames = _members(os.path.join(folder, Layout.FRAMES))
    cues: Json = {}
    files: Json = {}
    names = sorted(os.listdir(folder))
    for edge, step in (("start", steps[0]), ("end", steps[-1])):
        cameras = {c: name for c, name in step.frames.items() if name is not None}
        for nth, (camera, name) in enumerate(cameras.items()):
            stored = Layout.edge_frame_name(edge, name.rpartition(".")[2], camera or None)
            pixels = _pixels(os.path.join(folder, stored)) if stored in names and name not in frames else None
            if pixels is None:
                continue
            frames[name] = {"file": stored}
            if nth == 0:
                for cue, make in cue_makers.items():
                    cues.setdefault(cue, {})[edge] = make(pixels)
    for name in names:
        if not name.startswith("."):
            files[name] = _size_and_hash(os.path.join(folder, name))
    wanted = [name for step in steps for name in step.frames.values() if name is not None]
    missing = {name: "lost when the process died" for name in wanted if name not in frames}
    return {"cues": cues, "frames": frames, "missing": missing, "files": files}


def _members(path: str) -> Json:
    """The whole members of a tar that may end anywhere."""
    frames: Json = {}
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            offset = 0
            while offset + 512 <= size:
                file.seek(offset)
                member = tarfile.TarInfo.frombuf(file.read(512), "utf-8", "strict")
                if offset + 512 + member.size > size:
                    break
                frames[member.name] = {"file": Layout.FRAMES, "offset": offset + 512, "size": member.size}
                offset += 512 + -(-member.size // 512) * 512
    except (OSError, tarfile.HeaderError, UnicodeDecodeError):
        pass  # the end, or a torn header: what came before is whole
    return frames


def _pixels(path: str) -> Any:
    import numpy
    from PIL import Image

    try:
        with Image.open(path) as image:
            return numpy.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError):
        return None


def _size_and_hash(path: str) -> Json:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"size": os.path.getsize(path), "sha256": digest}
