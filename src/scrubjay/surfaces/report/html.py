"""The report as one HTML text that needs nothing beside it: no script, no address, pictures and style inside.

It knows words and order. Whatever comes from a memory is escaped as it is put in.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from statistics import mean, median

from scrubjay.memory.jsonio import Json
from scrubjay.surfaces.cli.plain import plain
from scrubjay.surfaces.evaluated import step_of, words
from scrubjay.surfaces.report.charts import Bar, Line, bars, land_map, rising, spans
from scrubjay.surfaces.report.facts import Cited, Facts, LifeFacts

__all__ = ["report"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_MOST_BARS = 14
_MOST_NOTED = 200
_PARTS = {
    "episodes": "episode records", "states": "step states and actions", "frames": "frames (start, end, between)",
    "index": "index rows (cues)", "grid": "cell events (spatial grid)", "lives": "lives: begun episodes, turns, logs",
    "documents": "documents of the agent and history", "inspections": "questions asked of evidence",
    "adapters": "adapters", "cache": "cache (can be deleted)",
}  # fmt: skip


def report(facts: Facts, made: str) -> str:
    """The page. `made` says when and by what."""
    style = files("scrubjay.surfaces.report").joinpath("report.css").read_text()
    sections = (_head, _milestones, _evaluated, _actions, _lag, _map, _most_cited, _storage)
    body = "\n".join(part for section in sections for part in section(facts))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(facts.name)} · a report</title><style>\n{style}</style></head>\n"
        f"<body><main>\n{body}\n<footer>{_text(made)}</footer></main></body></html>\n"
    )


def _text(value: object) -> str:
    return escape(plain(str(value)), quote=True)


def _count(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _head(facts: Facts) -> Iterator[str]:
    yield f'<h1>{_text(facts.name)}</h1><p class="lede">What an agent\'s memory holds, counted from its files.</p>'
    numbers = (
        (_count(len(facts.lives) + facts.lives_beyond), "lives"),
        (_count(facts.episodes), "episodes"),
        (_count(facts.contents.steps), "steps"),
        (_count(facts.documents), "documents"),
        (_size(facts.contents.bytes), "on disk"),
    )
    yield f'<ul class="numbers">{"".join(f"<li><b>{number}</b>{name}</li>" for number, name in numbers)}</ul>'
    scripted = [life for life in facts.lives if life.is_scripted]
    if scripted:
        which = "All lives were" if len(scripted) == len(facts.lives) else f"{len(scripted)} of the lives were"
        yield (
            f'<p class="scripted"><b>Scripted.</b> {which} played by a scripted player: a program of rules, no '
            "language model. What it reached says what a memory records, not what a model can do.</p>"
        )
    if not facts.lives:
        yield "<p>Nothing is recorded in this memory yet.</p>"
        return
    if facts.lives_beyond:
        before = f"{_count(facts.lives_beyond)} lie before"
        yield f'<p class="note">The newest {len(facts.lives)} lives are shown; {before}.</p>'
    yield from _lives(facts.lives)


def _lives(lives: Sequence[LifeFacts]) -> Iterator[str]:
    rows = "".join(
        f'<tr><th scope="row">Life {life.row.life}{_about(life)}</th><td>{_count(life.episodes)}</td>'
        f"<td>{_count(life.steps)}</td><td>{_count(len(life.reached))}</td><td>{_text(_outcome(life))}</td></tr>"
        for life in lives
    )
    head = "<th>life</th><th>episodes</th><th>steps</th><th>milestones</th><th>ended</th>"
    yield f'<div class="panel"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _about(life: LifeFacts) -> str:
    said = [life.row.world or "", f"method {life.row.method}" if life.row.method else "", life.row.model or ""]
    text = ", ".join(part for part in said if part)
    return f' <span class="note">{_text(text)}</span>' if text else ""


def _outcome(life: LifeFacts) -> str:
    return life.row.outcome or ("ended" if life.row.ended is not None else "not ended")


def _milestones(facts: Facts) -> Iterator[str]:
    yield "<h2>Milestones over steps</h2>"
    if not any(life.reached for life in facts.lives):
        yield '<p class="note">No milestone is recorded: no state named any as reached.</p>'
        return
    lines = [
        Line(
            f"life {life.row.life}{' (scripted)' if life.is_scripted else ''}",
            sorted((max(0, step - life.first_step), plain(name)) for step, name in life.reached),
            life.steps,
            life.died,
        )
        for life in facts.lives
        if life.episodes
    ]
    yield '<p class="note">Each life from its own first step; a cross is a death.</p>'
    yield f'<div class="panel">{rising(lines, "Milestones reached over steps, one line for each life")}</div>'
    rows = "".join(_reached(life.row.life, max(0, step - life.first_step), name) for life, step, name in _first(facts))
    head = "<thead><tr><th>milestone</th><th>step</th></tr></thead>"
    yield f"<details><summary>as a table</summary><table>{head}{rows}</table></details>"


def _first(facts: Facts) -> Iterator[tuple[LifeFacts, int, str]]:
    for life in facts.lives[-12:]:
        for step, name in life.reached[:60]:
            yield life, step, name


def _reached(life: int, step: int, name: str) -> str:
    return f'<tr><th scope="row">life {life}: {_text(name)}</th><td>{_count(step)}</td></tr>'


def _evaluated(facts: Facts) -> Iterator[str]:
    noted = [(life.row.life, row) for life in facts.lives for row in life.noted]
    if not noted:
        return
    yield "<h2>What the evaluator saw</h2>"
    beyond = f" {_count(len(noted) - _MOST_NOTED)} earlier rows have no room here." if len(noted) > _MOST_NOTED else ""
    yield f'<p class="note">Read from what was saved, not from what the agent saw; no agent is shown it.{beyond}</p>'
    rows = "".join(
        f'<tr><th scope="row">life {life}: {_text(words(row)[:2000])}</th><td>{_step(row)}</td></tr>'
        for life, row in noted[-_MOST_NOTED:]
    )
    head = "<thead><tr><th>noted</th><th>step</th></tr></thead>"
    yield f'<div class="panel"><table>{head}<tbody>{rows}</tbody></table></div>'


def _step(row: Json) -> str:
    step = step_of(row)
    return "–" if step is None else _count(step)


def _actions(facts: Facts) -> Iterator[str]:
    yield "<h2>Actions per turn</h2>"
    turns = [count for life in facts.lives for count in life.turns]
    if not turns:
        yield '<p class="note">No turn is recorded: nothing planned here, or the recorder kept no turns.</p>'
        return
    yield (
        f"<p>{_count(len(turns))} turns, {_count(sum(turns))} episodes in them: {mean(turns):.1f} a turn on average, "
        f"median {median(turns):g}, most {_count(max(turns))}.{_scripted(facts)}</p>"
    )
    drawing = bars(_single(turns), "Turns by their number of actions", "turns, by their number of actions")
    yield f'<div class="panel">{drawing}</div>'


def _scripted(facts: Facts) -> str:
    return " These turns are the scripted player's." if all(life.is_scripted for life in facts.lives) else ""


def _single(values: Sequence[int]) -> list[Bar]:
    """A bar for each number; doubling spans where there are many."""
    if max(values) - min(values) >= _MOST_BARS:
        return spans(values)
    return [Bar(str(value), values.count(value)) for value in range(min(values), max(values) + 1)]


def _lag(facts: Facts) -> Iterator[str]:
    looks = facts.looks
    yield "<h2>Retrieval lag</h2>"
    kept = f" {_count(looks.questions)} questions asked of evidence are kept." if looks.questions else ""
    if not looks.lags and not looks.earlier:
        all_scripted = bool(facts.lives) and all(life.is_scripted for life in facts.lives)
        why = " The scripted player looks at no evidence." if all_scripted else ""
        yield f'<p class="note">No turn looked at an earlier episode.{why}{kept}</p>'
        return
    middle = "none in the same life"
    if looks.lags:
        middle = f"median {median(looks.lags):g} steps, most {_count(max(looks.lags))}"
    yield (
        f"<p>How many steps lie between the end of an episode and the turn that looked at it: {middle}. "
        f"{_count(looks.turns)} turns looked; {_count(looks.earlier)} looks went to earlier lives.{kept}</p>"
    )
    if looks.lags:
        drawing = bars(
            spans(looks.lags),
            "Looks by their lag in steps",
            "looks, by the steps between, each bar from its number to the next",
        )
        yield f'<div class="panel">{drawing}</div>'


def _map(facts: Facts) -> Iterator[str]:
    yield "<h2>Map</h2>"
    if not facts.worlds:
        yield '<p class="note">The grid is empty: no episode with a position is recorded.</p>'
        return
    kinds = dict.fromkeys(kind for world in facts.worlds for kind in world.land.kinds)
    legend = "".join(f'<i class="{_text(kind)}"></i>{_text(kind)}' for kind in kinds)
    beyond = f" {_count(facts.worlds_beyond)} more worlds have a grid." if facts.worlds_beyond else ""
    yield f'<p class="note legend">{legend}.{beyond}</p>'
    figures = []
    for world in facts.worlds:
        drawing, block = land_map(world.land, f"Map of {plain(world.name)}")
        first, second = ("xyz"[axis] for axis in world.land.world.ground)
        scale = f", one square is {block} × {block} cells" if block > 1 else ""
        down = "up" if world.land.world.up == "z" else "down"
        size = f"{_count(len(world.land.layers[None]))} cells{scale}"
        told = f"{_text(world.name or 'no world')}: {size}; {first} to the right, {second} {down}"
        figures.append(f'<figure class="world panel">{drawing}<figcaption>{told}</figcaption></figure>')
    yield f'<div class="worlds{" single" if len(figures) == 1 else ""}">{"".join(figures)}</div>'


def _most_cited(facts: Facts) -> Iterator[str]:
    yield "<h2>Most-cited episodes</h2>"
    if not facts.cited:
        yield '<p class="note">No document cites an episode.</p>'
        return
    yield f'<ol class="cited">{"".join(map(_one_cited, facts.cited))}</ol>'


def _one_cited(one: Cited) -> str:
    row = one.row
    picture = '<div class="none"></div>'
    if one.picture is not None:
        data = base64.b64encode(one.picture.data).decode()
        picture = f'<img alt="" src="data:{_text(one.picture.media_type)};base64,{data}">'
    where = ", ".join(one.paths[:3]) + (f" and {len(one.paths) - 3} more" if len(one.paths) > 3 else "")
    return (
        f"<li>{picture}<div><code>{_text(row.id)}</code> <b>{_text(row.action_kind or row.kind)}</b>"
        f"<span>{_text(row.summary.removeprefix('[ACTION] ')[:160])}</span>"
        f"<span>cited in {_count(one.count)} lines of {_text(where)}</span></div></li>"
    )


def _storage(facts: Facts) -> Iterator[str]:
    found = facts.contents
    yield "<h2>Storage</h2>"
    yield '<p class="note">As in the storage table (Table 8) of the MFM paper. A hard link counts once.</p>'
    rows = []
    for part in found.parts:
        each = _size(part.bytes / found.steps) if found.steps else "–"
        cells = f"<td>{_count(part.count)}</td><td>{_count(part.files)}</td><td>{_size(part.bytes)}</td><td>{each}</td>"
        rows.append(f'<tr><th scope="row">{_text(_PARTS.get(part.name, part.name))}</th>{cells}</tr>')
    whole = _size(found.bytes / found.steps) if found.steps else "–"
    cells = f"<td></td><td></td><td>{_size(found.bytes)}</td><td>{whole}</td>"
    rows.append(f'<tr class="sum"><th scope="row">in all, without the cache</th>{cells}</tr>')
    head = "<th>part</th><th>count</th><th>files</th><th>bytes</th><th>bytes a step</th>"
    yield f'<div class="panel"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    for name, counter in (("actions", found.actions), ("tags", found.tags), ("outcomes", found.outcomes)):
        shown = ", ".join(
            f"{_text(key if key != '-' else '(none)')} {_count(count)}" for key, count in counter.most_common(12)
        )
        more = f", {_count(len(counter) - 12)} more" if len(counter) > 12 else ""
        yield f'<p class="note"><b>{name}</b> {shown or "–"}{more}</p>'
