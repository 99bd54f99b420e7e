"""The fast policy: an adapter for each category, asked for a procedure.

In this process, over a base model and the adapters of a memory; over a server it is in `serving`. It writes procedures
and runs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scrubjay.errors import InvalidInput
from scrubjay.parametric.backbone import Generation
from scrubjay.parametric.bases import is_served
from scrubjay.parametric.examples import Prompt
from scrubjay.parametric.shelf import Shelf

if TYPE_CHECKING:
    from scrubjay.parametric.adapters import Adapters
    from scrubjay.public import Memory

__all__ = ["LocalPolicy", "Policy", "policy_of"]

MAX_NEW_TOKENS = 160


class Policy(Protocol):
    """Writes a procedure for a prompt, with the adapter of a category."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Those it has an adapter for."""
        ...

    @property
    def sees(self) -> bool:
        """True where a frame goes in."""
        ...

    def generate(self, category: str, prompt: Prompt) -> Generation:
        """One generation. Raises ModelUnavailable where a server gives no answer."""
        ...


class LocalPolicy:
    """The adapters in place in a memory, on a base in this process. Each is read when it is first asked for."""

    def __init__(self, shelf: Shelf, adapters: Adapters, max_new_tokens: int = MAX_NEW_TOKENS) -> None:
        self._shelf, self._adapters, self._most = shelf, adapters, max_new_tokens
        self._read: dict[str, int] = {}

    @property
    def categories(self) -> tuple[str, ...]:
        """Those with an adapter in place now."""
        return tuple(self._shelf.all())

    @property
    def sees(self) -> bool:
        """True where the base does."""
        return self._adapters.backbone.sees

    def generate(self, category: str, prompt: Prompt) -> Generation:
        """One generation. Raises InvalidInput for a category without an adapter, and what reading one raises."""
        current = self._shelf.current(category)
        if current is None:
            raise InvalidInput(f"{category} has no adapter yet: run a cycle of it")
        if self._read.get(category) != current.number:
            self._adapters.load(category, current.adapter)
            self._read[category] = current.number
        with self._adapters.use(category):
            return self._adapters.backbone.generate([prompt], self._most)[0]


class _Later:
    """A policy whose base is loaded when it is first asked: a memory without a fitting task costs no torch."""

    def __init__(self, shelf: Shelf, base: str) -> None:
        self._shelf, self._base = shelf, base
        self._policy: LocalPolicy | None = None

    @property
    def categories(self) -> tuple[str, ...]:
        return tuple(self._shelf.all())

    @property
    def sees(self) -> bool:
        return self._loaded.sees

    @property
    def _loaded(self) -> LocalPolicy:
        if self._policy is None:
            from scrubjay.parametric.adapters import Adapters
            from scrubjay.parametric.bases import load_base

            self._policy = LocalPolicy(self._shelf, Adapters(load_base(self._base)))
        return self._policy

    def generate(self, category: str, prompt: Prompt) -> Generation:
        return self._loaded.generate(category, prompt)


def policy_of(memory: Memory) -> Policy | None:
    """The fast policy of a memory, by the base that its settings name; None where none was chosen."""
    shelf = Shelf(memory.layout)
    base = shelf.base
    if base is None:
        return None
    if is_served(base):
        from scrubjay.parametric.serving import served_policy

        return served_policy(shelf, base)
    return _Later(shelf, base)
