"""Finding a substring through an index of words.

A text's words are its maximal runs of letters, digits and everything beyond ASCII. What a needle holds between
separators are whole words; at its ends stand parts of words. Parts are looked up among the common words, which are
few, and by three (or two) characters among the rare ones. Every candidate must be checked against its text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Sequence
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

__all__ = ["LONGEST", "Plan", "cut_to_pieces", "literals_of", "odd_separators", "pairs_of", "plans_for", "rare_words"]

LONGEST = 64
_STRIDE = 32
_MOST_ALTERNATIVES = 400
_RUN = re.compile(r"[0-9A-Za-z\u0080-\U0010ffff]+")
# Letters as they are folded, and a space for all that stands between words.
_SEPARATORS = bytes(b if b >= 0x80 or chr(b).isalnum() else 0x20 for b in range(256)).lower()
_USUAL = bytes(b for b in range(256) if b >= 0x80 or chr(b).isalnum() or chr(b) in " \t\n\",:{}[]()._-+=>/'\\")
_BEYOND_HEX = re.compile(r"[^0-9a-f\n]")
_MORE_THAN_HEX = re.compile(r"^[0-9a-f]*[^0-9a-f\n][^\n]*", re.MULTILINE)


def rare_words(text: bytes, common: Container[bytes]) -> set[bytes]:
    """The words of a text that are not among the common ones, however long they are.

    The text is in UTF-8, and folded, or all of it is ASCII.
    """
    return {word for word in text.translate(_SEPARATORS).split() if word not in common}


def cut_to_pieces(words: set[bytes]) -> set[bytes]:
    """The words, and instead of each that is longer than LONGEST, overlapping pieces of it."""
    for word in [word for word in words if len(word) > LONGEST]:
        words = (words - {word}) | {piece.encode() for piece in _pieces(word.decode())}
    return words


def _pieces(word: str) -> list[str]:
    # Every part of up to _STRIDE + 1 characters lies whole in one piece; the last piece ends where the word ends.
    if len(word) <= LONGEST:
        return [word]
    return [*(word[at : at + LONGEST] for at in range(0, len(word) - LONGEST, _STRIDE)), word[-LONGEST:]]


def odd_separators(text: bytes) -> str:
    """Tokens for the characters that are neither in words nor usual in JSON; empty where there are none."""
    odd = text.translate(None, _USUAL)
    return " ".join(f"\u0080{byte:x}" for byte in set(odd)) if odd else ""


def pairs_of(rare: str) -> set[str]:
    """The characters beyond ASCII and the pairs of neighbours in these words, which have newlines between.

    Pairs of hex digits are left out: numbers are full of them.
    """
    words = _MORE_THAN_HEX.findall(rare)
    pairs = (pair for word in words for pair in map("".join, itertools.pairwise(word)))
    found = {pair for pair in pairs if _BEYOND_HEX.search(pair)}
    return found if rare.isascii() else found | {character for character in rare if character >= "\x80"}


class Plan(NamedTuple):
    """FTS5 expressions, of which every text with the needle matches one or more.

    Each is asked of the table of its name; None where a table can have no match. A word of a needle stands in
    `ranked`, or in `words`, which holds the lines of the index, and the whole of a text that is not plain ASCII.
    """

    ranked: str | None = None
    words: str | None = None
    rare: str | None = None
    pairs: str | None = None


def plans_for(needles: Sequence[str], common: str) -> list[Plan]:
    """Ways to find the texts that hold all of these folded needles, each enough; none where each text must be seen.

    `common` holds the common words, each between newlines.
    """
    plans: dict[Plan, None] = {}
    for needle in needles:
        lines = needle.split("\n")
        for at, line in enumerate(lines):
            # The line of the index and the record are apart in the tables, and a newline stands between them.
            plans.update(dict.fromkeys(_plans_of_line(line, at > 0, at < len(lines) - 1, common)))
    odd = odd_separators("".join(needles).encode(errors="replace"))
    return [*plans, Plan(pairs=" AND ".join(map(_term, odd.split(" "))))] if odd else [*plans]


def _plans_of_line(line: str, follows: bool, goes_on: bool, common: str) -> Iterator[Plan]:
    exact: dict[str, None] = {}
    partial: dict[tuple[str, bool, bool], None] = {}
    for run in _RUN.finditer(line):
        begins, ends = follows or run.start() > 0, goes_on or run.end() < len(line)
        if begins and ends:
            exact.update(dict.fromkeys(_pieces(run[0])))
        else:
            partial[_shortened(run[0], begins, ends)] = None
    whole = " AND ".join(map(_term, exact))
    if whole:
        yield Plan(whole, whole)
    yield from (plan for part in partial if (plan := _plan_of_part(*part, common, whole)) is not None)


def _shortened(run: str, begins: bool, ends: bool) -> tuple[str, bool, bool]:
    # A part must lie in one piece of a long word.
    if begins:
        return (run[:LONGEST], True, False)
    return (run[-LONGEST:], False, True) if ends else (run[: _STRIDE + 1], False, False)


def _plan_of_part(run: str, begins: bool, ends: bool, common: str, whole: str) -> Plan | None:
    """How to find the texts with a word that has this part; where it is a common one, `whole` words stand beside it."""
    grams = _grams(run, begins, ends)
    paired = run >= "\x80" if len(run) == 1 else len(run) == 2 and _BEYOND_HEX.search(run) is not None
    known = _holding(common, run, begins, ends) if grams or paired else None
    if known is None:
        return None
    alternatives = "(" + " OR ".join(map(_term, known)) + ")" if known else None
    words = f"{whole} AND {alternatives}" if whole and alternatives else alternatives
    return Plan(words, words, " AND ".join(map(_term, grams)) or None, None if grams else _term(run))


def _grams(run: str, begins: bool, ends: bool) -> list[str]:
    anchored = f"{chr(10) * begins}{run}{chr(10) * ends}"
    return list(dict.fromkeys(anchored[at : at + 3] for at in range(len(anchored) - 2)))


def _term(text: str) -> str:
    return f'"{text}"'


def _holding(common: str, run: str, begins: bool, ends: bool) -> list[str] | None:
    """The common words that hold the run at the place asked for; None where they are too many to ask for."""
    sought = f"{chr(10) * begins}{run}{chr(10) * ends}"
    found: dict[str, None] = {}
    at = common.find(sought)
    while at >= 0:
        inside = at + begins
        start = common.rfind("\n", 0, inside) + 1
        end = common.find("\n", inside)
        found[common[start:end]] = None
        if len(found) > _MOST_ALTERNATIVES:
            return None
        at = common.find(sought, end)
    return list(found)


def literals_of(pattern: str) -> list[str]:
    """Texts that every match of a regular expression must hold, whatever its case.

    Only characters whose other cases fold to one and the same character count.
    """
    found: list[str] = []
    _collect(_parser.parse(pattern, re.IGNORECASE), found)
    return found


def _collect(parsed: Any, found: list[str]) -> None:
    literal = ""
    for operation, value in parsed:
        if operation is _constants.LITERAL and _is_plain(chr(value)):
            literal += chr(value).lower()
            continue
        if literal:
            found.append(literal)
            literal = ""
        if operation is _constants.SUBPATTERN:
            _collect(value[-1], found)
        elif operation in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT) and value[0] > 0:
            _collect(value[2], found)
        elif operation is _constants.ATOMIC_GROUP:
            _collect(value, found)
    if literal:
        found.append(literal)


def _is_plain(character: str) -> bool:
    if character.isascii():
        return True
    return character.lower() == character.upper() == character.casefold() == character
