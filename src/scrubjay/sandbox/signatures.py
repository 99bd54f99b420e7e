"""Signatures of atoms: as stubs for the type checker, read off a function, and applied to the arguments of a call.

It knows the few types that atoms take; what an atom does it does not know.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scrubjay.sandbox.contract import REQUIRED, AtomSpec, Parameter

__all__ = ["bind", "signature", "spec_of", "stubs"]

# What the interpreter has and its type checker doesn't know.
_BUILTINS = [
    "def map(function: Any, *iterables: Any) -> Any: ...",
    "def filter(function: Any, iterable: Any) -> Any: ...",
    "def getattr(owner: Any, name: str, default: Any = None) -> Any: ...",
    "def hasattr(owner: Any, name: str) -> bool: ...",
]


def signature(spec: AtomSpec) -> str:
    """`go_to(x: float, z: float, within: float = 0.8) -> dict[str, Any]`."""
    shown = (f"{one.name}: {one.type}{_default(one)}" for one in spec.parameters)
    return f"{spec.name}({', '.join(shown)}) -> {spec.returns}"


def _default(parameter: Parameter) -> str:
    return "" if parameter.default is REQUIRED else f" = {parameter.default!r}"


def stubs(specs: Sequence[AtomSpec]) -> str:
    """The declarations that a source is type-checked against."""
    lines = ["from typing import Any, Literal", *_BUILTINS]
    lines += [f"def {signature(spec)}: ..." for spec in specs]
    return "\n".join(lines) + "\n"


def spec_of(function: Callable[..., Any]) -> AtomSpec:
    """The spec of a function that is an atom: its name, annotations, defaults, and its docstring's first line."""
    found = inspect.signature(function)
    parameters = tuple(
        Parameter(one.name, _written(one.annotation), REQUIRED if one.default is one.empty else one.default)
        for one in found.parameters.values()
    )
    doc = (inspect.getdoc(function) or "").partition("\n")[0]
    return AtomSpec(function.__name__, parameters, doc, _written(found.return_annotation))


def _written(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return "Any"
    if isinstance(annotation, str):
        return annotation
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def bind(spec: AtomSpec, positional: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a call. Raises TypeError or ValueError, for the procedure, where they don't fit.

    The type checker has seen the call, but it passes over what it can't know: a value out of a dict, an `Any`.
    """
    names = [one.name for one in spec.parameters]
    if len(positional) > len(names):
        raise TypeError(f"{spec.name}: {len(positional)} arguments given, it takes {len(names)}: {signature(spec)}")
    given = dict(zip(names, positional, strict=False))
    for name, value in keywords.items():
        if name in given or name not in names:
            problem = "given twice" if name in given else "not a parameter"
            raise TypeError(f"{spec.name}: {name} is {problem}: {signature(spec)}")
        given[name] = value
    for one in spec.parameters:
        if one.name in given:
            given[one.name] = _fitting(f"{spec.name}: {one.name}", one.type, given[one.name])
        elif one.default is REQUIRED:
            raise TypeError(f"{spec.name}: {one.name} is missing: {signature(spec)}")
    return given


_PLAIN: dict[str, tuple[type, ...]] = {
    "bool": (bool,), "int": (int,), "float": (int, float), "str": (str,), "None": (type(None),),
    "list": (list,), "dict": (dict,),
}  # fmt: skip


def _fitting(where: str, written: str, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} is {value}, a finite number was expected")
    if written == "int" and isinstance(value, float) and value.is_integer():
        return int(value)  # a coordinate out of a state is often 32.0
    if not any(_fits(option.strip(), value) for option in _options(written)):
        raise TypeError(f"{where} is {value!r:.60}, {written} was expected")
    return float(value) if written == "float" else value


def _options(written: str) -> list[str]:
    """The parts of a union, brackets kept whole."""
    parts, depth = [""], 0
    for character in written:
        depth += (character == "[") - (character == "]")
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _fits(option: str, value: Any) -> bool:
    name, _, inner = option.partition("[")
    if name == "Literal":
        return value in ast.literal_eval(f"[{inner}")
    allowed = _PLAIN.get(name)
    if allowed is None:
        return True
    if isinstance(value, bool) and bool not in allowed:
        return False
    if not isinstance(value, allowed):
        return False
    if isinstance(value, list) and inner:
        return all(any(_fits(part.strip(), item) for part in _options(inner[:-1])) for item in value)
    return True
