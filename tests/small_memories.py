"""Memories made by hand for tests of locating: real files, without the cost of recording."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.record import digest_of, encode, row_of

Json = dict[str, Any]


def make_memory(root: Path) -> Layout:
    """An empty memory of format 1."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "memory.json").write_text('{"format": 1, "requires": [], "uuid": "u", "created_by": "test"}\n')
    (root / "index.jsonl").touch()
    return Layout(root)


def episode(number: int, **values: Any) -> Json:
    """The record of an episode; `pos`, `end_pos`, `state`, `cells`, `screens` and `places` go where they belong."""
    state, pos = values.pop("state", {}), values.pop("pos", None)
    end_pos = values.pop("end_pos", pos)
    cells = [{"cell": list(cell), "kind": "walked", "step": 0} for cell in values.pop("cells", ())]
    cues: Json = {}
    if screens := values.pop("screens", None):
        cues["screen/1"] = dict(zip(("start", "end"), screens, strict=False))
    if places := values.pop("places", None):
        encoded = [base64.b64encode(place).decode() for place in places]
        cues["place/1"] = dict(zip(("start", "end"), encoded, strict=False))
    record: Json = {
        "id": episode_id(number), "kind": "episode", "life": 1, "world": "w", "place": None, "action_kind": None,
        "arguments": {}, "plan": None, "outcome": None, "summary": "", "tags": [], "events": [], "note": None,
        "first_step": number, "last_step": number + 1, "started": None, "ended": None,
        **values,
        "start": {"pos": pos, "state": state}, "end": {"pos": end_pos, "state": state},
        "evidence": {"cells": cells, "log": {"header": "", "lines": []}, "cues": cues, "frames": {}, "files": {}},
    }  # fmt: skip
    return record


def commit(layout: Layout, record: Json, **changed: Any) -> bytes:
    """Writes the record and appends its row, with these values changed; the row's line."""
    data = encode(record)
    folder = Path(layout.episode(record["id"]))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "episode.json").write_bytes(data)
    row = {**row_of(record, digest_of(data)).to_json(), **changed}
    line = json.dumps(row, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"
    with open(layout.index, "ab") as file:
        file.write(line)
    return line
