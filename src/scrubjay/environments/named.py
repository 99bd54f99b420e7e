"""A choice by name: a short map of what ships, plus any dotted path to what a user wrote."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput

__all__ = ["ENVIRONMENTS", "load", "make_environment"]

ENVIRONMENTS = {
    "crafter": "scrubjay.environments.crafter:Crafter",
    "desktop": "scrubjay.environments.desktop.environment:Desktop",
    "kicad": "scrubjay.environments.kicad.environment:KiCad",
    "vizdoom": "scrubjay.environments.vizdoom:VizDoom",
}


def make_environment(choice: str, **arguments: Any) -> Environment:
    """A new environment by its name or dotted path (`my.module:Env`). Raises InvalidInput, saying what there is."""
    make = load(choice, ENVIRONMENTS, "environment")
    try:
        environment: Environment = make(**arguments)
    except TypeError as error:
        raise InvalidInput(f"environment {choice!r}: {error}") from None
    return environment


def load(choice: str, known: Mapping[str, str], what: str) -> Any:
    """The object that `choice` names: a key of `known`, or a path like `my.module:Name`.

    Raises InvalidInput where there is no such name or module, or where what it needs is not installed.
    """
    path = known.get(choice, choice)
    module, separator, name = path.partition(":")
    if not separator:
        raise InvalidInput(f"{choice!r} is no {what}: one of {', '.join(known)}, or a path like my.module:Name")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        hint = f"; pip install 'scrubjay[{choice}]' brings it" if choice in known else ""
        raise InvalidInput(f"{what} {choice!r} needs the module {error.name}, which is not installed{hint}") from None
    except AttributeError:
        raise InvalidInput(f"{what} {choice!r}: {module} has no {name!r}") from None
