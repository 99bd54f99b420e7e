"""The weight of visual retrieval, from 0 (words of the state alone) to 1 (the frame alone), on a taught memory.

Asked of each verified success, in the order in which they came: does the earlier success that is most like it in its
first observation, words and frame weighed, have the same code? Frames are compared by the stored descriptors of places
(`place/1`), words by their counts. The task itself is not used: it would give the answer away.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from scrubjay import Memory
from scrubjay.memory.evidence import read_record
from scrubjay.methods.likeness import likeness
from scrubjay.parametric.contexts import prompt_of
from scrubjay.parametric.staging import stage
from scrubjay.retrieval import places

Json = dict[str, Any]
WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_WARM = 20  # successes before the first question


def swept(memory_folder: str) -> Iterator[Json]:
    """Right at the first place, for each weight."""
    with Memory.open(memory_folder, read_only=True) as memory:
        successes = stage(memory).successes
        records = [read_record(memory.layout, one.episodes[0])[0] for one in successes]
    texts = [prompt_of("", one.context.state).text for one in successes]
    cues = [base64.b64decode(one["evidence"]["cues"][places.VERSION]["start"]) for one in records]
    hits = dict.fromkeys(WEIGHTS, 0)
    for i in range(_WARM, len(successes)):
        words = np.array(likeness(texts[i], texts[:i]))
        frames = places.similarity(cues[i], cues[:i])
        frames = (frames - frames.min()) / max(float(np.ptp(frames)), 1e-9)  # most values lie above 0.8: spread them
        for weight in WEIGHTS:
            best = int(np.argmax((1 - weight) * words + weight * frames))
            hits[weight] += successes[best].code == successes[i].code
    for weight in WEIGHTS:
        yield {"part": "visual", "weight": weight, "hits": hits[weight], "n": len(successes) - _WARM}


def units(folder: str) -> Iterator[tuple[str, Iterator[Json]]]:
    """One sweep, where there is a taught memory."""
    taught = os.path.join(folder, "taught")
    if os.path.isdir(taught):
        yield "visual", swept(taught)
