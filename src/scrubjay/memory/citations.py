"""Citations in the agent's documents: which evidence a text names, and which claims name none.

It knows Markdown as far as claims need it, and references; whether an episode exists is asked of the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout, Reference, parse_reference

__all__ = ["Citation", "Claim", "Unsupported", "back_links", "citations", "claims", "unsupported"]

# Every repeat here takes what it can and gives nothing back, so that no text makes matching take longer than it is.
_BRACKET = re.compile(r"\[([^\[\]\n]*+)\]")
_SEPARATED = re.compile(r"[^,;\s]+")
_HYPOTHESIS = re.compile(r"\(hypothesis\)|\bhypothesis:", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")
_RULE = re.compile(r" {0,3}([-*_])(\s*\1){2,}\s*$")
_ITEM = re.compile(r"\s*([-*+]|[0-9]{1,9}[.)])\s+(?=\S)")
_QUOTE = re.compile(r" {0,3}>")
_TABLE_RULE = re.compile(r"\s*+\|?+\s*+:?+-++:?+\s*+(\|\s*+:?+-++:?+\s*+)*+\|?+\s*+$")


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference in a text, with its line and column, both from 1."""

    reference: Reference
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A list item, table row or paragraph that says something, with the line it begins in and how many it has."""

    text: str
    line: int
    lines: int = 1

    @property
    def is_hypothesis(self) -> bool:
        """True where it says of itself that it is one: `(hypothesis)`, `Hypothesis: …`."""
        return _HYPOTHESIS.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A claim without a citation (`reference` None), or a citation of what is not there."""

    path: str
    line: int
    text: str
    reference: Reference | None = None


def citations(text: str) -> list[Citation]:
    """The references in brackets, in order: `[ep_000043]`, `[ep_000043#2350]`, `[ep_000043, ep_000051#7]`.

    A bracket cites when all that stands in it are references; what stands in code counts too.
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for bracket in _BRACKET.finditer(line):
            if "ep_" in bracket[1]:
                found += _cited(bracket, number)
    return found


def _cited(bracket: re.Match[str], line: int) -> list[Citation]:
    found = []
    for word in _SEPARATED.finditer(bracket[1]):
        try:
            reference = parse_reference(word[0])
        except InvalidInput:
            return []
        found.append(Citation(reference, line, bracket.start(1) + word.start() + 1))
    return found


def claims(text: str) -> list[Claim]:
    """What a document says: its list items, table rows and paragraphs.

    Headings, front matter, fenced blocks, quotes, rules, comments, open tasks (`- [ ] …`) and what only introduces a
    list (it ends in a colon) claim nothing.
    """
    found: list[Claim] = []
    for first, lines in _blocks(_shown_lines(text)):
        whole = " ".join(line.strip() for line in lines)
        said = _ITEM.sub("", whole, count=1)
        if re.search(r"\w", said) and not said.endswith((":", "：")) and not said.startswith("[ ] "):
            found.append(Claim(said, first, len(lines)))
    return found


def _shown_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside front matter, fences and comments; an empty one stands for each that is left out."""
    lines = _without_comments(text).split("\n")
    start = 0
    if lines[0].rstrip() == "---":
        end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
        start = end + 1 if end else 0
    fence = ""
    for number, line in enumerate(lines[start:], start + 1):
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
            yield number, ""
        elif mark is not None:
            fence = mark[1]
            yield number, ""
        else:
            yield number, line


def _without_comments(text: str) -> str:
    parts, at = list[str](), 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        parts += (text[at:begin], "\n" * text.count("\n", begin, end))
        at = end + 3
    return "".join([*parts, text[at:]])


def _heads(above: str, line: str) -> bool:
    """True where `line` makes the one above it a title, or the head of a table."""
    if above.lstrip().startswith("|"):
        return _TABLE_RULE.match(line) is not None
    return _UNDERLINE.match(line) is not None and not _ITEM.match(above)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    first, block = 0, list[str]()
    quoted = False
    for number, line in lines:
        if block and _heads(block[0], line):
            block = []
            continue
        ends = not line.strip() or _HEADING.match(line) or _RULE.match(line) or _QUOTE.match(line)
        row = line.lstrip().startswith("|")
        if block and (ends or row or _ITEM.match(line)):
            yield first, block
            block = []
        quoted = bool(_QUOTE.match(line)) or (quoted and not ends and not _ITEM.match(line))
        if ends or quoted:
            continue
        if not block:
            first = number
        block.append(line)
    if block:
        yield first, block


def back_links(documents: Documents) -> dict[str, list[tuple[str, int]]]:
    """For every episode that a document cites, where: (path, line). Documents that are no text cite nothing."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path, text in _texts(documents):
        for citation in citations(text):
            places = found.setdefault(citation.reference.episode, [])
            if (path, citation.line) not in places:
                places.append((path, citation.line))
    return found


def unsupported(documents: Documents, exists: Callable[[Reference], bool]) -> list[Unsupported]:
    """Claims that cite nothing and are not marked a hypothesis, and citations of evidence that is not there.

    Claims are looked for in Markdown and plain text alone, and not in procedures and reflexes, which tell what to do;
    citations in every document.
    """
    found = []
    for path, text in _texts(documents):
        cited = citations(text)
        for citation in cited:
            if not exists(citation.reference):
                found.append(Unsupported(path, citation.line, str(citation.reference), citation.reference))
        if path.endswith((".md", ".txt")) and path.partition("/")[0] not in (Layout.PROCEDURES, Layout.REFLEXES):
            found += [
                Unsupported(path, claim.line, claim.text)
                for claim in claims(text)
                if not claim.is_hypothesis and not citations(claim.text)
            ]
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def _texts(documents: Documents) -> Iterator[tuple[str, str]]:
    for path in documents.list():
        try:
            yield path, documents.read(path)
        except (Damaged, InvalidInput, NotFound):  # no text; or a link, or gone, since it was listed
            continue
