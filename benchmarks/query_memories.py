"""Generated memories to ask: several lives in several worlds, in the layout of format 1, with frames left out.

One row in a hundred has no position, heights go from -64 to 320, states have about 1 KB in the searched text. A few
texts, tags and scripts are rare on purpose. The same count and seed give the same memory.
"""

from __future__ import annotations

import json
import math
import os
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.record import digest_of, encode, row_of

__all__ = ["ACTIONS", "RARE_TAGS", "RARE_TEXTS", "TAGS", "TWO_CHARACTERS", "WORLDS", "add_rows", "memory_of"]

WORLDS = ("seed-7", "seed-11", "desktop", "overworld")
LIVES = 12
ACTIONS = (
    "go_to",
    "use_at",
    "dig",
    "attack",
    "look_abs",
    "craft",
    "scan_around",
    "fetch_water",
    "place",
    "harvest_tree",
)
TAGS = ("moved", "inventory_changed", "broke", "note", "damage", "hazard", "stuck", "milestone")
RARE_TAGS = ("died", "opened", "level_up", "eclipse")
ITEMS = (
    "dirt",
    "cobblestone",
    "oak_log",
    "iron_ore",
    "bucket",
    "torch",
    "coal",
    "stick",
    "diamond",
    "bread",
    "furnace",
)
NOTES = (
    "the cave goes on behind the lava",
    "no way down here",
    "torches run low",
    "a village in the east",
    "zombies at night",
)
RARE_TEXTS = ("POL-358", "itgc", "obsidian_portal", "tin whistle", "Ångström", "quartz|vein", "mechanism #7")
TWO_CHARACTERS = ("设备", "qz", "é", "ßx", "#7", "|v", "清单")
_RARE_NOTES = (
    "policy POL-358 applies", "重跑gen-itgc后", "设备清单已更新", "an obsidian_portal stands here",
    "found a tin whistle",
    "Ångström écart", "quartz|vein qz below", "mechanism #7 is straßxe",
)  # fmt: skip


def memory_of(folder: str, count: int) -> Layout:
    """The memory of so many rows in this folder, made where it is not there yet."""
    layout = Layout(os.path.join(folder, f"rows-{count}"))
    if not os.path.exists(layout.manifest):
        os.makedirs(layout.root, exist_ok=True)
        open(layout.index, "wb").close()
        with open(layout.worlds, "w") as file:
            file.writelines(
                json.dumps({"world": world, "up": "y", "unit": "block", "cell": 1.0}) + "\n" for world in WORLDS
            )
        add_rows(layout, 1, count, count)
        with open(layout.lives, "w") as file:
            for life in range(1, LIVES + 1):
                started = {"life": life, "event": "start", "task": "t", "world": WORLDS[life % len(WORLDS)]}
                file.write(json.dumps({**started, "started": "2026-11-30T12:00:00+00:00"}) + "\n")
                file.write(json.dumps({"life": life, "event": "end", "ended": "2026-11-30T13:00:00+00:00"}) + "\n")
        with open(layout.manifest, "w") as file:
            file.write('{"format": 1, "requires": [], "uuid": "bench", "created_by": "benchmark"}\n')
    return layout


def add_rows(layout: Layout, first: int, count: int, of: int) -> None:
    """Appends episodes `first`, `first` + 1, ...; lives overlap in pairs, as two agents at once make them."""
    choice = random.Random(first * 31 + of)
    walks: dict[int, list[float]] = {}
    lines: list[bytes] = []
    made = ""
    with open(layout.index, "ab") as index:
        for number in range(first, first + count):
            record = _record(number, min(LIVES, max(1, (number - 1) * LIVES // of + 1 - number % 2)), walks, choice)
            data = encode(record)
            bucket = layout.bucket(number)
            if bucket != made:
                os.makedirs(bucket, exist_ok=True)
                made = bucket
            path = f"{bucket}/{record['id']}"
            os.mkdir(path)
            with open(f"{path}/episode.json", "wb") as file:
                file.write(data)
            row = row_of(record, digest_of(data)).to_json()
            lines.append(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            if len(lines) == 1000:
                index.writelines(lines)
                lines.clear()
        index.writelines(lines)


def _record(number: int, life: int, walks: dict[int, list[float]], choice: random.Random) -> dict[str, Any]:
    # x, y, z, step, seconds
    walk = walks.setdefault(
        life, [choice.uniform(-900, 900), 64.0, choice.uniform(-900, 900), number * 20.0, number * 1.5]
    )
    before = [round(walk[0], 4), round(walk[1], 4), round(walk[2], 4)]
    turn, length = choice.uniform(0, 2 * math.pi), choice.choice((0.0, 0.0, 1.5, 4.0, 12.0))
    walk[0] += length * math.cos(turn)
    walk[2] += length * math.sin(turn)
    walk[1] = min(320.0, max(-64.0, walk[1] + choice.choice((-3.0, -1.0, 0.0, 0.0, 1.0, 3.0))))
    first = int(walk[3])
    walk[3] += choice.randint(1, 60)
    started = walk[4]
    walk[4] += choice.uniform(0.1, 3)
    after = [round(walk[0], 4), round(walk[1], 4), round(walk[2], 4)]
    action = choice.choices(ACTIONS, weights=range(10, 0, -1))[0]
    tags = [
        tag
        for tag, share in zip(TAGS, (0.5, 0.3, 0.2, 0.15, 0.05, 0.02, 0.02, 0.004), strict=True)
        if choice.random() < share
    ]
    if choice.random() < 0.001:
        tags += choice.sample(RARE_TAGS, 2)
    note = choice.choice(NOTES) if "note" in tags else None
    if choice.random() < 0.0004:
        note = choice.choice(_RARE_NOTES)
    placed = choice.random() >= 0.01
    cells = {
        (
            math.floor(before[0] + (after[0] - before[0]) * k / 4),
            int(before[1]),
            math.floor(before[2] + (after[2] - before[2]) * k / 4),
        )
        for k in range(5)
    }
    return {
        "id": episode_id(number), "kind": "episode", "life": life, "world": WORLDS[life % len(WORLDS)],
        "place": None, "action_kind": action, "arguments": {"x": round(after[0]), "z": round(after[2]), "n": 60},
        "plan": None, "outcome": choice.choice(("success", "failure", None)),
        "summary": f"[ACTION] {action}(x={after[0]:.1f}, z={after[2]:.1f}) -> moved {length:.1f}, inv {{'dirt': 1}}",
        "tags": tags, "events": [], "note": note, "first_step": first, "last_step": int(walk[3]),
        "started": _time(started), "ended": _time(walk[4]),
        "start": {"pos": before if placed else None, "state": _state(before, choice)},
        "end": {"pos": after if placed else None, "state": _state(after, choice)},
        "evidence": {
            "cells": [{"cell": list(cell), "kind": "walked", "step": first} for cell in cells] if placed else [],
            "log": {"header": f"Action {number}", "lines": ["[ACTION] " + action]},
            "cues": {"screen/1": {edge: f"{choice.getrandbits(128):032x}" for edge in ("start", "end")}},
            "frames": {"start.webp": {"file": "start.webp"}}, "files": {},
        },
    }  # fmt: skip


def _state(pos: list[float], choice: random.Random) -> dict[str, Any]:
    inventory = {item: choice.randint(1, 64) for item in choice.sample(ITEMS, 6)}
    return {
        "pos": [*pos, round(choice.uniform(0, 360), 1), round(choice.uniform(-90, 90), 1)],
        "health": choice.randint(1, 20),
        "food": choice.randint(1, 20), "oxygen": 300, "inventory": inventory, "held": choice.choice(ITEMS),
        "target": {"block": choice.choice(ITEMS), "distance": round(choice.uniform(0, 5), 3), "face": "north"},
        "nearby": [_neighbour(choice) for _ in range(3)],
        "daylight": choice.randint(0, 24000), "biome": choice.choice(("plains", "dark_forest", "river", "desert")),
    }  # fmt: skip


def _neighbour(choice: random.Random) -> dict[str, Any]:
    at = [round(choice.uniform(-99, 99), 1) for _ in range(2)]
    return {"name": choice.choice(("cow", "zombie", "sheep")), "at": at}


def _time(seconds: float) -> str:
    return (datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat()
