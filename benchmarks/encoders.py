"""How well each frame encoder tells one place from another, and from which cosine two frames are taken as alike.

    python benchmarks/encoders.py          about two minutes; prints the table and writes results/encoders.json

Frames of seeded walks in two VizDoom maps. Near: within a block (64 map units) and 15 degrees of each other. Far: more
than 18 blocks apart. `alike` of each encoder was chosen so that few pairs that are far apart reach it, on these maps.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from scrubjay.environments.vizdoom.reached import CELL
from scrubjay.experiments.report import table
from scrubjay.methods.encoders.named import FRAMES, make_encoders
from vizdoom_lives import live, open_game

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "encoders.json")
MAPS, SEEDS, FRAMES_EACH = ("MAP01", "MAP02"), (1, 2), 150


def measured(doom_map: str, game: Any) -> list[dict[str, Any]]:
    """A row per encoder."""
    seen = [one for seed in SEEDS for one in live(game, doom_map, seed=seed, frames=FRAMES_EACH)]
    position, angle = np.array([one.position for one in seen]), np.array([one.angle for one in seen])
    i, j = np.triu_indices(len(seen), 1)
    away = np.linalg.norm(position[i] - position[j], axis=1)
    turned = np.abs((angle[i] - angle[j] + 180) % 360 - 180)
    near, far = (away < CELL) & (turned < 15), away > 18 * CELL
    rows = []
    for name in FRAMES:
        frames = make_encoders(frames=name).frames
        vectors = np.stack([np.frombuffer(frames.of_frame(one.frame), np.uint8) for one in seen]).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        likeness = (vectors @ vectors.T)[i, j]
        other = np.sort(likeness[far])
        above = np.searchsorted(other, likeness[near]).mean() / len(other)
        rows.append(
            {
                "map": doom_map,
                "encoder": name,
                "near": int(near.sum()),
                "far": int(far.sum()),
                "near above far": round(float(above), 3),
                "alike": frames.alike,
                "near alike": round(float((likeness[near] >= frames.alike).mean()), 3),
                "far alike": round(float((likeness[far] >= frames.alike).mean()), 4),
            }
        )
    return rows


def main() -> None:
    """Measures, prints and writes."""
    game = open_game("freedoom2")
    rows = [row for doom_map in MAPS for row in measured(doom_map, game)]
    game.close()
    with open(RESULTS, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")
    print(table(tuple(rows[0]), [tuple(str(value) for value in row.values()) for row in rows]))


if __name__ == "__main__":
    main()
