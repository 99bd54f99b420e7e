"""Which goals a task comes to. This is the knowledge of circuits that a language model would bring along."""

from __future__ import annotations

import re
from collections.abc import Callable

from scrubjay.models.scripted.kicad.goals import Change, Check, Export, Goal, Label, Locate, Place, Save, Wire

__all__ = ["recipe"]


def recipe(task: str) -> tuple[Goal, ...]:
    """The goals of a task by its text; none for a task that these rules don't know."""
    for pattern, make in _RECIPES:
        found = re.search(pattern, task, re.IGNORECASE | re.DOTALL)
        if found is not None:
            return (*make(found), *_asked(task))
    return ()


def _asked(task: str) -> tuple[Goal, ...]:
    """What a text asks for besides: a check, an exported netlist. A netlist is of what was saved."""
    goals: list[Goal] = [Save()]
    if "electrical rules checker" in task.lower():
        goals.append(Check())
    if re.search(r"(export|generate|create)[^.]*netlist", task, re.IGNORECASE):
        goals.append(Export())
    return tuple(goals)


def _supply(found: re.Match[str]) -> tuple[Goal, ...]:
    return (Change(f"+{found[1]}V", f"+{found[2]}V"),)


def _named(found: re.Match[str]) -> tuple[Goal, ...]:
    return (Change(found[1], f"{found[2]}k"),)


def _load(find: str, symbol: str) -> tuple[Goal, ...]:
    """A resistor of 10 kΩ from a label down to ground."""
    return (
        Locate(find),
        Place(symbol, 0, 400, "10k"),
        Place("GND", 0, 700, key="p"),
        Wire(0, 0, 0, 250),
        Wire(0, 550, 0, 700),
    )


_LEDS = (
    Place("Battery", 4000, 3000, "9V"),
    Place("R_US", 4800, 2950, "100"),
    Place("LD271", 4700, 3400),
    Place("LD271", 4400, 3700),
    Place("GND", 4000, 4000, key="p"),
    Wire(4000, 2800, 4800, 2800),
    Wire(4800, 3100, 4800, 3400),
    Wire(4500, 3400, 4500, 3700),
    Wire(4000, 3200, 4000, 4000),
    Wire(4200, 3700, 4000, 3700),
)
# Where a pin lies on another pin, they are connected: that saves wires.
_BAND = (
    Place("C", 4500, 3150, "15n"),
    Place("C", 5500, 3450, "1.5n"),
    Place("Conn_01x02", 4700, 3300),
    Place("Conn_01x02", 6200, 3300),
    Place("R", 5000, 3150, "10k"),
    Place("R", 5500, 3150, "10k"),
    Place("GND", 4500, 3400, key="p"),
    Place("GND", 5000, 3300, key="p"),
    Place("GND", 5500, 3600, key="p"),
    Place("GND", 6000, 3400, key="p"),
    Wire(4500, 3000, 5000, 3000),
    Wire(5000, 3000, 5500, 3000),
    Wire(5500, 3300, 6000, 3300),
)
_BUCK = (
    Place("LM2576HVS-3.3", 5000, 3000),
    Place("C_Polarized_US", 4000, 3050, "100uF"),
    Place("C_Polarized_US", 7000, 3450, "1000uF"),
    Place("1N5822", 6150, 3100),
    Place("L_Small", 5700, 3200, "100uH"),
    Place("+48V", 4000, 2900, key="p"),
    Place("GND", 4000, 3200, key="p"),
    Place("GND", 4500, 3100, key="p"),
    Place("GND", 5000, 3300, key="p"),
    Place("GND", 6300, 3100, key="p"),
    Place("GND", 7000, 3600, key="p"),
    Wire(4000, 2900, 4500, 2900),
    Wire(5500, 3100, 5700, 3100),
    Wire(5700, 3100, 6000, 3100),
    Wire(5700, 3300, 7000, 3300),
    Wire(5500, 2900, 7000, 3300),
)
_REFERENCE = (
    Place("AD586", 5000, 3500),
    Place("C", 4600, 3750, "1u"),
    Place("R_Potentiometer", 4200, 3500, "10k"),
    Place("+9VA", 5000, 3200, key="p"),
    Place("GND", 5000, 3900, key="p"),
    Place("GND", 4600, 3900, key="p"),
    Place("GND", 4200, 3650, key="p"),
    Wire(4350, 3500, 4600, 3500),
    Label("Output", 5400, 3500),
    Label("Output", 4200, 3350, is_left=True),
)
# The filter's resistor comes first, as in the text; the rail above the chip is the net of SENSE.
_ISOLATOR = (
    Place("ISO1211", 5500, 3500),
    Place("R_US", 4000, 3050, "2.5k"),
    Place("C", 4400, 3350, "10nF"),
    Place("R_US", 4800, 3350, "562"),
    Place("+3V3", 5600, 3200, key="p"),
    Place("+3V3", 6700, 3700, key="p"),
    Place("GND1", 5600, 3900, key="p"),
    Wire(5000, 3200, 5000, 3400),
    Wire(4800, 3200, 5000, 3200),
    Wire(4400, 3200, 4800, 3200),
    Wire(4000, 3200, 4400, 3200),
    Wire(4800, 3500, 5000, 3500),
    Wire(6000, 3700, 6700, 3700),
    Label("FIELD_INPUT", 4000, 2900),
    Label("FGND", 4400, 3500),
    Label("HEAT_SINK", 5000, 3600, is_left=True),
    Label("FGND", 5000, 3700, is_left=True),
    Label("OUTPUT", 6000, 3500),
)
# A capacitor across the motor, and a resistor from the base of each transistor that a control line drives to ground.
_BRIDGE = (
    Place("C", 5400, 4000, "100n"),
    Wire(5400, 3850, 6200, 3850),
    Wire(5400, 4150, 5250, 4150),
    Place("R", 4250, 4600, "10k"),
    Place("GND", 4250, 4850, key="p"),
    Wire(4250, 4350, 4250, 4450),
    Wire(4250, 4750, 4250, 4850),
    Place("R", 4250, 3750, "10k"),
    Place("GND", 4250, 4000, key="p"),
    Wire(4250, 3500, 4250, 3600),
    Wire(4250, 3900, 4250, 4000),
)
_LAMP = (
    Place("+5V", 5000, 2500, key="p"),
    Place("R_US", 5000, 2900, "330"),
    Place("LED", 4850, 3400),
    Place("GND", 4700, 3700, key="p"),
    Wire(5000, 2500, 5000, 2750),
    Wire(5000, 3050, 5000, 3400),
    Wire(4700, 3400, 4700, 3700),
)
_RESISTOR = (
    Place("+5V", 5000, 2500, key="p"),
    Place("R_US", 5000, 2900, "330"),
    Place("GND", 5000, 3300, key="p"),
    Wire(5000, 2500, 5000, 2750),
    Wire(5000, 3050, 5000, 3300),
)
_RECIPES: tuple[tuple[str, Callable[[re.Match[str]], tuple[Goal, ...]]], ...] = (
    (r"voltage source .* from a (\d+)V to (\d+)V", _supply),
    (r"changing (R\d+) to ([\d.]+)kOhm", _named),
    (r"Modify R2 to produce an output of 1\.8V", lambda _: (Change("R2", "3.09k"),)),
    (r"value of R2 so that R1 sees twice as much current", lambda _: (Change("R2", "10k"),)),
    (r"pole frequency to 4kHz", lambda _: (Change("C1", "2nF"),)),
    (r"value of R1 to center the DC bias", lambda _: (Change("R1", "5k"),)),
    (r"low-pass capacitor from 47nF to 100nF", lambda _: (Change("C4", "100n"), *_load("Vo2", "R"))),
    (r"H-bridge motor driver", lambda _: _BRIDGE),
    (r"passive RC band-pass filter", lambda _: _BAND),
    (r"convert 48 Vdc to 3\.3 Vdc", lambda _: _BUCK),
    (r"9V battery driving two infrared", lambda _: _LEDS),
    (r"voltage reference circuit using the AD586", lambda _: _REFERENCE),
    (r"chip ISO1211", lambda _: _ISOLATOR),
    (r"create an empty netlist", lambda _: ()),
    # those that ship with scrubjay
    (r"R2 must be 1\.94 k", lambda _: (Change("R2", "1.94k"),)),
    (r"from 5 V to 3\.3 V", lambda _: (Change("+5V", "+3V3"),)),
    (r"load resistor \(R_US\) from OUT", lambda _: _load("OUT", "R_US")),
    (r"resistor \(R_US\) of 330 Ω between \+5V and GND", lambda _: _RESISTOR),
    (r"Draw an indicator lamp", lambda _: _LAMP),
    (r"Change R1 to 2\.2 k", lambda _: (Change("R1", "2.2k"),)),
    (r"Export the netlist of this", lambda _: ()),
)
