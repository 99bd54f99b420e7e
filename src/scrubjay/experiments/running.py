"""All trials of an experiment: one folder each, several at once, gone on with after a kill.

What is finished is never done again; what was cut off is put aside, kept, and done from the beginning.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from scrubjay.errors import Locked, ScrubjayError
from scrubjay.experiments.plan import Experiment, Trial
from scrubjay.experiments.trial_run import carry_out, result_of
from scrubjay.memory.disk import let_go, lock_exclusive, make_folder
from scrubjay.memory.jsonio import Json
from scrubjay.methods.named import make_method

__all__ = ["Done", "Running"]

_LOCK = ".lock"
_WATCH = 0.1  # seconds; less than it takes to start another


@dataclass(frozen=True, slots=True)
class Done:
    """How a trial went. `result` is None where it was stopped or failed; then `error` says why, if it failed."""

    trial: Trial
    result: Json | None
    error: str | None = None
    is_old: bool = False


class Running:
    """Carries out an experiment in a folder. `tell` is given each trial as it is done, also those done before."""

    def __init__(
        self, experiment: Experiment, folder: str, jobs: int = 1, tell: Callable[[Done], None] = lambda done: None
    ) -> None:
        self._experiment, self._folder, self._jobs, self._tell = experiment, os.path.abspath(folder), jobs, tell
        self._is_stopped = False

    def run(self) -> bool:
        """True when every trial is finished; false where some were stopped or failed.

        Raises InvalidInput for a method that there is not, Locked where another process works on this folder, Conflict
        where it holds results of other settings.
        """
        for method in self._experiment.methods:
            make_method(method, self._experiment.encoder, self._experiment.frame_encoder)
        make_folder(self._folder)
        lock = lock_exclusive(os.path.join(self._folder, _LOCK), wait=False)
        if lock is None:
            raise Locked(f"another process carries out an experiment in {self._folder}")
        try:
            return self._run()
        finally:
            let_go(lock)

    def _run(self) -> bool:
        waiting, is_all = [], True
        for trial in self._experiment.trials():
            result = result_of(self._at(trial), trial)
            if result is None:
                waiting.append(trial)
            else:
                self._tell(Done(trial, result, is_old=True))
        for done in self._one_by_one(waiting) if self._jobs == 1 else self._together(waiting):
            self._tell(done)
            is_all = is_all and done.result is not None
        return is_all and not self._is_stopped

    def _at(self, trial: Trial) -> str:
        return os.path.join(self._folder, trial.name)

    def _one_by_one(self, trials: list[Trial]) -> Iterator[Done]:
        for trial in trials:
            done = attempt(trial, self._at(trial))
            yield done
            if done.result is None and done.error is None:
                self._is_stopped = True
                return

    def _together(self, trials: list[Trial]) -> Iterator[Done]:
        """Each trial in a process of its own, so many at once."""
        context = multiprocessing.get_context("spawn")
        waiting, running = list(reversed(trials)), dict[Connection, tuple[Trial, SpawnProcess]]()
        try:
            while running or (waiting and not self._is_stopped):
                while waiting and len(running) < self._jobs and not self._is_stopped:
                    trial = waiting.pop()
                    ours, theirs = context.Pipe(duplex=False)
                    process = context.Process(target=_work, args=(trial, self._at(trial), theirs), daemon=True)
                    process.start()
                    theirs.close()
                    running[ours] = (trial, process)
                yield from self._next(running)
        finally:
            for _, process in running.values():
                process.terminate()  # the trial ends its life and is done again the next time
            for _, process in running.values():
                process.join()

    def _next(self, running: dict[Connection, tuple[Trial, SpawnProcess]]) -> Iterator[Done]:
        try:
            ready = wait(list(running))
        except KeyboardInterrupt:
            self._is_stopped = True
            for _, process in running.values():
                process.terminate()  # asks the trial to stop after the present step
            return
        for connection in ready:
            assert isinstance(connection, Connection)
            trial, process = running.pop(connection)
            done: Done
            try:
                done = connection.recv()
            except EOFError:
                process.join()
                done = Done(trial, None, f"its process ended with status {process.exitcode}")
            process.join()
            connection.close()
            self._is_stopped = self._is_stopped or (done.result is None and done.error is None)
            yield done


def attempt(trial: Trial, folder: str) -> Done:
    """Carries out a trial in its folder, after putting aside what an earlier attempt left there."""
    try:
        _put_aside(folder)
        return Done(trial, carry_out(trial, folder))
    except ScrubjayError as error:
        return Done(trial, None, f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        return Done(trial, None)


def _put_aside(folder: str) -> None:
    """Renames what a trial that was cut off left; nothing of it is removed."""
    if os.path.isdir(folder):
        number = 1
        while os.path.exists(f"{folder}.cut-{number}"):
            number += 1
        os.rename(folder, f"{folder}.cut-{number}")
    make_folder(folder)


def _work(trial: Trial, folder: str, answer: Connection) -> None:
    os.setpgid(0, 0)  # Ctrl-C is for the parent, which then asks each trial once to stop
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        done = attempt(trial, folder)
        answer.send(done)
        answer.close()


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone: whoever goes on does the trial again, in the same folder."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)
