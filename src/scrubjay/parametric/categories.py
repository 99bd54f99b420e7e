"""Skill categories: what belongs to which, for routing, scoring and pairing.

Craft, gather and combat by default; `adapters/categories.json` in a memory sets others: {"craft": ["make", …], …}.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from scrubjay.errors import Damaged, InvalidInput
from scrubjay.memory.layout import Layout

__all__ = ["Categories", "Category", "load_categories", "words_of"]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_WORD = re.compile(r"[^\W\d_]+")
_FILE = "categories.json"


def words_of(text: str) -> list[str]:
    """`make`, `wood`, `pickaxe` for "make_wood_pickaxe" or "Make a wood pickaxe": lower case, in order."""
    return [word for word in _WORD.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()) if word != "a"]


@dataclass(frozen=True, slots=True)
class Category:
    """A name, which is that of its adapter's folder, and the words by which it is known."""

    name: str
    words: frozenset[str]


class Categories:
    """Categories in order. Raises InvalidInput for a name that is none, a word that is none, or one in two."""

    def __init__(self, categories: Iterable[Category]) -> None:
        self._all = tuple(categories)
        self._by_word: dict[str, str] = {}
        for category in self._all:
            if not _NAME.fullmatch(category.name):
                raise InvalidInput(f"category {category.name!r:.60}: a name like craft was expected")
            for word in category.words:
                if words_of(word) != [word]:
                    raise InvalidInput(f"category {category.name}: {word!r:.60}: one word in lower case was expected")
                if self._by_word.setdefault(word, category.name) != category.name:
                    raise InvalidInput(f"{word!r} is of {self._by_word[word]} and of {category.name}: one was expected")
        if len({one.name for one in self._all}) != len(self._all):
            raise InvalidInput("categories: each name was expected once")

    @classmethod
    def default(cls) -> Categories:
        """Those of the paper."""
        return cls(
            (
                Category("craft", frozenset({"craft", "make", "place", "smelt", "build", "brew"})),
                Category("gather", frozenset({"gather", "collect", "mine", "chop", "dig", "harvest", "drink", "eat"})),
                Category("combat", frozenset({"combat", "kill", "fight", "attack", "defeat", "hunt"})),
            )
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(one.name for one in self._all)

    @property
    def words(self) -> frozenset[str]:
        """All the words by which they are known."""
        return frozenset(self._by_word)

    def of(self, text: str) -> str | None:
        """The category of the first word that is of any; None where no word is: navigation, for one."""
        return next((self._by_word[word] for word in words_of(text) if word in self._by_word), None)

    def known(self, name: str | None) -> str | None:
        """The name, where it is one of these."""
        return name if name in self.names else None


def load_categories(layout: Layout) -> Categories:
    """Those of a memory, or the paper's. Raises Damaged, InvalidInput."""
    path = os.path.join(layout.adapters, _FILE)
    try:
        with open(path, "rb") as file:
            said = json.loads(file.read())
    except FileNotFoundError:
        return Categories.default()
    except ValueError as error:
        raise Damaged(str(error), file=layout.relative(path)) from None
    if not isinstance(said, dict) or not all(isinstance(one, list) for one in said.values()):
        raise Damaged('{"craft": ["make", …], …} was expected', file=layout.relative(path))
    return Categories(Category(name, frozenset(str(word).lower() for word in words)) for name, words in said.items())
