"""Who cites what: the citations and claims of every document, read again only where a document changed.

It knows the agent's documents and the outline of the index. How a page shows it, it does not know.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.citations import Citation, citations, claims
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout, Reference, episode_number
from scrubjay.surfaces.web.outline import Outline

__all__ = ["Citing", "Facts"]

_TELLING = (Layout.PROCEDURES, Layout.REFLEXES)  # they tell what to do, and claim nothing


@dataclass(frozen=True, slots=True)
class Facts:
    """What one document cites, and the claims in it that cite nothing: line and text."""

    cited: Sequence[Citation] = ()
    bare: Sequence[tuple[int, str]] = ()


class Citing:
    """Facts of all documents of a memory, kept by what the system says of each file."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._mutex = threading.Lock()
        self._states: dict[str, tuple[int, int, int]] = {}
        self._facts: dict[str, Facts] = {}
        self._of_episode: dict[str, list[tuple[str, int]]] = {}

    def refresh(self, documents: Documents) -> None:
        """Reads the documents that changed."""
        with self._mutex:
            found = documents.listing().documents
            states = {path: (one.st_ino, one.st_size, one.st_mtime_ns) for path, one in found.items()}
            if states == self._states:
                return
            for path, state in states.items():
                if self._states.get(path) != state:
                    self._facts[path] = _facts(documents, path)
            self._facts = {path: self._facts[path] for path in states}
            self._states = states
            places: dict[str, list[tuple[str, int]]] = defaultdict(list)
            for path, facts in self._facts.items():
                for ident, line in dict.fromkeys((one.reference.episode, one.line) for one in facts.cited):
                    places[ident].append((path, line))
            self._of_episode = dict(places)

    def of_episode(self, ident: str) -> Sequence[tuple[str, int]]:
        """Where documents cite an episode: path and line."""
        return self._of_episode.get(ident, ())

    def most_cited(self, count: int) -> list[tuple[str, int]]:
        """The episodes that most lines cite, with how many."""
        return Counter({ident: len(places) for ident, places in self._of_episode.items()}).most_common(count)

    def facts(self, path: str) -> Facts:
        """What a document cites and claims; nothing of one that is no text."""
        return self._facts.get(path, Facts())

    def gone(self, path: str) -> list[Citation]:
        """The citations in a document of what is not there."""
        return [one for one in self.facts(path).cited if not self._exists(one.reference)]

    def _exists(self, reference: Reference) -> bool:
        point = self._outline.point(episode_number(reference.episode))
        if point is None:
            return False
        return reference.step is None or point.first_step <= reference.step <= point.last_step


def _facts(documents: Documents, path: str) -> Facts:
    try:
        text = documents.read(path)
    except (Damaged, InvalidInput, NotFound):  # no text; or a link, or gone, since it was listed
        return Facts()
    bare: list[tuple[int, str]] = []
    if path.endswith((".md", ".txt")) and path.partition("/")[0] not in _TELLING:
        bare = [
            (claim.line, claim.text) for claim in claims(text) if not claim.is_hypothesis and not citations(claim.text)
        ]
    return Facts(citations(text), bare)
