"""States as environments give them: not finite, large, in any script; and what of them is found again."""

from __future__ import annotations

import json
import os
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay import Memory, Query, World
from scrubjay.testing import check_memory
from shapes import rows_of


def refuse(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def lines_of(memory: Memory, ident: str = "ep_000000") -> list[dict[str, Any]]:
    """The rows of steps.jsonl, read by a parser that takes strict JSON alone."""
    with open(os.path.join(memory.layout.episode(ident), "steps.jsonl"), encoding="utf-8") as file:
        return [json.loads(line, parse_constant=refuse) for line in file]


def record(memory: Memory, *states: Any, **options: Any) -> None:
    with memory.live(**options) as life, life.episode("a", {}, state=states[0]) as episode:
        for state in states[1:]:
            episode.step(1, state=state)


def test_what_is_not_finite_is_null_and_named(memory: Memory) -> None:
    nan, inf = float("nan"), float("inf")
    with memory.live() as life, life.episode("a", {"speed": nan}, state={"pos": [1.0, nan, 2.0]}) as episode:
        episode.step({"turn": -inf}, state={"a": {"b": [0, inf]}}, reward=nan, info={"q": np.float32("nan")})
    first, second = lines_of(memory)
    assert (first["state"], first["not_finite"]) == ({"pos": [1.0, None, 2.0]}, ["state.pos[1]"])
    assert second["not_finite"] == ["turn", "reward", "info.q", "state.a.b[1]"]
    assert (second["reward"], second["after"]) == (None, {"turn": None})
    with open(os.path.join(memory.layout.episode("ep_000000"), "episode.json"), encoding="utf-8") as file:
        json.load(file, parse_constant=refuse)


def test_a_position_that_is_not_finite_is_in_no_place(memory: Memory) -> None:
    nan = float("nan")
    with memory.live() as life:
        for n, pos in enumerate(([0.0, 0.0, 0.0], [nan, 0.0, 0.0], [0.0, 0.0, nan])):
            with life.episode("a", {}, state={"pos": pos, "n": n}) as episode:
                episode.step(1, state={"pos": [float("inf"), 0, 0]})
    assert [row.id for row in memory.find(Query(near=(0.0, 0.0), radius=1e9)).rows] == ["ep_000000"]
    assert [row.x for row in rows_of(memory)] == [0.0, None, 0.0]
    assert all(row.end is None for row in rows_of(memory))
    assert {row.cell for row in memory.grid().rows()} == {(0, 0, 0)}


def test_cells_are_floors_below_zero_too(memory: Memory) -> None:
    record(memory, {"pos": [-0.5, -64.0, 31.9]}, {"pos": [-32.0, -64.1, 32.0]}, world=World("w", cell=32.0))
    assert [row.cell for row in memory.grid().rows()] == [(-1, -2, 0), (-1, -3, 1)]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_text_of_any_script_and_normal_form(memory: Memory, form: Any) -> None:
    text = unicodedata.normalize(form, "Ärger am Café 设备清单 🪨 Ω")
    life = memory.live(task=text, world=text)
    episode = life.episode(text, {text: text}, state={text: [text]}, place=text, plan=text)
    episode.step(text, state={text: text})
    episode.finish(text, tags=[text], events=[text], note=text, summary=text)
    life.end()
    row = rows_of(memory)[0]
    assert (row.action_kind, row.place, row.world, row.outcome, row.tags) == (text, text, text, text, (text,))
    assert (row.note, row.events, row.summary) == (text, (text,), text)
    assert [step.state for step in memory.episode(row).steps()] == [{text: [text]}, {text: text}]
    assert memory.lives()[0].task == text
    for other in ("NFC", "NFD"):
        assert memory.find(Query(grep=unicodedata.normalize(other, "café"))).total == 1


def test_a_lone_surrogate_is_kept(memory: Memory) -> None:
    record(memory, {"chat": "broken \ud83d here"}, {"chat": "fine"})
    assert next(memory.episode("ep_000000").steps()).state == {"chat": "broken \ud83d here"}


def test_a_state_of_300_kb(memory: Memory) -> None:
    state = {"blocks": [[x, y, "stone"] for x in range(170) for y in range(105)], "pos": [1, 2, 3]}
    assert len(json.dumps(state)) > 300_000
    record(memory, state, state, {"pos": [1, 2, 3]})
    steps = list(memory.episode("ep_000000").steps())
    assert steps[0].state == steps[1].state == state
    assert memory.find(Query(grep='[169, 104, "stone"]')).total == 1
    check_memory(memory.root)


def test_numpy_values_become_numbers(memory: Memory) -> None:
    state = {
        "pos": np.array([1.5, 2.0, -3.0], np.float32),
        "count": np.int64(7),
        "flag": np.bool_(True),
        "table": np.arange(4, dtype=np.uint8).reshape(2, 2),
        5: (1, "two", None),
    }
    record(memory, state, {})
    stored = next(memory.episode("ep_000000").steps()).state
    assert stored == {
        "pos": [1.5, 2.0, -3.0],
        "count": 7,
        "flag": True,
        "table": [[0, 1], [2, 3]],
        "5": [1, "two", None],
    }
    assert rows_of(memory)[0].position == (1.5, 2.0, -3.0)


def test_the_caller_may_change_its_state_afterwards(memory: Memory) -> None:
    state: dict[str, Any] = {"pos": [0, 0, 0], "inventory": {"log": 0}}
    with memory.live() as life, life.episode("a", {}, state=state) as episode:
        for n in range(1, 4):
            state["pos"][0], state["inventory"]["log"] = n, n
            episode.step(1, state=state)
    steps = list(memory.episode("ep_000000").steps())
    assert [(step.state["pos"][0], step.state["inventory"]["log"]) for step in steps] == [(n, n) for n in range(4)]
    assert "inv {'log': 3}" in rows_of(memory)[0].summary


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
states = st.dictionaries(
    st.text(max_size=8) | st.sampled_from(["pos", "health", "cells", "gui"]), json_values, max_size=5
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_states=st.lists(states, min_size=1, max_size=4))
def test_whatever_is_given_comes_back(memory: Memory, given_states: list[dict[str, Any]]) -> None:
    def finite(value: Any) -> Any:
        if isinstance(value, float):
            return value if np.isfinite(value) else None
        if isinstance(value, dict):
            return {key: finite(inner) for key, inner in value.items()}
        return [finite(inner) for inner in value] if isinstance(value, list) else value

    record(memory, *given_states)
    newest = rows_of(memory)[-1]
    assert newest.events == ()
    assert [step.state for step in memory.episode(newest).steps()] == [finite(state) for state in given_states]
