"""The tables of the parametric tier, from the raw results beside them, in Markdown."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scrubjay.statistics import mcnemar, wilson

Json = dict[str, Any]
Key = tuple[Any, ...]
_LIVES = (
    "Lives of 250 steps in worlds that no adapter was trained on, each in a copy of the memory as it was after the "
    "cycles: `fast` has the fast tier before the teacher, `slow alone` the teacher only."
)


def rows(folder: str, name: str) -> list[Json]:
    """The rows of a part; none where it was not run."""
    try:
        with open(os.path.join(folder, f"{name}.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def report(folder: str) -> str:
    """Every table for which there are results; it is also written beside them."""
    learned = rows(folder, "tiny") + rows(folder, "smollm2")
    choosing = rows(folder, "choosing")
    parts = [
        "# The parametric tier: results",
        "No figure here is the paper's. Records of selection and triggers are made by rules; players are scripted.",
        *_objectives(_of(learned, "objectives")),
        *_control(_of(learned, "control")),
        *_retention(_of(learned, "retention")),
        *_selection(choosing),
        *_triggers(choosing),
        *_numbers(rows(folder, "numbers")),
        *_paths(rows(folder, "paths")),
        *_visual(rows(folder, "visual")),
        *_suite(rows(folder, "suite")),
        *_live(folder),
    ]
    text = "\n\n".join(parts) + "\n"
    with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as file:
        file.write(text)
    return text


def _of(found: Iterable[Json], part: str) -> list[Json]:
    return [row for row in found if row["part"] == part]


def _grouped(found: Iterable[Json], key: Callable[[Json], Key]) -> dict[Key, list[Json]]:
    groups: dict[Key, list[Json]] = {}
    for row in found:
        groups.setdefault(key(row), []).append(row)
    return groups


def _table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    body = [f"| {' | '.join(map(str, line))} |" for line in lines]
    return "\n".join([f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *body])


def _each(found: list[Json], key: str) -> str:
    return ", ".join(str(row[key]) for row in found)


def _margins(found: list[Json]) -> str:
    return ", ".join(f"{row['margin_held_out']:.1f}" for row in found)


def _objectives(found: list[Json]) -> list[str]:
    if not found:
        return []
    groups = _grouped(found, lambda row: (row["base"], row["objective"]))
    lines = [
        (base, objective, each[0]["n"], _each(each, "form"), _each(each, "done"), _margins(each))
        for (base, objective), each in groups.items()
    ]
    head = ("base", "objective", "held out", "in the form that is read", "done in the sandbox", "margin, held out")
    return ["## Objectives", "One category, craft, from a fresh adapter; a value for each seed.", _table(head, lines)]


def _control(found: list[Json]) -> list[str]:
    if not found:
        return []
    groups = _grouped(found, lambda row: (row["base"], row["objective"], row["rate"]))
    lines = [
        (base, objective, f"{rate:g}" if objective != "none" else "", _each(each, "form"), _each(each, "done"),
         _margins(each))
        for (base, objective, rate), each in groups.items()
    ]  # fmt: skip
    told = "The control: the adapter writes the form already; then a second cycle of 60 steps on other tasks."
    head = ("base", "second cycle", "rate", "in the form that is read", "done", "margin, held out")
    return [told, _table(head, lines)]


def _retention(found: list[Json]) -> list[str]:
    if not found:
        return []
    last = [row for row in found if row["after"] == "combat"]
    own = [row for row in found if row["after"] == row["asked"]]
    groups = _grouped(last, lambda row: (row["base"], row["kind"], row["strength"]))
    lines = []
    for (base, kind, strength), each in sorted(groups.items(), key=lambda one: _rank(one[0])):
        learned = [r for r in own if (r["base"], r["kind"], r["strength"]) == (base, kind, strength)]
        cells = []
        for category in ("craft", "gather", "combat"):
            then = _each([r for r in learned if r["asked"] == category], "done")
            now = _each([r for r in each if r["asked"] == category], "done")
            cells.append(f"{then} → {now}" if category != "combat" else now)
        lines.append((base, f"{kind} {strength:g}" if kind == "EWC" else kind, each[0]["n"], *cells))
    told = "Done when learned → after craft, gather and combat were learned in this order; a value for each seed."
    return ["## Retention", told, _table(("base", "learner", "held out", "craft", "gather", "combat"), lines)]


def _rank(group: Key) -> Key:
    """Of a learner: bases in the order of their size, then kinds, then the strength of EWC."""
    base, kind, strength = group
    return (not base.startswith("tiny"), ("isolated", "shared", "naive", "EWC").index(kind), strength or 0.0)


def _selection(found: list[Json]) -> list[str]:
    chosen = _of(found, "selection")
    if not chosen:
        return []
    groups = _grouped(chosen, lambda row: (row["rule"],))
    slices = list(dict.fromkeys(row["slice"] for row in chosen))
    lines = []
    for (rule,), each in groups.items():
        cells = []
        for one in slices:
            values = [row["saved"] for row in each if row["slice"] == one]
            cells.append(f"{statistics.fmean(values):,.0f} ± {statistics.stdev(values):,.0f}")
        lines.append((rule, *cells))
    n = len(groups[("PV",)]) // len(slices)
    told = (
        f"Characters of code that ten skills chosen from the first half of calls save in the second; {n} seeds, ± SD."
    )
    weights = [f"{row['place']}: {row['weights']} saves {row['saved']:,}" for row in _of(found, "weights")]
    overlap = _grouped(_of(found, "overlap"), lambda row: tuple(row["between"]))
    mean = [f"{a} and {b} {statistics.fmean(r['jaccard'] for r in each):.2f}" for (a, b), each in overlap.items()]
    return [
        "## Selection", told, _table(("rule", *slices), lines),
        "Grid search of the weights (cost, stability, redundancy, forgetting), other seeds: " + "; ".join(weights),
        "Jaccard of the ten worthiest between slices of the same skills, mean: " + "; ".join(mean) + ".",
    ]  # fmt: skip


def _triggers(found: list[Json]) -> list[str]:
    false, late, used = (_of(found, part) for part in ("false fires", "delay", "slices"))
    if not false:
        return []
    names = list(dict.fromkeys(row["trigger"] for row in false))

    def one(name: str, row: Json) -> str:
        return next(
            f"{r['fired'] / r['n']:.1%}" for r in false if (r["trigger"], r["failing"]) == (name, row["failing"])
        )

    rates = [row for row in false if row["trigger"] == names[0]]
    first = [(name, *(one(name, row) for row in rates)) for name in names]
    changes = list(dict.fromkeys((row["from"], row["to"]) for row in late))
    second = []
    for name in names:
        cells = []
        for change in changes:
            row = next(r for r in late if (r["trigger"], r["from"], r["to"]) == (name, *change))
            delay = "" if row["median_delay"] is None else f", after {row['median_delay']:g}"
            cells.append(f"{row['found'] / row['n']:.0%}{delay}")
        second.append((name, *cells))
    groups = _grouped(used, lambda row: (row["slice"], row["trigger"]))
    third = [
        (one_slice, name, *(round(statistics.fmean(r[key] for r in each)) for key in ("updates", "useful", "failures")))
        for (one_slice, name), each in groups.items()
    ]
    return [
        "## Trigger",
        f"Nothing changes, {false[0]['length']} executions, asked after each: series with at least one fire.",
        _table(("trigger", *(f"failing {row['failing']}" for row in rates)), first),
        "Failures rise after 50 executions, or are many from the start: series found in the next 100, median delay.",
        _table(("trigger", *(f"{a if a is not None else 'start'} → {b}" for a, b in changes)), second),
        "In use: 60 skills, half of them break halfway, an update mends; means of three seeds of 8,000 executions.",
        _table(("slice", "trigger", "updates", "of broken skills", "failures suffered"), third),
    ]


def _numbers(found: list[Json]) -> list[str]:
    if not found:
        return []
    lines = [(row["what"], f"{row['cpu_s']:.1f}", row.get("peak_gib", "")) for row in found]
    return ["## Cost, one thread", _table(("what", "CPU-s", "peak, GiB"), lines)]


def _visual(found: list[Json]) -> list[str]:
    if not found:
        return []
    lines = [(row["weight"], f"{row['hits']} of {row['n']}") for row in found]
    told = "The success recalled by the present state's words and frame has the code of the one that came: top 1."
    return ["## Weight of visual retrieval", told, _table(("weight of the frame", "right"), lines)]


def _paths(found: list[Json]) -> list[str]:
    if not found:
        return []
    lines = [
        (row["path"], f"{row['form']} / {row['done']} of {row['n']}",
         f"{row['first_form']} / {row['first_done']} of {row['n']}",
         f"{row['prompt_tokens']:g}", f"{row['new_tokens']:g}", row["seconds"])
        for row in found
    ]  # fmt: skip
    told = (
        "In the form that is read / done in the sandbox; and the same where only the first function of a text counts. "
        "Retrieval puts the likest successes before the bare base."
    )
    head = ("path", "form / done", "first function", "prompt tokens, median", "new tokens", "seconds, one thread")
    return ["## The fast path against retrieval, SmolLM2-135M", told, _table(head, lines)]


def _suite(found: list[Json]) -> list[str]:
    if not found:
        return []
    groups = _grouped(found, lambda row: (row["memory"], row["method"]))
    control = groups.get(("fresh", "mfm"), [])
    lines = []
    for (memory, method), each in sorted(groups.items(), key=lambda one: one[0][0] == "taught"):
        done = sum(row["success"] for row in each)
        low, high = wilson(done, len(each)).interval or (0.0, 0.0)
        against = groups.get(("taught", "mfm"), control) if memory == "taught" else control
        by_task = {(r["seed"], r["task"]): r["success"] for r in against}
        ours = sum(r["success"] and not by_task.get((r["seed"], r["task"]), False) for r in each)
        theirs = sum(by_task.get((r["seed"], r["task"]), False) and not r["success"] for r in each)
        p = mcnemar(ours, theirs).p
        lives = _grouped(each, lambda row: (row["seed"],))
        fast = sum(one[0]["fast_turns"] for one in lives.values()) / max(1, sum(o[0]["turns"] for o in lives.values()))
        seconds = [one[0]["latency_s"] for one in lives.values() if one[0]["latency_s"] is not None]
        lines.append(
            (f"{method}, {memory} memory", f"{done} of {len(each)}", f"{low:.2f} to {high:.2f}",
             "" if each is against else f"{p:.2g}", f"{fast:.0%}",
             f"{statistics.median(seconds):.2f}" if seconds else "",
             round(sum(one[0]["tokens"] for one in lives.values()) / len(each)))
        )  # fmt: skip
    head = ("method", "success", "Wilson, 95 %", "McNemar p, against mfm", "turns on the fast path", "latency, s",
            "tokens per task")  # fmt: skip
    return ["## Eleven tasks in Crafter, 300 steps from empty hands, scripted player", _table(head, lines)]


def _live(folder: str) -> list[str]:
    path = os.path.join(folder, "live.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    cycles = [
        (one["category"], "yes" if one["was_due"] else "no", one["successes"], one["pairs"],
         f"{one['verified_before']} → {one['verified_after']} of {one['held_out']}",
         "kept" if one["kept"] else "rolled back", round(one["cpu_seconds"]))
        for one in found["cycles"]
    ]  # fmt: skip
    first = _grouped(found["triggers"], lambda row: (row["rule"], row["skill"]))
    fired = [(rule, skill, each[0]["life"], each[0]["why"]) for (rule, skill), each in sorted(first.items())]
    lives = [
        (which.replace("_", " "), row["seed"], row["milestones"], f"{row.get('share', 0):.0%}",
         f"{row['verified']} of {row['taken']}" if "taken" in row else "",
         f"{row['latency_s']:.2f}" if row.get("latency_s") is not None else "", row.get("tokens", 0))
        for which in ("fast", "slow_alone")
        for row in found[which]
    ]  # fmt: skip
    told = (
        f"Each rule was asked after each of {len(found['taught'])} lives with the teacher; the first life in which it "
        "found a skill due. A call counts as a success where its episodes show what it is for."
    )
    staged = "; ".join(f"{name} {n['successes']} successes, {n['pairs']} pairs" for name, n in found["staged"].items())
    return [
        "## Live in Crafter: the whole cycle",
        f"Slow model: {found['slow']} (rules, no language model). Fast policy: {found['base']}. Staged: {staged}.",
        told,
        _table(("rule", "skill", "life", "why"), fired),
        f"Cycles of all categories with eight successes or more; due: by `{found['rule']}`, in any life.",
        _table(("category", "due", "successes", "pairs", "verified", "update", "training, CPU-s"), cycles),
        _LIVES,
        _table(("tiers", "seed", "milestones", "turns on the fast path", "verified", "latency, s", "tokens"), lives),
    ]
