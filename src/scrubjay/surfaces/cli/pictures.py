"""What `scrubjay episodes` does with pictures: asks by one, draws a sheet, puts then beside now.

Kept apart from the command so that a query without pictures loads none of it.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory.layout import Layout, parse_reference
from scrubjay.retrieval.query import Query
from scrubjay.surfaces.cli.plain import plain
from scrubjay.surfaces.cli.showing import open_for

if TYPE_CHECKING:
    import numpy as np

    from scrubjay.memory.records import Row
    from scrubjay.public import Memory
    from scrubjay.retrieval.matches import Matches
    from scrubjay.retrieval.views import View

__all__ = ["sheet", "then_now", "with_pictures"]


def with_pictures(query: Query, arguments: argparse.Namespace, layout: Layout) -> Query:
    """The query with the pictures of `--same-screen` and `--like` as it compares them."""
    if arguments.same_screen is not None:
        from scrubjay.memory.frames import screen_hash

        query = dataclasses.replace(query, same_screen=screen_hash(_pixels(arguments.same_screen, layout)))
    if arguments.like is not None:
        from scrubjay.retrieval.places import views

        query = dataclasses.replace(query, like=b"".join(views(_pixels(arguments.like, layout))))
    return query


def _pixels(source: str, layout: Layout) -> np.ndarray[Any, Any]:
    import numpy as np
    from PIL import Image, UnidentifiedImageError

    if os.path.isfile(source):
        try:
            with Image.open(source) as image:
                return np.asarray(image.convert("RGB"))
        except (OSError, UnidentifiedImageError) as error:
            raise InvalidInput(f"{source} is not a picture: {error}") from None
    from scrubjay.public import Memory

    try:
        reference = parse_reference(source)
    except InvalidInput:
        raise NotFound(f"{source!r} is neither a file nor a reference such as ep_000043") from None
    with Memory.open(layout.root, read_only=True) as memory:
        episode = memory.episode(reference.episode)
        frame = episode.start_frame() if reference.step is None else episode.frame(reference.step)
        return frame.array()


def sheet(arguments: argparse.Namespace, matches: Matches) -> None:
    """Writes the contact sheet of what was found."""
    with open_for(arguments.memory, arguments.q) as memory:
        view = memory.sheet(matches, question=arguments.q)
    view.save(arguments.sheet)
    asked = "" if arguments.q is None else f"  Q: {arguments.q}"
    print(f"sheet: {arguments.sheet}{asked}", file=sys.stderr)
    _tell(view, arguments.memory)
    if arguments.q is not None:
        print(f"  Q: {arguments.q}", file=sys.stderr)
    if view.warning is not None:
        print(f"  {view.warning}", file=sys.stderr)


def then_now(arguments: argparse.Namespace, question: str) -> int:
    """Writes the remembered frame beside the current one, and says which it was."""
    reference = arguments.then_now
    with open_for(arguments.memory, arguments.q) as memory:
        try:
            view = memory.then_now(reference, now=arguments.now, question=arguments.q)
            label = _label(memory, reference)
        except NotFound as error:
            print(plain(_no_frame(memory, reference, error)), file=sys.stderr)
            return 1
    view.save(arguments.out)
    print(plain(f"wrote {arguments.out}: THEN {label} | NOW. Q: {question}. View it with view_image."))
    _tell(view, arguments.memory)
    return 0


def _no_frame(memory: Memory, reference: str, error: NotFound) -> str:
    try:
        memory.episode(reference)
    except (NotFound, InvalidInput):
        return f"no frame for {reference!r}: not an episode id in the index and not a file"
    return f"no frame for {reference!r}: {error}"


def _tell(view: View, folder: str) -> None:
    if view.inspection is not None:
        print(f"  answer it: scrubjay answer {shlex.quote(folder)} {view.inspection} TEXT", file=sys.stderr)
    if view.warning is not None:
        print(f"  {view.warning}", file=sys.stderr)


def _label(memory: Memory, reference: str) -> str:
    try:
        parsed = parse_reference(reference)
    except InvalidInput:
        return os.path.basename(reference)
    row: Row = memory.episode(parsed.episode).row
    step = row.first_step if parsed.step is None else parsed.step
    one, two = (getattr(row, "xyz"[axis]) for axis in memory.world(row.world).ground)
    where = "" if one is None or two is None else f" at ({one:.0f},{two:.0f})"
    return f"{row.id}{'' if step is None else f' step {step}'}{where}"
