"""The report of an experiment in Markdown: per task and model, methods beside each other.

A scripted player is called scripted wherever its results stand, and a paper's figure is marked as the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from scrubjay.experiments.comparing import Comparison, compare, reference_of
from scrubjay.experiments.inspecting import WITHIN
from scrubjay.experiments.plan import Published
from scrubjay.experiments.results import MEASURES, Measure, group, steps_to
from scrubjay.memory.jsonio import Json
from scrubjay.statistics import binomial_test, fisher, mean_std

__all__ = ["report", "table"]

Runs = Mapping[str, Mapping[int, Json]]
# The measures of each table, and which of the MFM paper's it follows.
_TABLES = (
    ("Tasks, by their evaluator", ("reward", "reward of doing nothing")),
    (
        "Milestones (Tables 2 and 3)",
        (
            "milestones", "steps to a milestone", "reached the goal, %", "steps to the goal", "deaths", "tables again",
            "lost, % of steps", "lost, % of out of view",
        ),
    ),
    (
        "Skill reuse (Table 5)",
        (
            "procedures written", "procedure calls", "procedure calls that succeeded", "procedures reused",
            "procedures reused later",
        ),
    ),
    (
        "Cost (Table 9)",
        (
            "turns", "steps per turn", "requests per turn", "tokens in per turn", "tokens out per turn",
            "images per turn", "model seconds per turn", "inspections", "consolidations", "cost, $", "CPU seconds",
        ),
    ),
)  # fmt: skip


def report(results: Sequence[Json], title: str, published: Iterable[Published] = ()) -> str:
    """The whole report."""
    parts = [f"# {title}", _head(results)]
    for (task, model), methods in group(results).items():
        parts += _section(task, model, methods)
    shown = tuple(published)
    if shown:
        heads = ("method", "measure", "the paper's figure (not ours)", "source")
        parts += ["## Figures of papers", table(heads, [(p.method, p.measure, p.value, p.source) for p in shown])]
    return "\n\n".join(parts) + "\n"


def _head(results: Sequence[Json]) -> str:
    seconds = sum(result["cpu_seconds"] for result in results)
    return (
        f"{len(results)} runs, {sum(result['steps'] for result in results)} environment steps, {seconds / 60:.0f} "
        "minutes of CPU. Steps are counted through all lives of a run. ± is the standard deviation over seeds."
    )


def _section(task: str, model: str, methods: Runs) -> list[str]:
    runs = [result for by_seed in methods.values() for result in by_seed.values()]
    first = runs[0]
    seeds = sorted({result["trial"]["seed"] for result in runs})
    who = "the scripted player (rules, no language model)" if first["model"]["is_scripted"] else first["model"]["name"]
    given = first["trial"]["task"]
    told = (
        f"Played by {who} in {first['trial']['environment']}, {given['steps']} steps a run, seeds "
        f"{', '.join(map(str, seeds))}. Told: “{given['text']}”"
    )
    if given["arguments"]:
        told += f" Environment: {', '.join(f'{key} = {value}' for key, value in given['arguments'].items())}."
    if given.get("goal"):
        told += f" The goal is {given['goal']}."
    parts = [f"## {task}, {'scripted' if first['model']['is_scripted'] else model}", told]
    for title, names in _TABLES:
        shown = _measures(methods, names)
        parts += [f"### {title}", shown] if shown else []
        if title.startswith("Tasks"):
            parts += _lives(methods)
    parts += _encoders(methods) + _comparisons(methods) + _ablations(methods)
    if first["known_milestones"]:
        parts += ["### Steps to each milestone", _milestones(methods)]
    returns = _returns(methods)
    if returns:
        parts += ["### Returns to what was seen far away", returns]
    looked = _inspections(methods)
    if looked:
        parts += ["### What looking back led to (A.4, Figure 16)", looked]
    parts += ["### Storage (Table 8)", _storage(methods)]
    return parts


def _measures(methods: Runs, names: Sequence[str]) -> str:
    """Mean ± standard deviation over seeds of these measures; nothing where no run has one of them."""
    rows, meant = [], []
    for measure in (one for one in MEASURES if one.name in names):
        cells = [_mean([measure.of(result) for result in by_seed.values()]) for by_seed in methods.values()]
        if any(cell != "–" for cell in cells):
            rows.append((measure.name, *cells))
            meant.append(f"**{measure.name}**: {measure.what}")
    if not rows:
        return ""
    counts = tuple(str(len(by_seed)) for by_seed in methods.values())
    return f"{table(('mean ± std', *methods), [*rows, ('runs', *counts)])}\n\n{'; '.join(meant)}."


def _lives(methods: Runs) -> list[str]:
    """What the evaluator said of each life, where it did: reward and steps of every method, by task."""
    found: dict[tuple[str, float | None], dict[str, list[Json]]] = {}
    for method, by_seed in methods.items():
        for result in by_seed.values():
            for row in result["scores"].get("tasks") or ():
                found.setdefault((str(row["task"]), row["floor"]), {}).setdefault(method, []).append(row)
    rows = [
        (task, _rounded(floor), *(_rewards(rows.get(method, [])) for method in methods))
        for (task, floor), rows in found.items()
    ]
    note = "Reward, and in parentheses steps, of each task; means over the lives at it. –: it could not be judged."
    return [table(("task", "doing nothing", *methods), rows), note] if rows else []


def _rewards(rows: Sequence[Json]) -> str:
    judged = [row for row in rows if row["score"] is not None]
    if not judged:
        return "–"
    steps = [row["steps"] for row in judged if row["steps"] is not None]
    return _rounded(fmean(row["score"] for row in judged)) + (f" ({fmean(steps):.3g})" if steps else "")


def _rounded(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _ablations(methods: Runs) -> list[str]:
    """What each ablation loses or gains against mfm, in the mean over the seeds that both have."""
    ablations = [name for name in methods if name.startswith("mfm-")]
    if "mfm" not in methods or not ablations:
        return []
    rows = []
    for measure in (one for one in MEASURES if one.is_tested):
        cells = [_lost(methods["mfm"], methods[name], measure) for name in ablations]
        if any(cell != "–" for cell in cells):
            rows.append((measure.name, *cells))
    note = "Ablation − mfm, mean ± std over the seeds that both have; 0 ± 0: the same in every one."
    return ["### Ablations (Table 4)", f"{table(('measure', *ablations), rows)}\n\n{note}"]


def _lost(whole: Mapping[int, Json], part: Mapping[int, Json], measure: Measure) -> str:
    pairs = [(measure.of(whole[seed]), measure.of(part[seed])) for seed in sorted(whole.keys() & part.keys())]
    return _mean([b - a for a, b in pairs if a is not None and b is not None])


def _encoders(methods: Runs) -> list[str]:
    """What the methods compared texts and frames by, where they did."""
    used = {method: next(iter(by_seed.values())).get("encoders") for method, by_seed in methods.items()}
    told = [f"{method} by {' and '.join(names)}" for method, names in used.items() if names]
    return [f"Likeness of texts and frames: {'; '.join(told)}. The other methods compare none."] if told else []


def _mean(values: Sequence[float | None]) -> str:
    found = [value for value in values if value is not None]
    return str(mean_std(found)) if found else "–"


def _comparisons(methods: Runs) -> list[str]:
    found = compare(methods) if len(methods) > 1 else []
    if not found:
        return []
    reference = reference_of(methods)
    text = (
        f"### Compared with {reference}, seed by seed\n\nMedian of the paired differences ({reference} − method), its "
        f"95% bootstrap interval, p of its permutation test; in how many seeds {reference} has more and less, p of the "
        f"sign test. Each p is also corrected (Holm) over the {len(found)} comparisons here. With so few pairs "
        "the permutation test of a median can't give a small p (0.06 at best with 8, 0.03 with 10)."
    )
    heads = (
        "measure", "method", "difference", "95% interval", "p", "corrected", "seeds more : less", "sign p", "corrected",
    )  # fmt: skip
    return [text, table(heads, [_compared(one) for one in found])]


def _compared(one: Comparison) -> tuple[str, ...]:
    result = one.medians
    interval = "–" if result.interval is None else f"{result.interval[0]:.3g} to {result.interval[1]:.3g}"
    difference = "–" if result.statistic is None else f"{result.statistic:.3g}"
    signs = f"{one.more} : {one.fewer} of {result.n}"
    return (
        one.measure, one.method, difference, interval, _p(result.p), _p(one.medians_corrected),
        signs, _p(one.signs.p), _p(one.signs_corrected),
    )  # fmt: skip


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _milestones(methods: Runs) -> str:
    """Median step over the runs that reached it, and how many did."""
    names = next(iter(next(iter(methods.values())).values()))["known_milestones"]
    rows = []
    for name in names:
        cells = []
        for by_seed in methods.values():
            steps = [step for result in by_seed.values() if (step := steps_to(result, name)) is not None]
            cells.append(f"{median(steps):.0f} ({len(steps)}/{len(by_seed)})" if steps else f"– (0/{len(by_seed)})")
        rows.append((name, *cells))
    return table(("median step (runs that reached it)", *methods), rows)


def _returns(methods: Runs) -> str:
    """How often, and how soon, a run got what it had seen 10 tiles away or more when it came to need it."""
    names = sorted(
        {name for runs in methods.values() for r in runs.values() for name in r["scores"].get("returns", {})}
    )
    rows = []
    for name in names:
        cells = []
        for by_seed in methods.values():
            found = [r["scores"]["returns"][name] for r in by_seed.values() if name in r["scores"].get("returns", {})]
            waits = [one["to"] - one["from"] for one in found if one["to"] is not None]
            middle = f", {median(waits):.0f} steps" if waits else ""
            cells.append(f"{len(waits)} of {len(found)}{middle}" if found else "–")
        rows.append((name, *cells))
    return table(("collected of cases, median", *methods), rows) if rows else ""


def _inspections(methods: Runs) -> str:
    """Pooled over the runs of a method: retargets with and without a look, recalls against chance, how far back."""
    rows = []
    for method, by_seed in methods.items():
        counts = [found for result in by_seed.values() if (found := result.get("inspection"))]
        if counts:
            rows.append((method, *_looked(counts)))
    if not rows:
        return ""
    heads = (
        "method", "retargets in turns with a look", "in turns without", "Fisher p", "recalls among the first",
        "chance", "binomial p", "steps back, median", "looks at earlier lives",
    )  # fmt: skip
    note = (
        "A turn retargets where its plan names a coordinate that the plan before did not; that is a recall where it "
        f"lies within {WITHIN:g} blocks of an episode looked at in this turn. Chance: the same number drawn of all "
        "episodes stored by then. Turns of several runs are pooled, as if they were independent."
    )
    return f"{table(heads, rows)}\n\n{note}"


def _looked(counts: Sequence[Json]) -> tuple[str, ...]:
    pooled = [[sum(one["table"][i][j] for one in counts) for j in (0, 1)] for i in (0, 1)]
    (both, looked), (without, neither) = pooled
    recalls, lags = sum(one["recalls"] for one in counts), [lag for one in counts for lag in one["lags"]]
    weighted = [(one["chance"], one["table"][0][0]) for one in counts if one["chance"] is not None]
    chance = sum(value * n for value, n in weighted) / sum(n for _, n in weighted) if weighted else None
    test = None if chance is None else binomial_test(recalls, both, chance, "greater").p
    return (
        f"{both} of {both + looked}",
        f"{without} of {without + neither}",
        _p(fisher(pooled).p),
        f"{recalls} of {both}",
        "–" if chance is None else f"{chance:.2f}",
        _p(test),
        f"{median(lags):.0f}" if lags else "–",
        str(sum(one["earlier"] for one in counts)),
    )


def _storage(methods: Runs) -> str:
    parts = list(
        dict.fromkeys(name for runs in methods.values() for r in runs.values() for name in r["storage"]["parts"])
    )
    whole = [str(mean_std([r["storage"]["bytes"] / 1e6 for r in by_seed.values()])) for by_seed in methods.values()]
    rows = [("all", *whole)]
    for name in parts:
        cells = []
        for by_seed in methods.values():
            sizes = [r["storage"]["parts"].get(name, {}).get("bytes", 0) / 1e6 for r in by_seed.values()]
            cells.append(str(mean_std(sizes)))
        rows.append((name, *cells))
    note = "All methods are recorded in full by the harness; what a method may recall of it is what differs."
    return f"{table(('MB', *methods), rows)}\n\n{note}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
