"""A sandbox: what runs, and what is refused before its first step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from quarry import SPECS, Quarry, run
from scrubjay.sandbox.contract import AtomSpec, Budget, Parameter
from scrubjay.sandbox.monty import MAX_SOURCE, MontySandbox
from scrubjay.sandbox.signatures import bind, signature, spec_of, stubs
from scrubjay.sandbox.values import NotPlain, plain

CUT_STEP = '''\
def cut_step(heading: float, n: int = 2) -> str:
    """Cuts a descending step."""
    done = 0
    for i in range(n):
        if mine_ahead(hold=20)["broke"]:
            done += 1
        go_to(x=float(i), z=heading)
    print("cut", done)
    return f"cut {done}"
'''


@pytest.fixture(scope="module")
def sandbox() -> Iterator[MontySandbox]:
    with MontySandbox() as made:
        yield made


# --- what runs


def test_a_procedure_calls_atoms_and_returns(sandbox: MontySandbox) -> None:
    quarry = Quarry()
    outcome = run(sandbox, CUT_STEP, "cut_step", {"heading": 90.0}, quarry=quarry)
    assert (outcome.why, outcome.value, outcome.output) == ("done", "cut 2", "cut 2\n")
    assert outcome.ok
    assert (outcome.steps, outcome.calls) == (50, 4)
    assert quarry.asked[1] == ("go_to", 0.0, 90.0, 0.8)


def test_values_cross_as_json(sandbox: MontySandbox) -> None:
    given = {"a": [1, 2.5, None, True, "ä\n'\"\\"], "b": {"k": {}}}
    outcome = run(sandbox, "def main(a, b):\n    return [a, b, (1, 2)]\n", arguments=given)
    assert outcome.value == [given["a"], given["b"], [1, 2]]
    outcome = run(sandbox, "def main():\n    return go_to(x=1, z=2)['pos']\n")
    assert outcome.value == [1.0, 64.0, 2.0]


def test_nothing_is_left_from_one_run_to_the_next(sandbox: MontySandbox) -> None:
    source = "seen = []\ndef main():\n    import random\n    seen.append(1)\n    return [seen, random.random()]\n"
    first, second = run(sandbox, source), run(sandbox, source)
    assert first.value[0] == [1]
    assert first.value == second.value, "chance begins the same, so that a life can be replayed"


def test_an_atom_that_fails_can_be_caught_or_is_the_outcome(sandbox: MontySandbox) -> None:
    caught = (
        "def main():\n    try:\n        go_to(x=99.0, z=0.0)\n    except RuntimeError as e:\n        return str(e)\n"
    )
    assert run(sandbox, caught).value == "stuck: no way there"
    outcome = run(sandbox, "def far(x: float):\n    go_to(x=x, z=0.0)\ndef main():\n    far(99.0)\n")
    assert outcome.why == "failed"
    assert outcome.error == (
        "Traceback (most recent call last):\n  line 4, in main\n    far(99.0)\n  line 2, in far\n"
        "    go_to(x=x, z=0.0)\nRuntimeError: stuck: no way there"
    )
    assert outcome.steps == 5


def test_a_fault_of_the_host_is_not_for_the_procedure(sandbox: MontySandbox) -> None:
    def broken() -> None:
        raise OSError("the disk is gone")

    source = "def main():\n    try:\n        look()\n    except BaseException:\n        return 'swallowed'\n"
    with pytest.raises(OSError, match="the disk is gone"):
        sandbox.run(source, "main", {}, {"look": broken}, [AtomSpec("look")], Budget(), lambda: False)


# --- what is refused before its first step


@pytest.mark.parametrize(
    ("source", "line", "says"),
    [
        ("def main():\n    mine_ahead(hld=3)\n", 2, "hld"),
        ("def main():\n    go_to(x='a', z=1.0)\n", 2, "float"),
        ("def main():\n    fly(3)\n", 2, "fly"),
        ("def main(:\n    pass\n", 1, "arameter"),
        ("def main():\n    pass\nmine_ahead()\n", 3, "acts while it is loaded"),
        ("def main():\n    pass\n1 // 0\n", 3, "ZeroDivisionError"),
        ("import socket\ndef main():\n    pass\n", 1, "socket"),
        ("x = " + "(" * 3000 + "1" + ")" * 3000 + "\ndef main():\n    pass\n", 1, ""),
        ("def other():\n    pass\n", 0, "main"),
        ("def main(n: int):\n    pass\n", 0, "n"),
        ("x = 1 #" + "x" * MAX_SOURCE, 0, "characters"),
        ("def main():\n    '\ud800'\n", 0, "Unicode"),
    ],
)
def test_what_cannot_work_is_refused(sandbox: MontySandbox, source: str, line: int, says: str) -> None:
    problems = sandbox.check(source, SPECS, "main", {})
    assert problems
    assert problems[0].line == line
    assert says in problems[0].message
    quarry = Quarry()
    outcome = run(sandbox, source, quarry=quarry)
    assert outcome.why == "failed"
    assert outcome.error is not None
    assert outcome.error.startswith("refused before its first step")
    assert quarry.asked == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"heading": "north"}, "float"),
        ({}, "heading"),
        ({"heading": 1.0, "m": 2}, "m"),
        ({"heading": float("nan")}, "number nan"),
        ({"heading": 1.0, "n); mine_ahead(": 2}, "no name"),
        ({"heading": 1.0, "class": 2}, "no name"),
        ({"heading": object()}, "object"),
        ({"heading": "x" * 20_000}, "longer"),
    ],
)
def test_arguments_are_checked_against_the_signature(
    sandbox: MontySandbox, arguments: dict[str, Any], says: str
) -> None:
    assert sandbox.check(CUT_STEP, SPECS, "cut_step", {"heading": 1, "n": 3}) == []
    problems = sandbox.check(CUT_STEP, SPECS, "cut_step", arguments)
    assert says in str(problems[0])
    assert str(problems[0]).startswith("the call: ")


def test_what_the_type_checker_cannot_know_is_checked_at_the_call(sandbox: MontySandbox) -> None:
    source = "def main(given):\n    return go_to(**given)\n"
    for wrong, says in (
        ({"x": "a", "z": 1.0}, "TypeError: go_to: x is 'a', float was expected"),
        ({"x": 1.0}, "TypeError: go_to: z is missing"),
        ({"x": 1.0, "z": 1.0, "y": 3}, "TypeError: go_to: y is not a parameter"),
        ({"x": True, "z": 1.0}, "TypeError: go_to: x is True"),
    ):
        outcome = run(sandbox, source, arguments={"given": wrong})
        assert outcome.error is not None
        assert says in outcome.error
        assert outcome.steps == 0
    outcome = run(sandbox, "def main():\n    go_to(x=float('nan'), z=0.0)\n")
    assert "ValueError: go_to: x is nan" in str(outcome.error)


# --- signatures and values


def test_a_function_is_a_spec_and_a_spec_a_stub() -> None:
    def go(x: float, how: str = "walk", *, near: float | None = None) -> dict[str, Any]:
        """Goes there.

        More of it.
        """
        return {}

    spec = spec_of(go)
    assert spec.doc == "Goes there."
    assert signature(spec) == "go(x: float, how: str = 'walk', near: float | None = None) -> dict[str, Any]"
    assert stubs([spec]).endswith(f"def {signature(spec)}: ...\n")


def test_arguments_are_bound_to_a_spec() -> None:
    spec = AtomSpec(
        "a",
        (Parameter("x", "float"), Parameter("s", "Literal['n', 's'] | None", None), Parameter("l", "list[int]", None)),
    )
    assert bind(spec, (1,), {}) == {"x": 1.0}
    assert repr(bind(AtomSpec("b", (Parameter("n", "int"),)), (32.0,), {})) == "{'n': 32}"
    assert bind(spec, (1, "n"), {"l": [1, 2]}) == {"x": 1.0, "s": "n", "l": [1, 2]}
    for positional, keywords in (
        ((1, "w"), {}),
        ((1,), {"l": [1.5]}),
        ((1,), {"x": 2}),
        ((), {}),
        ((1, "n", [], 3), {}),
    ):
        with pytest.raises(TypeError):
            bind(spec, positional, keywords)


def test_only_plain_values_of_bounded_size_cross() -> None:
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for value in (deep, cyclic, [0] * 60_000, "x" * (2 << 20), 10**400, {1: 2}, {1}, b"x", object()):
        with pytest.raises(NotPlain):
            plain(value)
    assert plain({"a": (1, [2.5, None, True])}) == {"a": [1, [2.5, None, True]]}
