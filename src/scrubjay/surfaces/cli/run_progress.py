"""What `scrubjay run` shows: a line while it goes on, and at its end how it went.

It knows progress and a terminal; what runs it does not know.
"""

from __future__ import annotations

import shlex
import sys
import time
from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.plain import plain

if TYPE_CHECKING:
    from scrubjay.agent.progress import Progress
    from scrubjay.models.waiting import Outage

__all__ = ["STOPPED", "Outages", "Shown", "summarise"]

STOPPED = "Stopped: the open episode is kept, and the life has ended. The same command goes on with a new life."


class Shown:
    """One line on a terminal, rewritten a few times a second; elsewhere a line where something happened."""

    def __init__(self, milestones: int) -> None:
        self._milestones = milestones
        self._is_terminal = sys.stdout.isatty()
        self._shown = 0.0
        self._news = (0, 0, 0)
        self._step = 0

    def __call__(self, progress: Progress) -> None:
        news = (progress.life, len(progress.reached), len(progress.deaths))
        is_news = news != self._news or progress.step - self._step >= 500
        if self._is_terminal:
            if time.monotonic() - self._shown >= 0.2:
                self._shown = time.monotonic()
                line = plain(f"{self._line(progress)}  {' '.join(progress.intention.split())}")
                print(f"\r\x1b[2K{line[: _width()]}", end="", flush=True)
        elif is_news:
            self._step = progress.step
            print(plain(self._line(progress) + self._what(progress)), flush=True)
        self._news = news

    def _line(self, progress: Progress) -> str:
        health = "" if progress.health is None else f"  health {progress.health:g}"
        speed = progress.episodes / progress.seconds if progress.seconds else 0.0
        return (
            f"step {progress.step}/{progress.steps}  life {progress.life}  milestones {len(progress.known)}/"
            f"{self._milestones}{health}  {progress.episodes} episodes, {speed:.0f}/s"
        )

    def _what(self, progress: Progress) -> str:
        life, reached, deaths = self._news
        if len(progress.deaths) > deaths:
            return "  died"
        new = [one.milestone for one in progress.reached[reached:]]
        return f"  {', '.join(new)}" if new else ("  a life begins" if progress.life > life else "")

    def end(self) -> None:
        """Leaves the line as it is and goes to the next."""
        if self._is_terminal:
            print("\r\x1b[2K", end="")


class Outages:
    """While a model gives no answer: one line on a terminal, rewritten; elsewhere a line for each attempt."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._attempts = 0

    def __call__(self, outage: Outage | None) -> None:
        if outage is None:
            self._attempts = 0
            return
        line = plain(f"no answer for {outage.since:.0f} s: {outage.reason}")
        ending = "; Ctrl-C stops"
        if self._is_terminal:
            print(f"\r\x1b[2K{line[: _width() - len(ending)]}{ending}", end="", file=sys.stderr, flush=True)
        elif outage.attempts != self._attempts:
            self._attempts = outage.attempts
            print(f"{line}; asked again in {outage.left:.0f} s", file=sys.stderr, flush=True)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns - 1


def summarise(progress: Progress, milestones: tuple[str, ...], folder: str) -> None:
    """How a run went, and what to try next with its memory, which lies in `folder`."""
    where = shlex.quote(folder)
    if progress.is_stopped:
        print(STOPPED)
    deaths = f"{len(progress.deaths)} death{'' if len(progress.deaths) == 1 else 's'}"
    earlier = f", {len(progress.known)} with the earlier lives of this world" if progress.earlier else ""
    print(
        f"{progress.step} steps, {progress.turns} turns, {progress.episodes} episodes, {deaths}, "
        f"{progress.seconds:.0f} s: {len(progress.reached)} of {len(milestones)} milestones{earlier}"
    )
    for one in progress.reached:
        print(plain(f"  step {one.step:>5}  life {one.life}  {one.milestone:<20} {one.episode}"))
    missing = [name for name in milestones if name not in progress.known]
    if missing:
        print(f"  not reached yet: {', '.join(missing)}")
    print("\nTry next:")
    print(f"  scrubjay episodes {where} --last 10")
    print(f"  scrubjay episodes {where} --tag milestone --life all")
    print(f"  scrubjay episodes {where} --tag damage --life all --last 5")
    print(f"  scrubjay episodes {where} --tag milestone --life all --sheet milestones.png")
    print(f"  scrubjay map {where} --out map.png")
