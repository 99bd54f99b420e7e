"""Whatever an agent does, the recorded lives and episodes are those of a simple model of the rules."""

from __future__ import annotations

import os
import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.environments.recording import RecordMemory
from scrubjay.testing import CountingEnvironment, check_memory
from shapes import shape_of

FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None  # durability is not what is tested here
RESET = 9
WAIT, RIGHT, LEFT, JUMP = range(4)
NAMES = CountingEnvironment.actions

Episodes = list[tuple[int, str | None, list[int]]]


def expected(moves: list[int], length: int) -> Episodes:
    """Episodes as (life, action, counts shown): one for each run of an action, and one for each beginning."""
    episodes: Episodes = []
    life, count, ended = 0, 0, True
    for move in moves:
        if move == RESET or ended:
            life, count, ended = life + 1, 0, False
            episodes.append((life, None, [0]))
        if move == RESET:
            continue
        _, action, counts = episodes[-1]
        if action != NAMES[move]:
            counts = [count]
            episodes.append((life, NAMES[move], counts))
        count += 1
        counts.append(count)
        ended = count == length
    return episodes


@settings(max_examples=12)
@given(
    moves=st.lists(st.sampled_from([WAIT, WAIT, RIGHT, RIGHT, LEFT, RESET]), min_size=1, max_size=16),
    length=st.integers(1, 6),
)
def test_lives_and_episodes_are_those_of_the_rules(moves: list[int], length: int) -> None:
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        with Memory.create(f"{folder}/m") as memory:
            env = RecordMemory(CountingEnvironment(length=length, size=(16, 16)), memory)
            ended = True
            for move in moves:
                if move == RESET or ended:
                    env.reset()
                    ended = False
                if move != RESET:
                    _, _, ended, _, _ = env.step(move)
            env.close()
            assert shape_of(memory) == expected(moves, length)
        check_memory(f"{folder}/m")
