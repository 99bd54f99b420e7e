"""Carrying out a call without holding up others: in a thread, with signs of life, and never half.

A cancelled call that writes is carried to its end and its answer dropped; a check ends at once. It knows no tool.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread

from scrubjay.surfaces.mcp.results import Answer, explained

if TYPE_CHECKING:
    from mcp.server.session import ServerSession

    from scrubjay.surfaces.mcp.reading import Progress

__all__ = ["BEAT", "carry_out"]

BEAT = 1.0  # seconds between signs of life


class _Told:
    """How far a call has come; set in its thread, read by whoever tells the client."""

    def __init__(self) -> None:
        self.done: tuple[int, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        self.done = (done, total)


async def carry_out(
    work: Callable[[Progress], Answer], session: ServerSession, *, counts: bool, beat: float
) -> Answer | str:
    """What the work gives, or in words why it gives nothing.

    While it runs the client is told: what is done of how much where the work `counts` that, else the seconds.
    """
    told = _Told()

    def carried() -> Answer | str:
        try:
            return work(told)
        except Exception as error:  # a client may give any argument any value
            return explained(error)

    given: list[Answer | str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell, session, told, counts, beat)
        given.append(await anyio.to_thread.run_sync(carried))
        tasks.cancel_scope.cancel()
    return given[0]


async def _tell(session: ServerSession, told: _Told, counts: bool, beat: float) -> None:
    begin = time.monotonic()
    before: Any = None
    while True:
        await anyio.sleep(beat)
        if counts and told.done is not None and told.done != before:
            before = told.done
            await session.report_progress(*told.done, f"{told.done[0]} of {told.done[1]}")
        elif not counts:
            await session.report_progress(round(time.monotonic() - begin, 1), None, "at work")
