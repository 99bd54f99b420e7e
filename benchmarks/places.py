"""Place recall without a model: how often the frame that looks most like this one was seen from the same place.

    python benchmarks/places.py            about ten minutes; writes benchmarks/results/places.json and places.md

Lives in Freedoom maps (see vizdoom_lives). A query is a frame of a later life; right is a frame of an earlier life of
that map seen from within 48 units and 25 degrees, and only frames that have such a one are asked. The frames to choose
from are all those of the earlier lives of the map; in a second row, all those of all other maps as well. Settings were
chosen on the tuning maps alone, with the sweep in places_tuning; every held-out map is used once. Baselines, in the
same run: a difference hash of 64 bits, and the cosine of thumbnails of 24x18 RGB pixels.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import binomtest

from places_tuning import VARIANTS, reduce, similarities
from scrubjay.retrieval import places
from vizdoom_lives import live, open_game

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")

TUNING = [("freedoom2", name) for name in ("MAP01", "MAP05", "MAP09", "MAP13", "MAP17", "MAP21")]
TUNING += [("freedoom1", "E1M3"), ("freedoom1", "E3M2")]
HELD_OUT = [("freedoom2", f"MAP{number:02}") for number in (2, 4, 7, 10, 12, 15, 18, 20, 24, 28)]
HELD_OUT += [("freedoom1", name) for name in ("E1M1", "E1M6", "E2M2", "E2M5", "E3M1", "E3M5", "E4M1", "E4M4")]
LIVES = 4
FRAMES = 120
EVERY_MOVES = 3
QUERY_EVERY = 4  # frames: 1.4 seconds of game between two queries of a life, so that they are not the same question
NEAR, TURN = 48.0, 25.0

Frame = NDArray[np.uint8]
Numbers = NDArray[Any]
Flags = NDArray[np.bool_]


@dataclass(slots=True)
class Seen:
    """All frames of a set of maps: where each was seen, and what was computed of each, by name."""

    maps: list[int] = field(default_factory=list)
    lives: list[int] = field(default_factory=list)
    tics: list[int] = field(default_factory=list)
    poses: list[tuple[float, float, float, float]] = field(default_factory=list)
    kept: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """The queries (indices of frames) and, for each, which frames are right, and which may be chosen."""

    queries: NDArray[np.int64]
    right: Flags
    near: Flags
    earlier: Flags
    anywhere: Flags


def collect(maps: Sequence[tuple[str, str]], keep: dict[str, Callable[[Frame], Any]], seed: int) -> Seen:
    """Lives in these maps, every frame reduced to what `keep` computes of it."""
    seen = Seen(kept={name: [] for name in keep})
    for number, (wad, doom_map) in enumerate(maps):
        game = open_game(wad)
        for life in range(LIVES):
            own = seed + 100 * number + life
            warm_up = random.Random(own).randrange(150)
            for sight in live(game, doom_map, seed=own, frames=FRAMES, every=EVERY_MOVES, warm_up=warm_up):
                seen.maps.append(number)
                seen.lives.append(life)
                seen.tics.append(sight.tic)
                seen.poses.append((*sight.position, sight.angle))
                for name, compute in keep.items():
                    seen.kept[name].append(compute(sight.frame))
        game.close()
        print(f"  {wad} {doom_map}: {len(seen.maps)} frames", file=sys.stderr, flush=True)
    return seen


def ask(seen: Seen) -> Asked:
    """Every `QUERY_EVERY`th frame that has a right answer among the earlier lives."""
    maps, lives, poses = np.array(seen.maps), np.array(seen.lives), np.array(seen.poses)
    candidates = np.arange(0, len(maps), QUERY_EVERY)
    same = maps[candidates, None] == maps
    earlier = same & (lives < lives[candidates, None])
    away = np.sqrt(((poses[candidates, None, :3] - poses[:, :3]) ** 2).sum(axis=2))
    turned = np.abs((poses[candidates, None, 3] - poses[:, 3] + 180) % 360 - 180)
    right = earlier & (away <= NEAR) & (turned <= TURN)
    near = earlier & (away <= 2 * NEAR) & (turned <= 2 * TURN)
    has = right.any(axis=1)
    return Asked(candidates[has], right[has], near[has], earlier[has], (earlier | ~same)[has])


def thumbnail(frame: Frame) -> Numbers:
    """24x18 RGB, as one vector."""
    return np.asarray(Image.fromarray(frame).resize((24, 18)), np.float32).ravel()


def difference_hash(frame: Frame) -> Numbers:
    """64 signs: is each pixel of 9x8 grey ones darker than its right neighbour?"""
    grey = np.asarray(Image.fromarray(frame).convert("L").resize((9, 8)), np.int16)
    return np.where(grey[:, 1:] > grey[:, :-1], 1, -1).astype(np.float32).ravel()


def cosine(rows: Sequence[Numbers], queries: Numbers) -> Numbers:
    """Of the frames with these indices to all."""
    stored = np.stack(rows)
    stored = stored / np.maximum(np.linalg.norm(stored, axis=1, keepdims=True), 1e-9)
    found: Numbers = stored[queries] @ stored.T
    return found


def centred(rows: Sequence[Numbers]) -> list[Numbers]:
    """Each less its own mean: a fairer cosine."""
    return [row - row.mean() for row in rows]


def recall(described: Sequence[bytes], looked_for: Sequence[list[bytes]], queries: Numbers) -> Numbers:
    """Similarity of each query's views to all frames."""
    stored = np.frombuffer(b"".join(described), np.uint8).reshape(-1, places.LENGTH)
    return np.stack([places.similarity(looked_for[query], stored) for query in queries])


def first(scores: Numbers, pool: Flags) -> NDArray[np.int64]:
    """Index of the best frame of the pool, per query."""
    best: NDArray[np.int64] = np.where(pool, scores, -9.0).argmax(axis=1)
    return best


def hits(chosen: NDArray[np.int64], right: Flags) -> Flags:
    """Is the frame chosen for each query among the right ones?"""
    return np.take_along_axis(right, chosen[:, None], axis=1)[:, 0]


def separation(scores: Numbers, pool: Flags, correct: Flags) -> float:
    """How well the score alone tells a right first frame from a wrong one: area under the ROC curve."""
    best = np.where(pool, scores, -9.0).max(axis=1)
    above = (best[correct][:, None] > best[~correct]).mean() + 0.5 * (best[correct][:, None] == best[~correct]).mean()
    return float(above)


def tune(seed: int) -> list[dict[str, Any]]:
    """Right first on the tuning maps, per variant of the sweep."""
    print("tuning maps", file=sys.stderr)
    seen = collect(TUNING, {"frame": reduce, "thumbnail": thumbnail}, seed)
    asked = ask(seen)
    rows = [("cosine of 24x18 thumbnails", 1296, cosine(seen.kept["thumbnail"], asked.queries))]
    swept = []
    for name, length, scores in rows:
        swept.append(_swept(name, length, scores, asked))
    for variant in VARIANTS:
        scores = similarities(variant, seen.kept["frame"], asked.queries)
        swept.append(_swept(str(variant), variant.length, scores, asked))
        print(f"  {swept[-1]['right_first']:.3f}  {variant}", file=sys.stderr, flush=True)
    return swept


def _swept(name: str, length: int, scores: Numbers, asked: Asked) -> dict[str, Any]:
    correct = hits(first(scores, asked.earlier), asked.right)
    return {"setting": name, "bytes": length, "queries": len(correct), "right_first": round(float(correct.mean()), 4)}


def held_out(seed: int) -> dict[str, Any]:
    """Every method on the held-out maps: which queries it answers right, in both pools."""
    print("held-out maps", file=sys.stderr)
    keep = {"hash": difference_hash, "thumbnail": thumbnail, "place": places.describe, "views": places.views}
    seen = collect(HELD_OUT, keep, seed)
    asked = ask(seen)
    queries = asked.queries
    kept = seen.kept
    scores = {
        "dHash, 64 bits": cosine(kept["hash"], queries),
        "cosine of 24x18 thumbnails": cosine(kept["thumbnail"], queries),
        "the same, less their mean": cosine(centred(kept["thumbnail"]), queries),
        f"{places.VERSION}, one view": recall(kept["place"], [[row] for row in kept["place"]], queries),
        places.VERSION: recall(kept["place"], kept["views"], queries),
    }
    rows = []
    for pool_name, pool in (("earlier lives of the map", asked.earlier), ("and all other maps", asked.anywhere)):
        baseline = hits(first(scores["cosine of 24x18 thumbnails"], pool), asked.right)
        for name, found in scores.items():
            chosen = first(found, pool)
            correct = hits(chosen, asked.right)
            row = {"method": name, "pool": pool_name, **_compared(correct, baseline, np.array(seen.maps)[queries])}
            row["within_96_units_50_degrees"] = float(hits(chosen, asked.near).mean())
            row["separation"] = separation(found, pool, correct)
            row["hits"] = "".join("01"[int(flag)] for flag in correct)
            rows.append(row)
    names = ["/".join(HELD_OUT[seen.maps[query]]) for query in queries]
    asked_rows = [[name, seen.lives[q], seen.tics[q]] for name, q in zip(names, queries.tolist(), strict=True)]
    return {"frames": len(seen.maps), "queries": asked_rows, "rows": rows}


def _compared(correct: Flags, baseline: Flags, maps: Numbers) -> dict[str, Any]:
    count = len(correct)
    interval = binomtest(int(correct.sum()), count).proportion_ci(method="wilson")
    won, lost = int((correct & ~baseline).sum()), int((~correct & baseline).sum())
    ahead = [np.sign(correct[maps == number].mean() - baseline[maps == number].mean()) for number in np.unique(maps)]
    up, down = ahead.count(1.0), ahead.count(-1.0)
    return {
        "right_first": float(correct.mean()),
        "wilson_95": [float(interval.low), float(interval.high)],
        "won": won,
        "lost": lost,
        "mcnemar_p": float(binomtest(won, won + lost).pvalue) if won + lost else 1.0,
        "maps_ahead": up,
        "maps_behind": down,
        "sign_test_p": float(binomtest(up, up + down).pvalue) if up + down else 1.0,
    }


def timings() -> dict[str, dict[str, float]]:
    """Bytes, CPU ms to describe a 640x360 frame, and ms to rank 100,000 descriptors, of each method."""
    game = open_game("freedoom2")
    frames = [sight.frame for sight in live(game, "MAP01", seed=1, frames=60)]
    game.close()
    many = 100_000
    thumbnails = np.tile(np.stack([thumbnail(frame) for frame in frames]).astype(np.uint8), (many // 60 + 1, 1))[:many]
    signs = np.random.default_rng(0).integers(0, 2**63, many, np.uint64)
    stored = np.tile(
        np.frombuffer(b"".join(map(places.describe, frames)), np.uint8).reshape(-1, places.LENGTH), (many // 60 + 1, 1)
    )[:many]
    looked_for = places.views(frames[0])
    return {
        "dHash, 64 bits": _timed(8, difference_hash, frames, lambda: np.bitwise_count(signs ^ signs[0])),
        "cosine of 24x18 thumbnails": _timed(1296, thumbnail, frames, lambda: _cosine_ranked(thumbnails)),
        f"{places.VERSION}, one view": _timed(
            places.LENGTH, places.describe, frames, lambda: places.similarity(looked_for[0], stored)
        ),
        places.VERSION: _timed(places.LENGTH, places.describe, frames, lambda: places.similarity(looked_for, stored)),
    }


def _cosine_ranked(stored: Frame) -> Numbers:
    wanted = stored[0].astype(np.float32)
    parts = []
    for start in range(0, len(stored), 8192):
        block = stored[start : start + 8192].astype(np.float32)
        parts.append(block @ wanted / np.sqrt(np.einsum("nd,nd->n", block, block)))
    return np.concatenate(parts)


def _timed(
    size: int, describe: Callable[[Frame], Any], frames: list[Frame], rank: Callable[[], Any]
) -> dict[str, float]:
    describe(frames[0])
    began = time.process_time()
    for frame in frames:
        describe(frame)
    each = (time.process_time() - began) / len(frames)
    passes = []
    for _ in range(5):
        started = time.perf_counter()
        rank()
        passes.append(time.perf_counter() - started)
    return {"bytes": size, "cpu_ms_per_frame": each * 1e3, "ms_per_query_of_100000": min(passes) * 1e3}


def table(result: dict[str, Any]) -> str:
    """The Markdown that is printed and quoted."""
    lines = [
        (
            f"{len(result['held_out']['queries'])} queries from {len(HELD_OUT)} held-out maps, "
            f"{result['held_out']['frames']} frames; right: within {NEAR:g} units and {TURN:g} degrees."
        ),
        "",
        (
            "| to choose from | method | right first | 95 % (Wilson) | won / lost, McNemar p | maps ahead / behind, p "
            "| nearby¹ | AUC² | bytes | CPU ms/frame | ms/query of 1e5 |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in result["held_out"]["rows"]:
        low, high = row["wilson_95"]
        cost = result["timings"].get(row["method"])
        costs = (
            f"{cost['bytes']} | {cost['cpu_ms_per_frame']:.1f} | {cost['ms_per_query_of_100000']:.0f}"
            if cost
            else "  |  | "
        )
        lines.append(
            f"| {row['pool']} | {row['method']} | {row['right_first']:.1%} | {low:.1%} to {high:.1%} "
            f"| {row['won']} / {row['lost']}, {row['mcnemar_p']:.1e} "
            f"| {row['maps_ahead']} / {row['maps_behind']}, {row['sign_test_p']:.1e} "
            f"| {row['within_96_units_50_degrees']:.1%} | {row['separation']:.2f} | {costs} |"
        )
    lines += [
        "",
        "¹ within 96 units and 50 degrees. ² how well the score alone tells a right first frame from a wrong one.",
        "Won and lost are against the cosine of 24x18 thumbnails, query by query; maps by their share of right ones.",
        "",
        f"Sweep on the {len(TUNING)} tuning maps:",
        "",
        "| setting | bytes | right first |",
        "| --- | --- | --- |",
        *(f"| {row['setting']} | {row['bytes']} | {row['right_first']:.1%} |" for row in result["tuning"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs it all, prints the table and writes the raw results."""
    began = time.perf_counter()
    result: dict[str, Any] = {
        "tuning_maps": ["/".join(name) for name in TUNING],
        "held_out_maps": ["/".join(name) for name in HELD_OUT],
        "lives": LIVES,
        "frames_per_life": FRAMES,
        "timings": timings(),
        "tuning": [] if "--held-out" in sys.argv else tune(seed=10_000),
    }
    if "--tuning" in sys.argv:
        return
    result["held_out"] = held_out(seed=50_000)
    result["seconds"] = round(time.perf_counter() - began)
    text = table(result)
    print(text)
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, "places.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    with open(os.path.join(RESULTS, "places.md"), "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
