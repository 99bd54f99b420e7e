"""A regular expression that is given up after a while, for its matching may take longer than the agent lives.

It knows texts and seconds. In the main thread one text is broken off; in others the time is looked at between texts.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from types import FrameType

from scrubjay.errors import InvalidInput

__all__ = ["SECONDS", "Patient"]

SECONDS = 3.0
# Ordinary patterns take a thirtieth of it, so that a million texts may be looked through.
_PER_CHARACTER = 1e-6


class Patient:
    """Searches many texts for one pattern: for `seconds` in all, and a microsecond more for each character."""

    def __init__(self, pattern: re.Pattern[str], seconds: float = SECONDS) -> None:
        self._pattern = pattern
        self._seconds = self._left = seconds
        self._thread = threading.get_ident() if _listens() else None

    def found_in(self, text: str) -> bool:
        """True where the pattern matches somewhere in the text. Raises InvalidInput when the time is over."""
        is_timed = self._thread == threading.get_ident()
        self._left += len(text) * _PER_CHARACTER
        begin = time.perf_counter()
        try:
            if is_timed:
                signal.setitimer(signal.ITIMER_VIRTUAL, self._left)
            found = self._pattern.search(text) is not None
        except _Rang:
            self._left = 0.0
        finally:
            if is_timed:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._left -= time.perf_counter() - begin
        if self._left > 0:
            return found
        raise InvalidInput(
            f"regex: given up, matching takes more than {self._seconds:g} s beyond what texts of this length need. "
            r"A repeat inside a repeat, such as (a+)+ or (\w+\s?)*, and several .* after one another try too many "
            "ways: say it without, look for literal text (grep), or narrow the query by steps, tag or action"
        )


class _Rang(Exception):
    """The timer of CPU time ran out."""


def _ring(number: int, frame: FrameType | None) -> None:
    if frame is not None and frame.f_code is Patient.found_in.__code__:
        raise _Rang


def _listens() -> bool:
    """True in the main thread, where the timer of CPU time is free: programs have little other use for it."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handler = signal.getsignal(signal.SIGVTALRM)
    if handler is signal.SIG_DFL:
        signal.signal(signal.SIGVTALRM, _ring)
    return handler in (signal.SIG_DFL, _ring)
