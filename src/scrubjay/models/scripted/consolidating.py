"""A consolidator of rules, without a language model: it counts, and says what the counts show.

Each claim begins with its subject, so that new evidence revises it. All counts are over the whole memory and never
over what is new alone: the same evidence, read twice, says the same.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scrubjay.memory.citations import citations, claims
from scrubjay.memory.records import Row, World
from scrubjay.models.consolidating import Evidence, Judge, Proposal, Update
from scrubjay.retrieval.query import ALL_LIVES, Query

__all__ = ["ScriptedConsolidator"]

_NOTES, _GUIDE = "notes.md", "GUIDE.md"
_TILE = 8  # cells along the edge of an area
_OFTEN = 3  # what happened less often says nothing
_FAILS_IN_A_ROW = 2
_REACHED = re.compile(r"\bmilestone \[([^\]]*)\]")
_CHANGED = re.compile(r"\binv (\{[^}]*\})")
_SUPERSEDED = re.compile(r"\(superseded by \[")


@dataclass(frozen=True, slots=True)
class _Known:
    """What the counts show of a subject. `why` is set where a claim of another `kind` no longer holds."""

    document: str
    subject: str
    facts: str
    rows: tuple[str, ...]
    kind: str = ""
    why: str = ""


class ScriptedConsolidator:
    """Milestones and what they took, areas that hurt, what had no effect, procedures that fail."""

    name = "scripted"

    def propose(self, evidence: Evidence, judge: Judge) -> Proposal:
        """An update for every subject that the new evidence touches, where the documents don't say it yet."""
        found = (known for rule in _RULES for known in rule(evidence))
        updates = (_update(evidence, known) for known in found)
        return Proposal(tuple(update for update in updates if update is not None))


def _update(evidence: Evidence, known: _Known) -> Update | None:
    claim = f"{known.subject}: {known.facts}"
    said = _standing(evidence.documents.get(known.document, ""), known.subject)
    if said is None:
        return None if known.why else Update(known.document, "add", claim, known.rows)
    facts = said[len(known.subject) + 2 :]
    if known.kind and not facts.startswith(known.kind):
        return Update(known.document, "supersede", claim, known.rows, said, known.why or "the last calls failed")
    if known.why or _without_citations(facts) == known.facts:
        return None
    return Update(known.document, "revise", claim, known.rows, said)


def _standing(text: str, subject: str) -> str | None:
    """The claim on a subject that stands."""
    for claim in claims(text):
        if claim.text.startswith(f"{subject}: ") and not _SUPERSEDED.search(claim.text):
            return claim.text
    return None


def _without_citations(text: str) -> str:
    found = citations(text)
    return text[: found[0].column - 2].strip() if found else text.removesuffix("(hypothesis)").strip()


# --- the rules


def _milestones(evidence: Evidence) -> Iterator[_Known]:
    """How often a milestone was reached, how soon, by what, and what it took."""
    names = dict.fromkeys(name for row in evidence.rows for name in _reached(row))
    rows = _all(evidence, "milestone", None) if names else ()
    for name in names:
        having = [row for row in rows if name in _reached(row)]
        if not having:
            continue
        soonest = min(having, key=lambda row: (math.inf if row.last_step is None else row.last_step, row.number))
        took = ", ".join(f"{_plain(item)} {-change:g}" for item, change in _changes(soonest).items() if change < 0)
        by = _plain(soonest.action_kind or "nothing")
        facts = f"reached {_times(len(having))}, soonest at step {soonest.last_step} of a life by {by}"
        cites = dict.fromkeys((soonest.id, having[-1].id))
        yield _Known(_GUIDE, f"Milestone {name}", facts + (f", which took {took}" if took else ""), tuple(cites))


def _reached(row: Row) -> list[str]:
    said = [event.removeprefix("milestone ") for event in row.events if event.startswith("milestone ")]
    found = _REACHED.search(row.summary) if "milestone" in row.tags else None
    named = re.findall(r"'([^']*)'", found[1]) if found else []
    return [name for name in dict.fromkeys((*said, *named)) if re.fullmatch(r"\w[\w .-]*", name)]


def _changes(row: Row) -> dict[str, float]:
    found = _CHANGED.search(row.summary)
    try:
        changes = ast.literal_eval(found[1]) if found else {}
    except (ValueError, SyntaxError):
        return {}
    return {str(item): change for item, change in changes.items() if isinstance(change, (int, float))}


def _harm(evidence: Evidence) -> Iterator[_Known]:
    """Areas in which health was lost or lives ended."""
    for (world, where), rows in _by_place(evidence, ("damage", "died")).items():
        deaths = sum("died" in row.tags for row in rows)
        hurt = sum("damage" in row.tags for row in rows)
        if deaths or hurt >= _OFTEN:
            told = [f"hurt {_times(hurt)}"] if hurt else []
            told += [f"died {_times(deaths)}"] if deaths else []
            shown = (*[row for row in rows if "died" in row.tags][-1:], rows[0], rows[-1])
            facts = f"{', '.join(told)}, mostly during {_commonest(rows)}"
            yield _Known(_NOTES, f"In {world}, {where}", facts, tuple(dict.fromkeys(row.id for row in shown)))


def _without_effect(evidence: Evidence) -> Iterator[_Known]:
    """Areas in which moving led nowhere."""
    for (world, where), rows in _by_place(evidence, ("stuck",)).items():
        if len(rows) >= _OFTEN:
            facts = f"{_times(len(rows))}, mostly {_commonest(rows)}"
            cites = tuple(dict.fromkeys((rows[0].id, rows[-1].id)))
            yield _Known(_NOTES, f"Moving without effect in {world}, {where}", facts, cites)


def _failures(evidence: Evidence) -> Iterator[_Known]:
    """Atoms and other actions whose outcome is a failure."""
    touched = dict.fromkeys((row.action_kind, row.world) for row in evidence.rows if row.outcome == "failure")
    for kind, world in touched:
        query = Query(action=kind, world=world, life=ALL_LIVES, limit=None)
        rows = evidence.recall.find(query).rows
        failed = [row for row in rows if row.outcome == "failure"]
        if kind is not None and len(failed) >= _OFTEN:
            facts = f"failed {_times(len(failed))} of {len(rows)}"
            cites = tuple(dict.fromkeys((failed[0].id, failed[-1].id)))
            yield _Known(_NOTES, f"Action {_plain(kind)} in {_plain(world or 'world')}", facts, cites)


def _procedures(evidence: Evidence) -> Iterator[_Known]:
    """Procedures whose last calls failed; what was said of one is superseded when it works again."""
    for name, all_calls in sorted(evidence.calls.items()):
        runs = [run for run in evidence.runs if run.procedure == name]
        subject, cited = f"Procedure {_plain(name)}", [ident for run in runs[-3:] for ident in run.episodes[-1:]]
        if all_calls.failures_in_a_row >= _FAILS_IN_A_ROW:
            told = f"fails, the last {all_calls.failures_in_a_row} of {all_calls.called} calls"
            error = _plain((all_calls.error or "").strip().rpartition("\n")[2])
            yield _Known(_GUIDE, subject, told + (f" with {error}" if error else ""), tuple(cited), "fails")
        elif runs and runs[-1].outcome == "success":
            told = f"works, {all_calls.succeeded} of {all_calls.called} calls succeeded"
            why = "it succeeded since"
            yield _Known(_GUIDE, subject, told, tuple(runs[-1].episodes[-1:]), "works", why)


_RULES: tuple[Callable[[Evidence], Iterator[_Known]], ...] = (
    _milestones,
    _harm,
    _without_effect,
    _failures,
    _procedures,
)


# --- what they share


def _all(evidence: Evidence, tag: str, world: str | None) -> tuple[Row, ...]:
    return tuple(evidence.recall.find(Query(tag=tag, world=world, life=ALL_LIVES, limit=None)).rows)


def _by_place(evidence: Evidence, tags: tuple[str, ...]) -> dict[tuple[str, str], list[Row]]:
    """All the episodes with one of these tags, in the places where new ones have it."""
    new = [row for row in evidence.rows if set(tags) & set(row.tags)]
    found: dict[tuple[str, str], list[Row]] = {}
    for place in dict.fromkeys(_place(evidence, row) for row in new):
        found[place] = []
    for world in dict.fromkeys(row.world for row in new):
        rows = {row.id: row for tag in tags for row in _all(evidence, tag, world)}
        for row in sorted(rows.values(), key=lambda row: row.number):
            if _place(evidence, row) in found:
                found[_place(evidence, row)].append(row)
    return {place: rows for place, rows in found.items() if rows}


def _place(evidence: Evidence, row: Row) -> tuple[str, str]:
    """World, and the area in which an episode ended: around the middle of a square, or by name."""
    name = _plain(row.world or "world")
    position = row.end or row.position
    if position is None:
        return name, f"at {_plain(row.place)}" if row.place else "anywhere"
    world = evidence.worlds.get(row.world or "") or World(name)
    edge = _TILE * world.cell
    middle = (math.floor(position[axis] / edge) * edge + edge / 2 for axis in world.ground)
    return name, f"within {edge / 2:g} of ({', '.join(f'{value:g}' for value in middle)})"


def _commonest(rows: Iterable[Row]) -> str:
    return _plain(Counter(row.action_kind or "nothing" for row in rows).most_common(1)[0][0])


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _plain(text: str) -> str:
    """Text that came from an environment or a program, as part of a claim: one short line without marks."""
    return " ".join(re.sub(r"[\[\]<>`#|*]", " ", text).split())[:120].rstrip(":")
