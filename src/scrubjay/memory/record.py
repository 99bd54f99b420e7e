"""`episode.json`: the record of a finished episode, and what follows from it alone.

The index row, the grid rows and the section of the log are projections of this record: whoever has the record can
make them again, byte for byte. One top-level key stands on each line, and everything that a text search covers
stands before `"evidence"`, so that the searched text is a prefix of the file.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from scrubjay.errors import Damaged
from scrubjay.memory.deriving import Derived, Happened
from scrubjay.memory.jsonio import Json, dumps, loads_object
from scrubjay.memory.layout import Layout
from scrubjay.memory.observations import Observation
from scrubjay.memory.records import GridRow, Row

__all__ = ["build_record", "digest_of", "encode", "grid_rows", "log_section", "parse", "row_of"]

_EVIDENCE = b'\n"evidence": '
_RULE = "=" * 80


def build_record(
    *,
    ident: str,
    life: int,
    world: str | None,
    place: str | None,
    happened: Happened,
    derived: Derived,
    given: Json,
    ends: tuple[Observation, Observation],
    evidence: Json,
    extra: Json,
) -> Json:
    """The content of `episode.json`, keys in the order of the format."""
    first, last = ends
    cells = given.get("cells")
    record: Json = {
        "id": ident,
        "kind": happened.kind,
        "life": life,
        "world": world,
        "place": place,
        "action_kind": happened.action_kind,
        "arguments": happened.arguments,
        "plan": happened.plan,
        "outcome": happened.outcome,
        "summary": derived.summary if given.get("summary") is None else given["summary"],
        "tags": list(derived.tags) if given.get("tags") is None else given["tags"],
        "events": list(happened.events),
        "note": happened.note,
        "first_step": happened.first_step,
        "last_step": happened.last_step,
        "started": first.time,
        "ended": last.time,
        "start": {"pos": _pos(first.state), "state": first.state},
        "end": {"pos": _pos(last.state), "state": last.state},
    }
    if extra:
        record["row"] = extra
    log = {"header": derived.log_header, "lines": list(derived.log_lines)}
    record["evidence"] = {"cells": list(derived.cells) if cells is None else cells, "log": log, **evidence}
    grid_rows(record)  # what the grid can't take must not be committed
    return record


def _pos(state: Json) -> list[float | None] | None:
    pos = state.get("pos")
    if isinstance(pos, dict):
        pos = [pos.get(axis) for axis in "xyz"]
    if not isinstance(pos, list) or len(pos) < 3:
        return None
    return [_finite(value) for value in pos[:3]]


def encode(record: Json) -> bytes:
    """The bytes of `episode.json`; `evidence` comes last."""
    ordered = {**{key: value for key, value in record.items() if key != "evidence"}, "evidence": record["evidence"]}
    lines = [json.dumps(key).encode() + b": " + dumps(value) for key, value in ordered.items()]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def parse(data: bytes, file: str) -> Json:
    """The record in these bytes. Raises Damaged, naming `file`, where they hold none."""
    try:
        record = loads_object(data)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"no episode record: {error}", file=file) from None
    problem = _flaw(record)
    if problem is not None:
        raise Damaged(f"no episode record: {problem}", file=file)
    return record


_SHAPE: dict[str, type] = {
    "id": str, "kind": str, "life": int, "first_step": int, "last_step": int, "summary": str, "tags": list,
    "events": list, "start": dict, "end": dict, "evidence": dict,
}  # fmt: skip
_EVIDENCE_SHAPE = {"cells": list, "log": dict, "cues": dict, "frames": dict, "missing": dict, "files": dict}
_OPTIONAL = ("world", "place", "action_kind", "outcome", "note", "started", "ended")


def _flaw(record: Json) -> str | None:
    """What is wrong with the shape of a record, so that whoever reads on needs not look; None where nothing is."""
    if isinstance(record.get("evidence"), dict):
        for key in ("cues", "missing"):  # where nothing is to be said, another program may say nothing
            record["evidence"].setdefault(key, {})
    for within, shape in ((record, _SHAPE), (record.get("evidence"), _EVIDENCE_SHAPE)):
        if not isinstance(within, dict):
            return "evidence is no object"
        for key, expected in shape.items():
            if not isinstance(within.get(key), expected):
                return f"{key}: {expected.__name__} was expected, found {within.get(key)!r:.60}"
    log = record["evidence"]["log"]
    if not (isinstance(log.get("header"), str) and isinstance(log.get("lines"), list)):
        return "log: a header and lines were expected"
    places = [*record["evidence"]["frames"].values(), *record["evidence"]["files"].values()]
    if not all(isinstance(place, dict) for place in places):
        return "frames and files: objects were expected"
    try:
        whole = {**dict.fromkeys(_OPTIONAL), **record}
        Row.from_json(row_of(whole, "").to_json())
        grid_rows(whole)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def digest_of(data: bytes) -> str:
    """What the index row keeps as `digest`."""
    return hashlib.sha256(data).hexdigest()


def _finite(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # JSON's whole numbers have no end
        return None


def row_of(record: Json, digest: str) -> Row:
    """The index row of a record."""
    path = f"episodes/{Layout.bucket_name(int(record['id'][3:]))}/{record['id']}"
    start, end = record["start"].get("pos"), record["end"].get("pos")
    x, y, z = (_finite(v) for v in start) if start else (None, None, None)
    image = next((name for name in record["evidence"]["files"] if name.startswith("start.")), None)
    screen = record["evidence"]["cues"].get("screen/1", {})
    return Row(
        id=record["id"],
        kind=record["kind"],
        path=path,
        image=None if image is None else f"{path}/{image}",
        action_kind=record["action_kind"],
        first_step=record["first_step"],
        last_step=record["last_step"],
        x=x,
        y=y,
        z=z,
        summary=record["summary"],
        tags=tuple(record["tags"]),
        observation_hash=screen.get("start"),
        events=tuple(record["events"]),
        note=record["note"],
        life=record["life"],
        world=record["world"],
        place=record["place"],
        end=None if not end or None in end else (end[0], end[1], end[2]),
        outcome=record["outcome"],
        started=record["started"],
        ended=record["ended"],
        digest=digest,
        extra=record.get("row", {}),
    )


def grid_rows(record: Json) -> list[GridRow]:
    """The rows of `grid.jsonl` that this episode adds."""
    return [
        GridRow.from_json({**cell, "episode": record["id"], "world": record["world"]})
        for cell in record["evidence"]["cells"]
    ]


def log_section(record: Json) -> bytes:
    """The section of `logs.txt`, in the layout of PRO-LONG: a rule, a header, a blank line, tagged lines."""
    log = record["evidence"]["log"]
    text = "\n".join([_RULE, log["header"], "", *log["lines"]])
    return text.encode(errors="backslashreplace") + b"\n\n"
