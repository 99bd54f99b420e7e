"""Scoring finished trials again, from the memories that they left: when a score is new, or was wrong.

What happened is not touched: `run.json` keeps what was measured while the trial ran, and takes over what follows from
the stored files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from scrubjay.errors import NotFound
from scrubjay.experiments.scoring import score
from scrubjay.experiments.trial_run import MEMORY, RESULT, result_of
from scrubjay.memory.disk import write_file

__all__ = ["score_again"]


def score_again(folder: str, tell: Callable[[str, list[str]], None] = lambda name, changed: None) -> int:
    """Scores every finished trial of an experiment again; returns how many results are otherwise than before.

    `tell` is given each trial's name and which parts of its result changed. Raises NotFound where the folder holds no
    finished trial, or a memory is gone.
    """
    from scrubjay.public import Memory

    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    results = {name: result_of(os.path.join(folder, name)) for name in names if ".cut-" not in name}
    finished = {name: result for name, result in results.items() if result is not None}
    if not finished:
        raise NotFound(f"{folder} holds no finished trial (a folder with run.json in it)")
    count = 0
    for name, result in finished.items():
        with Memory.open(os.path.join(folder, name, MEMORY), read_only=True) as memory:
            found = json.loads(json.dumps(score(memory, result["trial"]["environment"])))
        changed = [part for part, value in found.items() if result.get(part) != value]
        if changed:
            count += 1
            text = json.dumps({**result, **found}, indent=1, ensure_ascii=False)
            write_file(os.path.join(folder, name, RESULT), text.encode() + b"\n")
        tell(name, changed)
    return count
