"""The three checks by which a netlist is judged beside a reference, and what changed between two netlists.

The checks are those of the public cua-bench KiCad set, so that scores can be set beside its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from scrubjay.environments.kicad.netlist import Component, Netlist, Pin

__all__ = ["Checks", "check", "differences", "normal_value"]

_VALUE = re.compile(
    r"\s*+(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)"
    r"\s*+(?P<prefix>(?i:meg)|[pnuµμmkKMgG])?"
    r"\s*+(?i:Ω|ohms?|f(?:arads?)?|v(?:olts?)?|h(?:enrys?)?|r)?\s*+"  # possessive: a value of spaces takes no time
)
_POWERS = {"p": -12, "n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "k": 3, "K": 3, "M": 6, "g": 9, "G": 9}
_MOST_CHANGES = 40


@dataclass(frozen=True, slots=True)
class Checks:
    """Which of the three checks a netlist passes."""

    components: bool
    nets: bool
    net_names: bool

    @property
    def score(self) -> float:
        """The mean of the three, as the benchmark scores."""
        return sum(passed for _, passed in self.named()) / 3

    def named(self) -> tuple[tuple[str, bool], ...]:
        """Each check's name, and whether it is passed."""
        return (("components", self.components), ("nets", self.nets), ("net names", self.net_names))


def check(candidate: Netlist, reference: Netlist) -> Checks:
    """Judges a netlist.

    Components are compared as a multiset of reference prefix, value and library part; nets as a set of sets of
    (reference, pin); names of nets as a set, where the reference has any. An empty reference passes only an empty
    candidate.
    """
    if reference.is_empty:
        return Checks(candidate.is_empty, candidate.is_empty, candidate.is_empty)
    names = {net.name for net in reference.nets if net.name}
    return Checks(
        Counter(map(_key, candidate.components)) == Counter(map(_key, reference.components)),
        {net.pins for net in candidate.nets if net.pins} == {net.pins for net in reference.nets if net.pins},
        not names or names == {net.name for net in candidate.nets if net.name},
    )


def _key(component: Component) -> tuple[str, str, str]:
    prefix = component.reference.rstrip("0123456789") or component.reference
    return (prefix.upper(), normal_value(component.value), component.part.strip())


def normal_value(value: str) -> str:
    """A value as a plain number where it is one: `2.80kOhm`, `2.8k` and `2800` are the same; other text stays.

    The prefix m is a thousandth and M a million, whatever the unit; Meg is a million however it is spelled.
    """
    found = _VALUE.fullmatch(value)
    if found is None:
        return value.strip()
    prefix = found["prefix"] or ""
    power = _POWERS.get(prefix, 6 if len(prefix) == 3 else 0)
    try:
        number = Decimal(found["number"]).scaleb(power)
    except ArithmeticError:  # millions of digits
        return value.strip()
    return format(number.normalize(), "f") if number else "0"


def differences(before: Netlist, after: Netlist) -> tuple[str, ...]:
    """What changed, a line each: `net +5V: R1.1 -> R2.1`, `R2: value 5k -> 10k`, `R3 (R_US, 1k) added`."""
    lines = [*_component_changes(before, after), *_net_changes(before, after)]
    if len(lines) > _MOST_CHANGES:
        lines[_MOST_CHANGES:] = [f"and {len(lines) - _MOST_CHANGES} changes more"]
    return tuple(lines)


def _component_changes(before: Netlist, after: Netlist) -> Iterator[str]:
    old, new = ({one.reference: one for one in netlist.components} for netlist in (before, after))
    for reference in sorted({*old, *new}, key=_natural):
        was, now = old.get(reference), new.get(reference)
        if was is None and now is not None:
            yield f"{reference} ({now.part}, {now.value}) added"
        elif now is None and was is not None:
            yield f"{reference} ({was.part}, {was.value}) removed"
        elif was is not None and now is not None and was != now:
            changed = [f"value {was.value} -> {now.value}"] if was.value != now.value else []
            changed += [f"part {was.part} -> {now.part}"] if was.part != now.part else []
            yield f"{reference}: {', '.join(changed)}"


def _net_changes(before: Netlist, after: Netlist) -> Iterator[str]:
    old, new = ({net.name: net.pins for net in netlist.nets} for netlist in (before, after))
    renamed = {}
    for name in sorted(set(old) - set(new)):
        same = next((other for other in sorted(set(new) - set(old)) if new[other] == old[name]), None)
        if same is not None and old[name]:
            renamed[name] = same
            yield f"net {name} is now called {same}"
    for name in sorted({*old, *new} - set(renamed) - set(renamed.values())):
        was, now = old.get(name), new.get(name)
        if was is None:
            yield f"net {name} added: {_pins(now)}"
        elif now is None:
            yield f"net {name} removed: {_pins(was)}"
        elif was != now:
            yield f"net {name}: {_pins(was - now) or 'nothing'} -> {_pins(now - was) or 'nothing'}"


def _pins(pins: frozenset[Pin] | None) -> str:
    return ", ".join(
        f"{reference}.{pin}" for reference, pin in sorted(pins or (), key=lambda one: _natural(".".join(one)))
    )


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """A key by which R9 comes before R10."""
    parts = ((part.isdecimal(), part.lstrip("0") if part.isdecimal() else part) for part in re.split(r"(\d+)", text))
    return [(is_number, len(part) if is_number else 0, part) for is_number, part in parts]
