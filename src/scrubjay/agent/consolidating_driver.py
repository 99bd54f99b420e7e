"""A consolidator on top of a coding agent: it is started with the evidence as a file and hands in updates as a file.

What is refused is told in a second start. It knows items and texts; documents are changed by others, from what was
handed in. What the agent writes below `mine/` by itself is taken over as its own edit.
"""

from __future__ import annotations

from scrubjay.agent.consolidation_text import RULES, shown
from scrubjay.agent.driver import Driver, Spent
from scrubjay.agent.handed_in import UPDATES
from scrubjay.agent.proposed import item_of
from scrubjay.errors import InvalidInput, ModelUnavailable
from scrubjay.memory.jsonio import Json
from scrubjay.models.consolidating import Evidence, Item, Judge, Proposal

__all__ = ["DriverConsolidator"]

_STARTS = 2
_AGAIN = f"Of what you handed in, this was refused; hand in, as mine/{UPDATES}, only these again, mended:\n"


class DriverConsolidator:
    """Asks the coding agent that lives: twice, where something of the first answer was refused."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @property
    def name(self) -> str:
        """The coding agent's name."""
        return self._driver.name

    def propose(self, evidence: Evidence, judge: Judge) -> Proposal:
        """The items that it handed in and that were not refused.

        Raises ModelUnavailable where the command failed, or handed in nothing that can be read.
        """
        spent, items, refused, was_read = Spent(), list[Item](), list[str](), False
        text = f"{RULES}\n\n{shown(evidence)}\n"
        for _ in range(_STARTS):
            told = _AGAIN + "\n".join(refused) if refused else ""
            try:
                given = self._driver.consolidate(evidence.life, evidence.reason, text, told, spent)
                refused = _sort(given, judge, items)
                was_read = True
            except InvalidInput as error:
                refused = [f"mine/{UPDATES}: {error}"]
            if not refused:
                break
        if not was_read:  # its evidence must not count as consolidated
            raise ModelUnavailable(f"{self.name} did not consolidate: {refused[0]}", is_garbled=True)
        return Proposal(tuple(items), spent.usage, tuple(refused))


def _sort(given: Json, judge: Judge, items: list[Item]) -> list[str]:
    """Adds what is taken to `items`; returns a line on each that is not. Raises InvalidInput where there are none."""
    listed = given.get("items")
    if not isinstance(listed, list):
        raise InvalidInput(f'items: a list was expected, found {listed!r:.80}; such as {{"items": []}}')
    refused = []
    for nth, one in enumerate(listed, 1):
        reason = _take(one, judge, items)
        if reason is not None:
            refused.append(f"item {nth}: {reason}")
    return refused


def _take(one: object, judge: Judge, items: list[Item]) -> str | None:
    if not isinstance(one, dict) or len(one) != 1:
        return f'an object of one kind was expected, such as {{"working": {{"text": "…"}}}}, found {one!r:.120}'
    ((kind, values),) = one.items()
    try:
        item = item_of(kind, values if isinstance(values, dict) else {})
    except InvalidInput as error:
        return str(error)
    reason = judge(item)
    if reason is None:
        items.append(item)
    return reason
