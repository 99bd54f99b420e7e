"""A netlist as KiCad exports it: which components there are, which pins are joined, and what each net is called."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from scrubjay.environments.kicad.sexpr import Node, children, head, read, text_of
from scrubjay.errors import Damaged, NotFound

__all__ = ["Component", "Net", "Netlist", "Pin"]

_MOST_BYTES = 16 << 20

Pin = tuple[str, str]  # reference and pin, such as ("R1", "2")


@dataclass(frozen=True, slots=True)
class Component:
    """One part: its reference (`R1`), its value (`4.7k`) and the library part it was placed from (`R_US`)."""

    reference: str
    value: str
    part: str


@dataclass(frozen=True, slots=True)
class Net:
    """Pins that are joined, under the name that KiCad gives them."""

    name: str
    pins: frozenset[Pin]


@dataclass(frozen=True, slots=True)
class Netlist:
    """Components and nets, in the order of the file."""

    components: tuple[Component, ...]
    nets: tuple[Net, ...]

    @property
    def is_empty(self) -> bool:
        """True where nothing was drawn."""
        return not self.components and not self.nets

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The netlist in a `.net` file. Raises NotFound, and Damaged with the byte where it can't be read."""
        where = os.fspath(path)
        try:
            with open(where, "rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise NotFound(f"there is no netlist {where}") from None
        except OSError as error:
            raise Damaged(f"it can't be read: {error.strerror}", file=where) from None
        if len(data) > _MOST_BYTES:
            raise Damaged(f"it has more than {_MOST_BYTES >> 20} MiB, as no netlist of KiCad's has", file=where)
        try:
            return cls.parse(data.decode(), where)
        except UnicodeDecodeError as error:
            raise Damaged("it is no text in UTF-8", file=where, offset=error.start) from None

    @classmethod
    def parse(cls, text: str, file: str = "netlist") -> Self:
        """The netlist in a text of KiCad's s-expressions. Raises Damaged; `file` is what it calls the text."""
        whole = read(text, file)
        if head(whole) != "export":
            raise Damaged(f"a netlist begins with (export, this one with ({head(whole)[:40]}", file=file)
        return cls(
            tuple(_component(one, file) for part in children(whole, "components") for one in children(part, "comp")),
            tuple(_net(one, file) for part in children(whole, "nets") for one in children(part, "net")),
        )


def _component(node: Node, file: str) -> Component:
    source = next(children(node, "libsource"), [])
    value = text_of(node, "value") or ""
    return Component(_need(node, "ref", file), value, text_of(source, "part") or value)


def _net(node: Node, file: str) -> Net:
    pins = frozenset((_need(one, "ref", file), _need(one, "pin", file)) for one in children(node, "node"))
    return Net(text_of(node, "name") or "", pins)


def _need(node: Node, name: str, file: str) -> str:
    value = text_of(node, name)
    if value is None:
        raise Damaged(f"a ({head(node)} …) without its ({name} …)", file=file)
    return value
