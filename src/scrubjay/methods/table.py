"""The table of methods (Table 6 of the MFM paper), made from their traits."""

from __future__ import annotations

from collections.abc import Iterable

from scrubjay.agent.offer import Offer
from scrubjay.agent.scope import Scope
from scrubjay.memory.layout import Layout
from scrubjay.methods.contract import Traits
from scrubjay.methods.named import METHODS, make_method

__all__ = ["methods_table"]

_BLOCK = (("recent", "[RECENT]"), ("map", "[MAP]"), ("own", "[OWN]"), ("working", "[WORKING]"))


def methods_table(traits: Iterable[Traits] | None = None) -> str:
    """A row per method in Markdown: those that ship, or these."""
    rows = [make_method(name).traits for name in METHODS] if traits is None else list(traits)
    heads = (
        "method", "kept outside the context", "carried to the next life", "tools of a model", "file writes",
        "parts of the block", "stored frames", "procedures", "consolidation", "the scripted player uses of it",
    )  # fmt: skip
    return "\n".join((_line(heads), _line(["---"] * len(heads)), *(_line(_cells(one)) for one in rows)))


def _cells(one: Traits) -> tuple[str, ...]:
    offer = one.offer
    return (
        f"`{one.name}`",
        one.store,
        one.carries,
        ", ".join(_tools(offer)),
        _files(offer),
        ", ".join(f"`{shown}`" for name, shown in _BLOCK if getattr(offer, name)) or "none",
        _yes(offer.frames),
        _yes(offer.procedures),
        _yes(offer.consolidates),
        one.uses,
    )


def _tools(offer: Offer) -> list[str]:
    looks = ("look", "sheet", "then_now", "compare")
    return [f"`{name}`" for name in (*offer.tools, "act") if offer.frames or name not in looks]


def _files(offer: Offer) -> str:
    if "documents" not in offer.tools:
        return "none"
    scope = Scope(offer.files)
    named = scope.named.replace(Layout.working(scope.life).removesuffix(".md"), "working/LIFE")
    return "all" if scope.is_everything else named.replace("*", "\\*")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
