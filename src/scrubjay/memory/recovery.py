"""What a writable open does for lives that died: adopt their last episode, complete its projections, end the life.

It reads what lies on disk and adds; it changes no byte of evidence. Running it twice, or in two processes, does
nothing more than running it once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from scrubjay.errors import Damaged, InvalidInput
from scrubjay.memory import journal
from scrubjay.memory import record as records
from scrubjay.memory.deriving import FAMILIES, DefaultDeriver, Deriver, Happened
from scrubjay.memory.disk import datasync, let_go, lock_exclusive, sync_folder, write_file
from scrubjay.memory.episode_frames import CueMaker
from scrubjay.memory.evidence import read_record, step_of
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_number
from scrubjay.memory.observations import Observation, utc
from scrubjay.memory.projections import complete, lacks, size_of
from scrubjay.memory.records import Step, World

__all__ = ["adopt_episode", "open_lives", "rebuild", "recover"]

WorldOf = Callable[[str | None], World]
_Owed = tuple[Json, int, int]  # a record, and the sizes of grid and log when its episode began


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
    for path in filter(os.path.exists, (layout.lives, layout.index, layout.grid)):
        # A torn row that lacks its newline alone is whole once that stands there: fence it before judging what lacks.
        journal.append_lines(path, layout.lock_of(path), b"")
    for start in open_lives(layout):
        lock = _taken(layout, start["life"]) if _has_folder(layout, start) else None
        if lock is None:
            continue  # it runs, or another process recovers it now
        try:
            if any(row["life"] == start["life"] for row in open_lives(layout)):
                family = FAMILIES.get(str(start.get("deriver")), deriver)
                adopted += _bury(layout, start, world_of, cue_makers, family)
        finally:
            let_go(lock)
    return adopted


def _taken(layout: Layout, life: int) -> int | None:
    """The lock of a life that does not run. A reader's look at it lasts a moment: it is waited out."""
    for wait in (0.0, 0.005, 0.02):
        time.sleep(wait)
        lock = lock_exclusive(layout.life_lock(life), wait=False)
        if lock is not None:
            return lock
    return None


def _has_folder(layout: Layout, start: Json) -> bool:
    return os.path.isdir(layout.life(start["life"]))


def _bury(
    layout: Layout, start: Json, world_of: WorldOf, cue_makers: Mapping[str, CueMaker], deriver: Callable[[], Deriver]
) -> list[str]:
    life = start["life"]
    adopted: list[str] = []
    last = next(_begun(layout, life), None)
    with contextlib.suppress(Damaged):  # check names it; the rest goes on
        if last is not None and adopt_episode(layout, life, last, start, world_of, cue_makers, deriver):
            adopted.append(last["id"])
    newest: Json | None = None
    for newest, grid_from, log_from in [*_owed(layout, life), *_committed(layout, life, last or start)]:
        complete(layout, newest, grid_from, log_from)
    row: Json = {"life": life, "event": "end", "ended": start.get("started") if newest is None else newest["ended"]}
    # Of a life whose rows were lost and made again, nobody knows how it ended.
    outcome = None if "rebuilt" in start and not adopted else "interrupted"
    row.update({"outcome": outcome, "recovered": utc(None), "episodes": (last or {}).get("ordinal", 0)})
    row["steps"] = (last or {}).get("first_step", 0) if newest is None else newest["last_step"]
    journal.append(layout.lives, layout.lock_of(layout.lives), [row])
    return adopted


def _begun(layout: Layout, life: int) -> Iterator[Json]:
    """What this life says it began, last first."""
    return (entry.row for entry in journal.read_backwards(layout.begun(life)) if _number(entry.row.get("id")) >= 0)


def _owed(layout: Layout, life: int) -> list[_Owed]:
    """The last committed episodes whose projections lack, oldest first, and where in the files to look for them.

    Power loss may have taken the projections of several; the first whole one has all before it.
    """
    owed: list[_Owed] = []
    for nth, begun in enumerate(_begun(layout, life)):
        record = _record(layout, begun["id"]) if _is_indexed(layout, begun) else None
        if record is None:
            continue  # an empty claim, one that was given up, or damaged afterwards
        one = (record, _offset(begun, "grid_at"), _offset(begun, "log_at"))
        if not lacks(layout, *one) and nth > 0:
            break
        owed.append(one)
    return owed[::-1]


def _committed(layout: Layout, life: int, since: Json) -> list[_Owed]:
    """This life's episodes in the index that it began after the last row of its own that power loss left, in order."""
    lines = journal.rows(layout.index, _line_start(layout, since))
    found = {row["id"] for row in lines if row.get("life") == life and isinstance(row.get("id"), str)}
    places = _offset(since, "grid_at"), _offset(since, "log_at")
    after = _number(since.get("id"))
    made = [_record(layout, ident) for ident in sorted(found, key=_number) if _number(ident) > after]
    return [(record, *places) for record in made if record is not None]


def _number(ident: Any) -> int:
    try:
        return episode_number(ident)
    except (InvalidInput, TypeError):
        return -1


def _offset(row: Json, key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) and value >= 0 else 0


def _record(layout: Layout, ident: str) -> Json | None:
    try:
        return read_record(layout, ident)[0]
    except (LookupError, ValueError, OSError):
        return None  # check names it


def _is_indexed(layout: Layout, begun: Json) -> bool:
    return any(row.get("id") == begun["id"] for row in journal.rows(layout.index, _line_start(layout, begun)))


def _line_start(layout: Layout, begun: Json) -> int:
    """Where to begin to look in the index: what it held when the episode began, or all of it where it was shortened."""
    offset = _offset(begun, "index_at")
    return offset if offset <= size_of(layout.index) else 0


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
    if _is_indexed(layout, begun):
        return False  # acknowledged; where its record is gone all the same, that is damage, and check names it
    if not os.path.exists(path):
        world = world_of(begun.get("world"))
        record = rebuild(folder, life, begun, _died(begun, start), world, cue_makers, deriver)
        if record is None:
            return False
        _make_durable(folder, record)
        write_file(path, records.encode(record))
        data = records.encode(record)
    else:
        with open(path, "rb") as file:
            data = file.read()
    row = records.row_of(records.parse(data, layout.relative(path)), records.digest_of(data))
    sync_folder(folder)
    sync_folder(os.path.dirname(folder))
    journal.append(layout.index, layout.lock_of(layout.index), [row.to_json()])
    return True


def _make_durable(folder: str, record: Json) -> None:
    # The process that wrote these files died before it did; from the index row on they must stay.
    for name in record["evidence"]["files"]:
        datasync(os.path.join(folder, name))


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
    wanted = [name for step in steps for name in step.frames.values() if name is not None]
    members = _members(os.path.join(folder, Layout.FRAMES))
    frames = {name: members[name] for name in wanted if name in members}  # power loss may take a step and not its frame
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
