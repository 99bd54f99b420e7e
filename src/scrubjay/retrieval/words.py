"""Ranking by words: BM25 over the searched texts, with stemming, in any script.

The ranks are those of SQLite's FTS5. Scripts that put no space between words are cut into characters and pairs of
them, in texts and in queries alike. It knows texts by number and nothing of where these come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scrubjay.retrieval.text import normal

if TYPE_CHECKING:
    import sqlite3

__all__ = ["add_texts", "create_table", "prepared", "ranks", "rounded", "search_expression"]

# Kana, Han, Thai, Lao, Myanmar, Khmer, and their extensions: written without spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"[^\s\x00-/:-@\[-`{-\x7f]+")
_DIGITS = 6


def create_table(connection: sqlite3.Connection) -> None:
    """Makes the empty table of words."""
    connection.execute(
        "CREATE VIRTUAL TABLE ranked USING fts5(body, content='', "
        "tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'\")"
    )


def prepared(text: str) -> str:
    """The text as the table takes it."""
    return text if text.isascii() else _UNSPACED.sub(lambda run: f" {' '.join(_pieces(run[0]))} ", normal(text))


def add_texts(connection: sqlite3.Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Adds prepared texts by ascending number."""
    connection.executemany("INSERT INTO ranked(rowid, body) VALUES (?, ?)", texts)


def _pieces(run: str) -> list[str]:
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]


def search_expression(words: str) -> str | None:
    """The words as FTS5 asks for any of them; None where the text holds no word."""
    terms = dict.fromkeys(_WORD.findall(prepared(words)))
    return " OR ".join(f'"{term}"' for term in terms) or None


def ranks(connection: sqlite3.Connection, expression: str) -> Iterator[tuple[int, float]]:
    """Every text with any of the words, and its rank: less is better."""
    found = connection.execute("SELECT rowid, bm25(ranked) FROM ranked WHERE ranked MATCH ?", (expression,))
    for number, rank in found:
        yield number, rounded(rank)


def rounded(rank: float) -> float:
    """A rank to so many digits that sums taken in another order are equal."""
    return float(f"{rank:.{_DIGITS}g}")
