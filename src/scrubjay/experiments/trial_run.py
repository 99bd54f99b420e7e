"""Carrying out one trial: a life, or several, in a memory of its own; then `run.json`, written last.

A folder with `run.json` holds a finished trial, a folder without one a trial that was cut off.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrubjay.errors import Conflict, Damaged
from scrubjay.experiments.plan import Trial
from scrubjay.experiments.scoring import score
from scrubjay.memory.disk import write_file
from scrubjay.memory.jsonio import Json, loads_object
from scrubjay.version import __version__

if TYPE_CHECKING:
    from scrubjay.agent.progress import Progress
    from scrubjay.environments.contract import Environment
    from scrubjay.methods.contract import Method
    from scrubjay.methods.living import Setting
    from scrubjay.models.waiting import Outage

__all__ = ["FORMAT", "MEMORY", "RESULT", "carry_out", "result_of"]

FORMAT = 1
MEMORY = "memory"
RESULT = "run.json"


def result_of(folder: str, trial: Trial | None = None) -> Json | None:
    """What a finished trial's `run.json` says; None where the trial is not finished.

    Raises Conflict where it is the result of a trial other than `trial`, Damaged where it can't be read.
    """
    path = os.path.join(folder, RESULT)
    try:
        with open(path, "rb") as file:
            result = loads_object(file.read())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise Damaged(f"no result of a trial: {error}", file=path) from None
    if trial is not None and result.get("trial") != json.loads(json.dumps(trial.to_json())):
        raise Conflict(
            f"{folder} holds the result of other settings ({result.get('trial')}); give the experiment another folder"
        )
    return result


def carry_out(
    trial: Trial,
    folder: str,
    watch: Callable[[Progress], None] = lambda progress: None,
    outage: Callable[[Outage | None], None] | None = None,
) -> Json | None:
    """Runs a trial in a folder that has none yet; returns its result, or None where somebody stopped it."""
    from scrubjay.methods.living import living
    from scrubjay.methods.named import make_method
    from scrubjay.public import Memory

    began, cpu = time.time(), time.process_time()
    method = make_method(trial.method, trial.encoder, trial.frame_encoder)
    environment = _environment(trial)
    with Memory.create(os.path.join(folder, MEMORY)) as memory:
        try:
            with living(_setting(trial), environment, method, memory, watch, outage) as ready:
                progress = ready.run.run()
        finally:
            environment.close()
        if progress.is_stopped:
            return None
        played = time.process_time() - cpu
        result = {
            **_made(trial, method, ready.model.name),
            "began": began,
            "seconds": round(time.time() - began, 2),
            "cpu_seconds": round(played, 2),
            "known_milestones": list(environment.milestones),
            **_gone(progress),
            **score(memory, trial.environment),
        }
    write_file(os.path.join(folder, RESULT), json.dumps(result, indent=1, ensure_ascii=False).encode() + b"\n")
    return result


def _environment(trial: Trial) -> Environment:
    from scrubjay.environments.named import make_environment

    size: dict[str, Any] = {} if trial.frame is None else {"size": trial.frame}
    return make_environment(trial.environment, **{**trial.task.arguments, **size})


def _setting(trial: Trial) -> Setting:
    from scrubjay.methods.living import Setting

    task = trial.task
    return Setting(trial.environment, trial.model, task.text, task.steps, task.lives, trial.seed)


def _made(trial: Trial, method: Method, model: str) -> Json:
    """What was run, by what."""
    from scrubjay.methods.named import encoders_of

    return {
        "format": FORMAT,
        "trial": trial.to_json(),
        "model": {"name": model, "is_scripted": model == "scripted"},
        "encoders": list(encoders_of(method)),
        "made": {"scrubjay": __version__, "python": platform.python_version()},
    }


def _gone(progress: Progress) -> Json:
    """How it went."""
    return {
        "reached": [asdict(one) for one in progress.reached],
        "deaths": list(progress.deaths),
        "steps": progress.step,
        "turns": progress.turns,
        "episodes": progress.episodes,
    }
