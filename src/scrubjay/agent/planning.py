"""Reading and judging a proposed plan before the first step of it is spent.

It knows what there is to call and what was proposed before; it takes no step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.models.contract import Entry

__all__ = ["MOST_STEPS", "Proposals", "entries_of"]

MOST_STEPS = 400
_SAME = 3

CheckCall = Callable[[str, Json], str | None]


def entries_of(arguments: Json, actions: Sequence[str], check: CheckCall) -> tuple[Entry, ...]:
    """The entries of a call of `act`. `check` says what is wrong with a call of an atom or procedure, or None.

    Raises InvalidInput that tells the model which entry is wrong and what there is.
    """
    plan = arguments.get("plan")
    if not isinstance(plan, list) or not plan:
        raise InvalidInput('plan: a list of entries was expected, such as [{"action": "noop"}]')
    entries = tuple(_entry(nth, given, actions, check) for nth, given in enumerate(plan, 1))
    steps = sum(entry.repeat for entry in entries)
    if steps > MOST_STEPS:
        raise InvalidInput(f"plan: {steps} steps; a plan takes at most {MOST_STEPS}")
    return entries


def _entry(nth: int, given: object, actions: Sequence[str], check: CheckCall) -> Entry:
    if not isinstance(given, dict) or not isinstance(given.get("action"), str):
        raise InvalidInput(f'entry {nth}: {{"action": NAME}} was expected, found {str(given)[:120]}')
    action, repeat, arguments = given["action"], given.get("repeat", 1), given.get("arguments")
    if action in actions:
        if arguments:
            raise InvalidInput(f"entry {nth}: {action} is a raw action and takes no arguments, only repeat")
        if type(repeat) is not int or repeat < 1:
            raise InvalidInput(f"entry {nth}: repeat: a count above 0 was expected, found {repeat!r}")
        return Entry(action, repeat)
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidInput(f"entry {nth}: arguments: an object was expected, found {arguments!r:.80}")
    problem = check(action, arguments or {})
    if problem is not None:
        raise InvalidInput(f"entry {nth}: {problem}")
    return Entry(action, 1, arguments or {})


class Proposals:
    """What was proposed since anything changed: the third identical proposal without effect is refused."""

    def __init__(self) -> None:
        self._last: tuple[Entry, ...] = ()
        self._count = 0

    def judge(self, entries: tuple[Entry, ...], unchanged: int) -> None:
        """Raises InvalidInput for a plan that was carried out twice in a row and changed nothing."""
        same = entries == self._last and unchanged > 0
        if same and self._count + 1 >= _SAME:
            raise InvalidInput(
                f"this plan was carried out {self._count} times and changed nothing; "
                "look at what happened and propose another"
            )
        self._count = self._count + 1 if same else 1
        self._last = entries
