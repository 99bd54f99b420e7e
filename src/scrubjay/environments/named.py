"""A choice by name: a short map of what ships, plus any dotted path to what a user wrote."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput

__all__ = ["ENVIRONMENTS", "check_made", "load", "make", "make_environment"]

ENVIRONMENTS = {
    "crafter": "scrubjay.environments.crafter:Crafter",
    "desktop": "scrubjay.environments.desktop.environment:Desktop",
    "kicad": "scrubjay.environments.kicad.environment:KiCad",
    "vizdoom": "scrubjay.environments.vizdoom:VizDoom",
}


_ENVIRONMENT_HAS = ("world", "actions", "milestones", "reset", "step", "render", "close")


def make_environment(choice: str, **arguments: Any) -> Environment:
    """A new environment by its name or dotted path (`my.module:Env`). Raises InvalidInput, saying what there is."""
    environment: Environment = make(choice, ENVIRONMENTS, "environment", **arguments)
    if choice not in ENVIRONMENTS:
        check_made(environment, choice, "environment", _ENVIRONMENT_HAS, "scrubjay.environments.contract.Environment")
    return environment


def make(choice: str, known: Mapping[str, str], what: str, **arguments: Any) -> Any:
    """What the object that `choice` names makes of these arguments. Raises InvalidInput where it does not take them."""
    maker = load(choice, known, what)
    try:
        return maker(**arguments)
    except TypeError as error:
        raise InvalidInput(f"{what} {choice!r}: {error}") from None


def check_made(made: Any, choice: str, what: str, parts: Iterable[str], contract: str) -> None:
    """Raises InvalidInput where what a user's own path made lacks a part of the contract."""
    lacking = [part for part in parts if not hasattr(made, part)]
    if lacking:
        kind = type(made).__name__
        raise InvalidInput(f"{what} {choice!r}: {kind} lacks {', '.join(lacking)}; {contract} says what is needed")


def load(choice: str, known: Mapping[str, str], what: str) -> Any:
    """The object that `choice` names: a key of `known`, or a path like `my.module:Name`.

    A module of the user's is looked for among what is installed, then in the current folder. Raises InvalidInput
    where there is no such name or module, or where what it needs is not installed.
    """
    path = known.get(choice, choice)
    module, _, name = path.partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise InvalidInput(f"{choice!r} is no {what}: one of {', '.join(known)}, or a path like my.module:Name")
    if choice not in known:
        _look_in_this_folder()
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is not None and choice not in known and f"{module}.".startswith(f"{error.name}."):
            raise InvalidInput(
                f"{what} {choice!r}: there is no module {error.name}, neither installed nor in {os.getcwd()}"
            ) from None
        hint = f"; pip install 'scrubjay[{choice}]' brings it" if choice in known else ""
        raise InvalidInput(f"{what} {choice!r} needs the module {error.name}, which is not installed{hint}") from None
    except AttributeError:
        raise InvalidInput(f"{what} {choice!r}: {module} has no {name!r}") from None


def _look_in_this_folder() -> None:
    # `python -m scrubjay` has it anyway, the installed command has not. Last, so that it hides nothing installed.
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
