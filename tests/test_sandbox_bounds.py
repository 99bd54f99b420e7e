"""What a run in the sandbox may spend: nothing outlives its budget, whatever it tries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry import SPECS, Quarry, run, stubborn
from scrubjay.sandbox.contract import AtomSpec, Budget, Halted
from scrubjay.sandbox.monty import MontySandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[MontySandbox]:
    with MontySandbox() as made:
        yield made


def test_the_step_budget_ends_it_before_the_next_atom(sandbox: MontySandbox) -> None:
    outcome = run(sandbox, stubborn("wait(7)"), budget=Budget(steps=20))
    assert (outcome.why, outcome.steps, outcome.error) == ("budget", 21, "the budget of 20 steps is spent, before wait")


def test_an_atom_can_end_the_run(sandbox: MontySandbox) -> None:
    def dig() -> None:
        raise Halted("budget", "the steps of this turn are spent")

    source = "def main():\n    try:\n        dig()\n    except BaseException:\n        pass\n    return 1\n"
    outcome = sandbox.run(source, "main", {}, {"dig": dig}, [AtomSpec("dig")], Budget(), lambda: False)
    assert (outcome.why, outcome.error) == ("budget", "the steps of this turn are spent")


def test_stop_is_asked_at_every_atom(sandbox: MontySandbox) -> None:
    quarry = Quarry()
    outcome = run(
        sandbox,
        stubborn("wait()"),
        quarry=quarry,
        stop=lambda: quarry.steps >= 3,
    )
    assert (outcome.why, outcome.steps) == ("stopped", 3)


HANGS = 10.0  # seconds by the wall: far more than the budget; benchmarks/sandbox.py says how late an end is
FOREVER = {
    "loop": "def main():\n    while True:\n        pass\n",
    "swallow": stubborn("main()"),
    "atoms": stubborn("wait(0)"),
    "native": "def main():\n    x = 3\n    while True:\n        x *= x\n",
    "gcd": "import math\ndef main():\n    math.gcd((1 << 30000000) - 1, (1 << 29999999) - 3)\n",
    "recursion": "def main():\n    try:\n        return main()\n    except BaseException:\n        return main()\n",
    "print": "def main():\n    while True:\n        print('a' * 1000)\n",
    "unknown": stubborn("eval('nothing_here(1)')"),
    "files": stubborn("exec('open(\"/etc/passwd\")')"),
    "sum": "def main():\n    sum(range(10**12))\n",
}


@pytest.mark.parametrize("name", FOREVER)
def test_nothing_outlives_its_time(sandbox: MontySandbox, name: str) -> None:
    budget = Budget(seconds=0.4, memory_bytes=32 << 20)
    began = time.monotonic()
    outcome = run(sandbox, FOREVER[name], budget=budget)
    took = time.monotonic() - began
    assert (outcome.why, outcome.error) == ("budget", "the time budget of 0.4 s is spent")
    assert took < HANGS
    assert len(outcome.output) <= budget.output_bytes + 100


def test_time_counts_while_loading(sandbox: MontySandbox) -> None:
    began = time.monotonic()
    outcome = run(sandbox, "while True:\n    pass\ndef main():\n    pass\n", budget=Budget(seconds=0.4))
    assert outcome.why == "budget"
    assert time.monotonic() - began < HANGS


@pytest.mark.parametrize(
    "bomb",
    [
        "def main():\n    x = [0]\n    while True:\n        x = x + x\n",
        "def main():\n    x = 'a' * (10**10)\n",
        "def main():\n    x = 10 ** (10**8)\n",
        "def main():\n    x = 1 << (10**10)\n",
        "def main():\n    x = list(range(10**12))\n",
        "def main():\n    x = 'a'.ljust(10**10)\n",
        "x = []\n" + stubborn("x.append('a' * 100000 + str(len(x)))"),
        "def main():\n    return 'a' * 34000000\n",
        "def main():\n    x = ','.join(['a' * 1000000] * 30000)\n",
    ],
)
def test_a_memory_bomb_ends_as_a_spent_budget(sandbox: MontySandbox, bomb: str, capfd: Any) -> None:
    outcome = run(sandbox, bomb, budget=Budget(seconds=5, memory_bytes=32 << 20))
    assert outcome.why == "budget"
    assert "memory budget of 32 MB" in str(outcome.error)


def test_recursion_and_depth_fail_and_harm_nobody(sandbox: MontySandbox) -> None:
    outcome = run(sandbox, "def f(n):\n    return f(n + 1)\ndef main():\n    return f(0)\n")
    assert (outcome.why, "RecursionError" in str(outcome.error)) == ("failed", True)
    deep = "def main():\n    x = []\n    for i in range(100000):\n        x = [x]\n    return x\n"
    outcome = run(sandbox, deep)
    assert outcome.why in ("done", "failed")
    assert len(repr(outcome.value)) < 1000
    assert run(sandbox, deep.replace("return x", "go_to(x=x, z=1.0)")).why == "failed"


def test_ten_megabytes_of_output_are_cut(sandbox: MontySandbox) -> None:
    outcome = run(sandbox, "def main():\n    print('é' * 5000000)\n    return 1\n", budget=Budget(output_bytes=1001))
    assert outcome.ok
    assert outcome.output == "é" * 500 + "\n… (9999000 more bytes)"


@pytest.mark.parametrize("use", ["return x", "go_to(x=x, z=0.0)", "print(x)", "repr(x)", "return x == x[0]"])
def test_a_small_value_that_unfolds_into_a_huge_one_is_bounded(sandbox: MontySandbox, use: str, capfd: Any) -> None:
    source = f"def main():\n    x = [0]\n    for i in range(28):\n        x = [x, x]\n    {use}\n"
    began = time.monotonic()
    outcome = run(sandbox, source, budget=Budget(seconds=0.4, memory_bytes=32 << 20))
    assert time.monotonic() - began < HANGS
    assert len(repr(outcome.value)) < 200


@pytest.mark.parametrize(
    "hostile",
    [
        "a0 = (1, 2)\n" + "".join(f"a{i + 1} = (a{i}, a{i})\n" for i in range(60)),
        "x = " + "-" * 60_000 + "1\n",
        "x = " + "[x for x in " * 300 + "[1]" + "]" * 300 + "\n",
    ],
)
def test_a_source_made_to_choke_the_type_checker_does_not(sandbox: MontySandbox, hostile: str) -> None:
    began = time.monotonic()
    sandbox.check(hostile + "def main():\n    pass\n", SPECS, "main")
    assert time.monotonic() - began < 5 + HANGS


@settings(max_examples=25)
@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["def main():", " ", "\n", "go_to(", ")", "'", '"""', "x"])).map("".join)
)
def test_any_text_is_checked_and_none_acts(sandbox: MontySandbox, source: str) -> None:
    problems = sandbox.check(source, SPECS, "main", {})
    assert all(isinstance(str(problem), str) for problem in problems)
