"""Which of its documents a model may read and write: what a method keeps for it, and no more.

It knows paths inside `mine/` and patterns; documents are read and written by others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import Layout

__all__ = ["EVERYTHING", "OF_THIS_LIFE", "Scope"]

EVERYTHING = ("*",)
OF_THIS_LIFE = "{working}*"  # the working memory of the life, and documents whose names go on from its name
_BARRED = "!"


@dataclass(frozen=True, slots=True)
class Scope:
    """Documents by patterns: `*` stands for any text, `!` before a pattern takes out what it matches.

    `life` is whose working memory `{working}` means.
    """

    patterns: tuple[str, ...] = EVERYTHING
    life: int = 1

    @property
    def is_everything(self) -> bool:
        """True where nothing is left out."""
        return self.patterns == EVERYTHING

    def allows(self, path: str) -> bool:
        """Whether the document, or the whole folder, at this path inside `mine/` may be read and written."""
        path = path.rstrip("/")
        kept = [one for one in self._written if not one.startswith(_BARRED)]
        barred = [one.removeprefix(_BARRED) for one in self._written if one.startswith(_BARRED)]
        is_barred = any(fnmatchcase(path, one) or path == one.removesuffix("/*") for one in barred)
        return not is_barred and any(fnmatchcase(path, one) for one in kept)

    def need(self, path: str) -> None:
        """Raises InvalidInput, which says what there is, for a path that is left out."""
        if not self.allows(path):
            raise InvalidInput(f"{path or 'all documents'}: not kept by this method; there are {self.named}")

    def shows(self, path: str, documents: Iterable[str]) -> bool:
        """Whether a listing shows this path: a folder where any of `documents` in it is allowed."""
        if not path.endswith("/"):
            return self.allows(path)
        return any(one.startswith(path) and self.allows(one) for one in documents)

    @property
    def named(self) -> str:
        """The documents, in words for a model."""
        told = [one for one in self._written if not one.startswith(_BARRED) and one != "*"]
        barred = [one.removeprefix(_BARRED) for one in self._written if one.startswith(_BARRED)]
        return (", ".join(told) or "all") + (f", but none of {', '.join(barred)}" if barred else "")

    @property
    def _written(self) -> list[str]:
        working = Layout.working(self.life).removesuffix(".md")
        return [one.replace("{working}", working) for one in self.patterns]
