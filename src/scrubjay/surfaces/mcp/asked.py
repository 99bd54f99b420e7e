"""Questions that a look asked and nobody has answered yet.

A look changes no file, so its question waits here, in the server's memory; the answer writes both. It knows how to
ask again, not what was asked.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable

from scrubjay.errors import NotFound
from scrubjay.retrieval.inspections import Inspector
from scrubjay.retrieval.views import View

__all__ = ["Ask", "Asked"]

Ask = Callable[[Inspector], View]
_MOST = 128


class Asked:
    """The newest questions, each with the look that it was about."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Ask | str] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, ask: Ask) -> str:
        """An id under which the question waits. `ask` makes the same look with a given inspector."""
        ident = f"look_{secrets.token_hex(4)}"
        with self._lock:
            self._waiting[ident] = ask
            while len(self._waiting) > _MOST:
                self._waiting.popitem(last=False)
        return ident

    def store(self, ident: str, inspector: Inspector) -> str:
        """The id in `inspections.jsonl` of a question, written there now where it was only waiting.

        Raises NotFound where it doesn't wait here, and what the look raises.
        """
        if not ident.startswith("look_"):
            return ident
        with self._lock:  # two answers to one question must not ask it twice
            waiting = self._waiting.get(ident)
            if waiting is None:
                raise NotFound(f"no question {ident!r} waits for an answer: look again, with the question")
            if isinstance(waiting, str):
                return waiting
            view = waiting(inspector)
            if view.inspection is None:
                raise NotFound(view.warning or "the question could not be stored: look again, with the question")
            self._waiting[ident] = view.inspection
            return view.inspection
