"""Updating the claims of a document: add, revise, supersede, each with its citations.

It knows texts and references. Whether cited evidence exists is asked of the caller; nothing here touches a disk.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from scrubjay.errors import InvalidInput
from scrubjay.memory.citations import Claim, citations, claims
from scrubjay.memory.layout import Reference, parse_reference
from scrubjay.models.consolidating import Update

__all__ = ["alike", "apply", "as_hypothesis", "checked", "entries", "normal", "supported", "unsupported"]

Exists = Callable[[Reference], bool]

_MOST_CITED = 12
_MOST_CHARACTERS = 600
_KEPT = 0.4  # of the words of an entry; below that it is a new claim, and the old one must be seen to be corrected
_BRACKET = re.compile(r"(?<!\s)\s*\[[^\[\]\n]*\]")  # each white space is looked at once
_MARK = re.compile(r"(?<!\s)\s*\(hypothesis\)|^hypothesis:\s*", re.IGNORECASE)
_SUPERSEDED = re.compile(r"\(superseded by \[[^\[\]]*\]")
_BULLET = re.compile(r"\A\s*(?:[-*+]|[0-9]{1,9}[.)])\s+")
_COUNT = re.compile(r"(\([^()]*\))|[0-9]+(?:\.[0-9]+)?")
_NOT_A_CLAIM = re.compile(r"<!--|-->|\(superseded by|^\[[ x]\]|^[#>|]|^[-*+] |^```|^~~~")


@dataclass(frozen=True, slots=True)
class Entry:
    """A list item of a document: its first and last line, from 0, and what it says without its marker."""

    first: int
    last: int
    said: str

    @property
    def is_superseded(self) -> bool:
        """True where a later claim took its place."""
        return _as_made(self.said) != self.said

    @property
    def cites(self) -> list[Reference]:
        """The references it rests on; that of a later claim which superseded it is none of them."""
        return [found.reference for found in citations(_as_made(self.said))]


@functools.lru_cache(8192)  # a document is read again for each update of it
def normal(text: str) -> str:
    """What a claim says, however it is written: without marker, citations, marks, case and white space."""
    text = _without_citations(_as_made(text))
    text = " ".join(_BULLET.sub("", text, count=1).split())
    return " ".join(_MARK.sub("", text).casefold().split()).rstrip(" .;")


def _as_made(said: str) -> str:
    """A claim without the mark at its end that a later one took its place."""
    found = _SUPERSEDED.search(said) if said.rstrip().endswith(")") else None
    return said if found is None else said[: found.start()].rstrip()


def alike(text: str, claim: str) -> str | None:
    """The entry that stands and says the same with other counts; coordinates in parentheses make another claim."""
    wanted = _uncounted(claim)
    for one in entries(text):
        if not one.is_superseded and normal(one.said) != normal(claim) and _uncounted(one.said) == wanted:
            return one.said
    return None


def _uncounted(text: str) -> str:
    return _COUNT.sub(lambda found: found[1] or "#", normal(text))


def _without_citations(text: str) -> str:
    return _BRACKET.sub(lambda bracket: "" if citations(bracket[0]) else bracket[0], text)


@functools.lru_cache(2)
def entries(text: str) -> tuple[Entry, ...]:
    """The list items of a document that claim something."""
    lines = text.split("\n")
    return tuple(
        Entry(claim.line - 1, claim.line + claim.lines - 2, claim.text)
        for claim in claims(text)
        if _BULLET.match(lines[claim.line - 1])
    )


# --- what may be proposed


def checked(update: Update, exists: Exists) -> Update:
    """The update with its claim in one line and all its citations in `cites`.

    Raises InvalidInput, in words for the model, where it says nothing, or rests on evidence that is not there.
    """
    update = _tidied(update)
    unknown = [cited for cited in update.cites if not _is_there(cited, exists)]
    if unknown:
        raise InvalidInput(f"{', '.join(unknown)}: no such finished episode or step; cite what is there")
    if not update.cites and not _MARK.search(update.claim):
        raise InvalidInput("the claim cites nothing: name the episodes that show it, or say (hypothesis)")
    return update


def as_hypothesis(update: Update, exists: Exists) -> Update:
    """The update with what can't be cited left out; a claim that then rests on nothing becomes a hypothesis.

    Raises InvalidInput where it says nothing, or would supersede a claim without evidence.
    """
    update = _tidied(update)
    cites = tuple(cited for cited in update.cites if _is_there(cited, exists))
    if cites:
        return replace(update, cites=cites)
    if update.operation == "supersede":
        raise InvalidInput("no evidence that is there speaks against the entry: it stands")
    return replace(update, claim=f"{_MARK.sub('', update.claim).strip()} (hypothesis)", cites=())


def _tidied(update: Update) -> Update:
    claim = " ".join(_BULLET.sub("", update.claim, count=1).split())
    cites = tuple(str(found.reference) for found in citations(claim))
    claim = _without_citations(claim).strip()
    if not re.search(r"\w", _MARK.sub("", claim)):
        raise InvalidInput("the claim says nothing")
    if len(claim) > _MOST_CHARACTERS:
        raise InvalidInput(f"the claim has {len(claim)} characters, {_MOST_CHARACTERS} are allowed: say one thing")
    as_read = [normal(one.said) for one in entries(f"- {claim} [ep_000000]")]
    if claim.endswith((":", "：")) or _NOT_A_CLAIM.search(claim) or as_read != [normal(claim)]:
        raise InvalidInput("a claim is one plain sentence: no heading, list, task, comment or mark of its own")
    if update.operation != "add" and not (update.entry or "").strip():
        raise InvalidInput(f"entry: {update.operation} needs the text of the entry it changes")
    why = " ".join(re.sub(r"[\[\]()]|<!--|-->", " ", update.why).split())
    if update.operation == "supersede" and not why:
        raise InvalidInput("why: say in a few words what shows that the entry no longer holds")
    given = (one.strip().strip("[]") for one in update.cites)
    return replace(update, claim=claim, cites=tuple(dict.fromkeys((*given, *cites))), why=why[:200])


def _is_there(cited: str, exists: Exists) -> bool:
    try:
        return exists(parse_reference(cited))
    except InvalidInput:
        return False


# --- applying


def apply(text: str, update: Update) -> str:
    """`text` with a checked update carried out; the same text where all of it stands there already.

    Raises InvalidInput where the entry it changes is not there or superseded, or its claim was superseded before.
    """
    found = entries(text)
    wanted = normal(update.claim)
    standing = next((one for one in found if not one.is_superseded and normal(one.said) == wanted), None)
    if update.operation == "add":
        return _supported(text, standing, update) if standing else _added(text, found, wanted, update)
    old = _find(found, update.entry or "", standing)
    if old is None or old == standing:
        return _supported(text, standing, update) if standing else text
    if standing is not None and update.operation == "revise":
        raise InvalidInput(f"this claim stands there already; supersede {_quoted(old.said)} where it no longer holds")
    if standing is None:
        _need_new(found, wanted)
    if update.operation == "revise":
        return _revised(text, old, update)
    return _superseded(text, old, standing, update)


def _find(found: Sequence[Entry], said: str, standing: Entry | None) -> Entry | None:
    """The entry to change; None where the update was carried out before."""
    wanted = normal(said)
    same = [one for one in found if normal(one.said) == wanted]
    for one in same:
        if not one.is_superseded:
            return one
    if standing is not None:
        return None
    if same:
        raise InvalidInput(f"{_quoted(said)} is superseded already, and never revised")
    raise InvalidInput(f"there is no entry {_quoted(said)}; read the document again and give its text as it stands")


def _quoted(said: str) -> str:
    said = " ".join(said.split())
    return repr(said if len(said) <= 120 else said[:117] + "...")


def _need_new(found: Iterable[Entry], wanted: str) -> None:
    if any(one.is_superseded and normal(one.said) == wanted for one in found):
        raise InvalidInput("this claim was superseded before; where it holds again, say what is different now")


def _added(text: str, found: Sequence[Entry], wanted: str, update: Update) -> str:
    _need_new(found, wanted)
    gap = "" if not text or text.endswith("\n") else "\n"
    new = f"{text}{gap}- {_line(update.claim, _references(update))}\n"
    if not any(normal(one.said) == wanted for one in entries(new)):
        raise InvalidInput("the document ends inside a code block or comment: nothing can be added behind it")
    return new


def _revised(text: str, old: Entry, update: Update) -> str:
    if old.cites and not update.cites:
        raise InvalidInput("the entry rests on evidence: revise it with evidence, or add a hypothesis of its own")
    if _kept(old.said, update.claim) < _KEPT:
        raise InvalidInput(f"this says something else than {_quoted(old.said)}: supersede it where it no longer holds")
    lines = text.split("\n")
    cites = _fewer({*old.cites, *_references(update)})
    lines[old.first : old.last + 1] = [f"{_marker(lines[old.first])}{_line(update.claim, cites)}{_return(lines, old)}"]
    return "\n".join(lines)


def _kept(old: str, new: str) -> float:
    """The share of an entry's words that its revision says too."""
    words = set(re.findall(r"[^\W\d_]+", normal(old)))
    return len(words & set(re.findall(r"[^\W\d_]+", normal(new)))) / len(words) if words else 1.0


def _superseded(text: str, old: Entry, standing: Entry | None, update: Update) -> str:
    cites = _references(update)
    lines = text.split("\n")
    ending = _return(lines, old)
    lines[old.last] = f"{lines[old.last].rstrip()} (superseded by [{cites[-1]}]: {update.why}){ending}"
    if standing is not None:
        return _supported("\n".join(lines), standing, update)
    new = f"{_marker(lines[old.first])}{_line(update.claim, cites)}{ending}"
    lines.insert(_end_of_item(lines, old), new)
    return "\n".join(lines)


def _end_of_item(lines: list[str], old: Entry) -> int:
    """The line after an item and the items below it."""
    indent = len(lines[old.first]) - len(lines[old.first].lstrip())
    at = old.last + 1
    while at < len(lines) and lines[at].strip() and len(lines[at]) - len(lines[at].lstrip()) > indent:
        at += 1
    return at


def _supported(text: str, standing: Entry, update: Update) -> str:
    """The entry with the citations it does not have yet; one that has many stands well enough."""
    cites, known = _references(update), standing.cites
    new = [cited for cited in cites if cited not in known][: max(0, _MOST_CITED - len(known))]
    if not new:
        return text
    lines = text.split("\n")
    if not _MARK.search(update.claim):
        for at in range(standing.first, standing.last + 1):
            marker = _marker(lines[at]) if at == standing.first else ""
            lines[at] = marker + _MARK.sub("", lines[at][len(marker) :])
    bracket = f"[{', '.join(map(str, new))}]"
    last = lines[standing.last].rstrip()
    joined = _last_bracket(last)
    said = f"{last[: joined - 1]}, {bracket[1:]}{last[joined:]}" if joined else f"{last} {bracket}"
    lines[standing.last] = said + _return(lines, standing)
    return "\n".join(lines)


def _last_bracket(line: str) -> int:
    """The column after the last bracket of citations in a line; 0 where there is none."""
    found = citations(line)
    return line.index("]", found[-1].column - 1) + 1 if found else 0


def _fewer(cites: Iterable[Reference]) -> tuple[Reference, ...]:
    """In the order of time; of very many, the oldest and the newest."""
    ordered = sorted(cites, key=lambda one: (int(one.episode[3:]), -1 if one.step is None else one.step))
    return tuple(ordered if len(ordered) <= _MOST_CITED else [ordered[0], *ordered[1 - _MOST_CITED :]])


def _references(update: Update) -> tuple[Reference, ...]:
    return _fewer({parse_reference(cited) for cited in update.cites})


def _line(claim: str, cites: tuple[Reference, ...]) -> str:
    return f"{claim} [{', '.join(map(str, cites))}]" if cites else claim


def _marker(line: str) -> str:
    found = _BULLET.match(line)
    return found[0] if found else ""


def _return(lines: list[str], entry: Entry) -> str:
    return "\r" if lines[entry.last].endswith("\r") else ""


# --- whole texts


def supported(text: str, exists: Exists) -> str:
    """`text` with unknown citations left out and every claim without one marked as a hypothesis."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        for bracket in _BRACKET.findall(line):
            known = [str(one.reference) for one in citations(bracket) if exists(one.reference)]
            if len(known) < len(citations(bracket)):
                line = line.replace(bracket, f" [{', '.join(known)}]" if known else "")
        lines[at] = line
    for claim in claims("\n".join(lines)):
        if not claim.is_hypothesis and not citations(claim.text):
            last = claim.line + claim.lines - 2
            lines[last] = f"{lines[last].rstrip()} (hypothesis)"
    return "\n".join(lines)


def unsupported(text: str, exists: Exists) -> list[Claim]:
    """The claims of a text that cite nothing, or what is not there, and are not marked as hypotheses."""
    return [
        claim
        for claim in claims(text)
        if not all(exists(one.reference) for one in citations(claim.text))
        or not (claim.is_hypothesis or citations(claim.text))
    ]
