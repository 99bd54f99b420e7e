"""Searches by regular expression, in a process of their own: matching one text holds up the program that matches it.

There the main thread searches, which gives up in time (`retrieval/patience.py`). It knows queries and rows, no page.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass

from scrubjay.errors import InvalidInput, ScrubjayError
from scrubjay.memory.records import Row
from scrubjay.public import Memory
from scrubjay.retrieval.document_words import DocumentLine
from scrubjay.retrieval.matches import Matches
from scrubjay.retrieval.query import Query

__all__ = ["Apart", "Found"]

_SECONDS = 30.0  # for a search over everything; its regular expression gives up long before
_MOST_WAITING = 8


@dataclass(frozen=True, slots=True)
class Found:
    """One page of what a query finds; `more` is where the next one begins, or None."""

    rows: tuple[Row, ...]
    documents: tuple[DocumentLine, ...]
    more: str | None

    @classmethod
    def of(cls, matches: Matches) -> Found:
        """What the matches say, read out."""
        return cls(matches.rows, matches.documents, matches.more)


class Apart:
    """The process that searches one memory, begun when first needed. Safe for any number of threads."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._mutex = threading.Lock()
        self._waiting = threading.BoundedSemaphore(_MOST_WAITING)
        self._process: subprocess.Popen[bytes] | None = None

    def find(self, query: Query) -> Found:
        """One page of what matches. Raises InvalidInput where it takes too long, or too many others wait."""
        if not self._waiting.acquire(blocking=False):
            raise InvalidInput(f"regex: {_MOST_WAITING} searches by regular expression are waiting: try again later")
        try:
            with self._mutex:
                answer = self._ask(query)
        finally:
            self._waiting.release()
        if isinstance(answer, Found):
            return answer
        raise InvalidInput(answer)

    def _ask(self, query: Query) -> Found | str:
        process = self._process
        if process is None or process.poll() is not None:
            self._end()
            process = self._process = _begun(self._root)
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(_SECONDS, process.kill)
        timer.start()
        try:
            pickle.dump(query, process.stdin)
            process.stdin.flush()
            answer: Found | str = pickle.load(process.stdout)  # from a program of ours
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end()
            return f"regex: the search ended early, or took more than {_SECONDS:g} s: narrow it by steps, tag or action"
        finally:
            timer.cancel()
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            process.wait()

    def close(self) -> None:
        """Ends the process."""
        with self._mutex:
            self._end()


def _begun(root: str) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C is for the server, with whose end the pipe ends, and with it the process.
    return subprocess.Popen(
        [sys.executable, "-m", __name__, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )


def _answered(memory: Memory, query: Query) -> Found | str:
    try:
        return Found.of(memory.find(query))
    except ScrubjayError as error:
        return str(error)


def main() -> None:
    """Answers queries from the standard input until it ends."""
    with Memory.open(sys.argv[1], read_only=True) as memory:
        while True:
            try:
                query = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_answered(memory, query), sys.stdout.buffer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    # By its name, so that what is sent is of the class that the server knows.
    from scrubjay.surfaces import apart

    apart.main()
