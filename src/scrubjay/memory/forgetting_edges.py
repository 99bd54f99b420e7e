"""The observations that a removed episode has in common with the ones before and after it.

The last observation of an episode is the first of the next. Where both stored it, what one showed the other shows too:
its picture and its state go from there as well, and the step, its position and everything else of the neighbour stay.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from scrubjay.errors import Damaged, NotFound
from scrubjay.memory import journal
from scrubjay.memory import record as records
from scrubjay.memory.disk import storage, sync_folder, write_file
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.layout import Layout
from scrubjay.memory.light import dataclass

__all__ = ["Edge", "empty_edge", "shared_edges"]

_OTHER = {"start": "end", "end": "start"}


@dataclass(frozen=True, slots=True)
class Edge:
    """The first (`start`) or last (`end`) observation of a neighbour, as its record is to be without it.

    `files` are the pictures that go, `step` is where the state stood, `section` the lengths in the log stay.
    """

    old: Json
    new: Json
    edge: str
    files: tuple[str, ...]
    steps: bytes | None


def shared_edges(layout: Layout, record: Json, ids: list[str], reason: str) -> list[Edge]:
    """What the neighbours of this episode among `ids`, those of its life in order, have in common with it."""
    if record["id"] not in ids:
        return []
    at = ids.index(record["id"])
    found = [
        _shared(layout, record, ids[:at][::-1], "end", reason),
        _shared(layout, record, ids[at + 1 :], "start", reason),
    ]
    return [edge for edge in found if edge is not None]


def _shared(layout: Layout, record: Json, ids: list[str], edge: str, reason: str) -> Edge | None:
    neighbour = _first_readable(layout, ids)
    if neighbour is None or neighbour.get("removed"):
        return None
    done = neighbour["evidence"].get("removed", {})
    files = _same_pictures(layout, record, neighbour, edge)
    state = record[_OTHER[edge]].get("state")
    is_same = bool(state) and neighbour[edge].get("state") == state
    if not (files or is_same or edge in done):
        return None
    new = _without(neighbour, edge, files, reason, is_same=is_same)
    steps = _steps_without(layout, neighbour, edge) if is_same else None
    if steps is not None:
        new["evidence"]["files"][Layout.STEPS] = {"size": len(steps), "sha256": records.digest_of(steps)}
    return Edge(neighbour, new, edge, files, steps)


def _first_readable(layout: Layout, ids: list[str]) -> Json | None:
    for ident in ids:
        with contextlib.suppress(NotFound, Damaged):  # an empty claim, or damaged: check says so
            return read_record(layout, ident)[0]
    return None


def _same_pictures(layout: Layout, record: Json, neighbour: Json, edge: str) -> tuple[str, ...]:
    """The files of the neighbour's edge that hold the same bytes as a picture of the other edge of the record."""
    shown = record["evidence"]["files"]
    theirs = neighbour["evidence"]["files"]
    ours = {said["sha256"] for name, said in shown.items() if name.startswith(("start.", "end."))}
    return tuple(
        sorted(name for name, said in theirs.items() if name.startswith(f"{edge}.") and said["sha256"] in ours)
    )


def _without(neighbour: Json, edge: str, files: tuple[str, ...], reason: str, *, is_same: bool) -> Json:
    evidence: dict[str, Any] = dict(neighbour["evidence"])
    gone = {name for name, place in evidence["frames"].items() if place.get("file") in files}
    evidence["frames"] = {name: place for name, place in evidence["frames"].items() if name not in gone}
    evidence["files"] = {name: said for name, said in evidence["files"].items() if name not in files}
    evidence["missing"] = {**evidence["missing"], **dict.fromkeys(sorted(gone), f"removed by a person: {reason}")}
    if files:
        cues = evidence["cues"].items()
        evidence["cues"] = {cue: {at: value for at, value in said.items() if at != edge} for cue, said in cues}
    evidence["removed"] = {edge: reason, **evidence.get("removed", {})}
    new = {**neighbour, "evidence": evidence}
    if is_same:
        new[edge] = {"pos": neighbour[edge]["pos"], "state": {}}
        # The log shows the state an episode ended with.
        lines = evidence["log"]["lines"]
        if edge == "end":
            evidence["log"] = {**evidence["log"], "lines": [_blank(line) for line in lines]}
    return new


def _blank(line: Any) -> Any:
    """A line of the log that shows a state, without it and as long."""
    if not (isinstance(line, str) and line.startswith(("[STATE]", "[GUI]", "[INV]"))):
        return line
    length = len(line.encode(errors="backslashreplace"))
    return f"{line.partition(']')[0]}]".ljust(length)[:length]


def _steps_without(layout: Layout, neighbour: Json, edge: str) -> bytes | None:
    """Its steps without the state of this edge; None where they have none."""
    path = os.path.join(layout.episode(neighbour["id"]), Layout.STEPS)
    step = neighbour["first_step" if edge == "start" else "last_step"]
    lines = []
    with open(path, "rb") as file:
        data = file.read()
    for line in journal.read(path):
        kept = data[line.offset : line.offset + line.length]
        if isinstance(line, journal.Entry) and line.row.get("step") == step:
            row = {key: value for key, value in line.row.items() if key != "info"}
            kept = dumps({**row, "state": {}}) + b"\n"
        lines.append(kept)
    return b"".join(lines)


def empty_edge(layout: Layout, edge: Edge) -> None:
    """Takes the observation out of the neighbour's folder. Killed halfway, doing it again finishes the work."""
    folder = layout.episode(edge.new["id"])
    if edge.steps is not None:
        write_file(os.path.join(folder, Layout.STEPS), edge.steps)
    write_file(os.path.join(folder, Layout.EPISODE_RECORD), records.encode(edge.new))
    for name in os.listdir(folder):
        # Files that the record does not list any more: those of this call, and of one that was killed.
        if name.startswith(f"{edge.edge}.") and name not in edge.new["evidence"]["files"]:
            with storage(folder):
                os.unlink(os.path.join(folder, name))
    sync_folder(folder)
