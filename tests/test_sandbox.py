"""A sandbox: what runs, what is refused before its first step, what a run may spend, what it can reach."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.sandbox.contract import AtomFailed, AtomSpec, Budget, Halted, Outcome, Parameter
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


class Quarry:
    """A host with atoms: it counts environment steps and writes down what was asked of it."""

    def __init__(self) -> None:
        self.steps = 0
        self.asked: list[tuple[Any, ...]] = []

    def mine_ahead(self, hold: int = 20) -> dict[str, Any]:
        """Holds the attack for some steps."""
        self.steps += hold
        self.asked.append(("mine_ahead", hold))
        return {"broke": True}

    def go_to(self, x: float, z: float, within: float = 0.8) -> dict[str, Any]:
        """Walks to a position."""
        self.steps += 5
        self.asked.append(("go_to", x, z, within))
        if x > 90:
            raise AtomFailed("stuck: no way there")
        return {"moved": 1.0, "pos": (x, 64.0, z)}

    def wait(self, ticks: int = 1) -> dict[str, Any]:
        """Does nothing."""
        self.steps += ticks
        return {}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[MontySandbox]:
    with MontySandbox() as made:
        yield made


SPECS = [spec_of(Quarry.mine_ahead), spec_of(Quarry.go_to), spec_of(Quarry.wait)]
SPECS = [AtomSpec(s.name, s.parameters[1:], s.doc, s.returns) for s in SPECS]


def run(
    sandbox: MontySandbox,
    source: str,
    function: str = "main",
    arguments: dict[str, Any] | None = None,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    quarry: Quarry | None = None,
    **others: Any,
) -> Outcome:
    quarry = quarry or Quarry()
    atoms = {spec.name: getattr(quarry, spec.name) for spec in SPECS}
    stop = others.pop("stop", lambda: False)
    return sandbox.run(source, function, arguments or {}, atoms, SPECS, budget, stop, lambda: quarry.steps)


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


# --- what a run may spend


def stubborn(line: str) -> str:
    """A procedure that does one thing for ever and swallows every exception."""
    return f"def main():\n  while True:\n    try:\n      {line}\n    except BaseException:\n      pass\n"


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
def test_nothing_outlives_its_time_by_half_a_second(sandbox: MontySandbox, name: str) -> None:
    budget = Budget(seconds=0.4, memory_bytes=32 << 20)
    began = time.monotonic()
    outcome = run(sandbox, FOREVER[name], budget=budget)
    took = time.monotonic() - began
    assert (outcome.why, outcome.error) == ("budget", "the time budget of 0.4 s is spent")
    assert took < 0.9
    assert len(outcome.output) <= budget.output_bytes + 100


def test_time_counts_while_loading(sandbox: MontySandbox) -> None:
    began = time.monotonic()
    outcome = run(sandbox, "while True:\n    pass\ndef main():\n    pass\n", budget=Budget(seconds=0.4))
    assert outcome.why == "budget"
    assert time.monotonic() - began < 0.9


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
    assert time.monotonic() - began < 0.9
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
    assert time.monotonic() - began < 5.5


@settings(max_examples=25, deadline=None)
@given(
    st.text(max_size=80)
    | st.lists(st.sampled_from(["def main():", " ", "\n", "go_to(", ")", "'", '"""', "x"])).map("".join)
)
def test_any_text_is_checked_and_none_acts(sandbox: MontySandbox, source: str) -> None:
    problems = sandbox.check(source, SPECS, "main", {})
    assert all(isinstance(str(problem), str) for problem in problems)


# --- what it can reach


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        ("exec('open(\"/etc/passwd\").read()')", "PermissionError"),
        ('exec(\'open("/tmp/pwned", "w").write("x")\')', "PermissionError"),
        ("from pathlib import Path\n    Path('/etc/passwd').read_text()", "PermissionError"),
        ("import os\n    os.listdir('/')", "PermissionError"),
        ("import os\n    os.environ['HOME']", "not supported"),
        ("import os\n    os.getenv('PATH')", "not supported"),
        ("import time\n    time.sleep(100)", "not supported"),
        ("exec('import socket')", "ModuleNotFoundError"),
        ("exec('import subprocess')", "ModuleNotFoundError"),
        ("exec('import ctypes')", "ModuleNotFoundError"),
        ("exec('import scrubjay')", "ModuleNotFoundError"),
        ("exec('import os; os.system(\"id\")')", "Error"),
        ("exec('().__class__.__bases__[0].__subclasses__()')", "AttributeError"),
        ("exec('go_to.__globals__')", "Error"),
        ("exec('main.__globals__')", "AttributeError"),
        ("exec('main.__code__')", "AttributeError"),
        ("getattr(go_to, '__self__')", "Error"),
        ("eval('__import__(\"os\")')", "NameError"),
        ("eval('globals()')", "NameError"),
        ("eval('input()')", "NameError"),
    ],
)
def test_the_host_is_out_of_reach(sandbox: MontySandbox, attack: str, says: str) -> None:
    outcome = run(sandbox, f"def main():\n    {attack}\n")
    assert outcome.why == "failed"
    assert says in str(outcome.error)
    assert outcome.steps == 0


def test_results_cannot_be_forged(sandbox: MontySandbox) -> None:
    shadowed = "def wait(ticks: int = 1) -> dict:\n    return {'ok': True}\n"
    outcome = run(sandbox, shadowed + "def main():\n    wait(500)\n    return {'why': 'done', 'steps': 0}\n")
    assert (outcome.why, outcome.steps, outcome.calls) == ("done", 0, 0)
    for forged in (
        "raise TimeoutError('feed time limit exceeded: 1.0s > 1s')",
        "raise MemoryError('memory limit exceeded: 2 bytes > 1 bytes')",
        "raise (  # because (\n        MemoryError('memory limit exceeded: 2 bytes > 1 bytes'))",
        "exec('raise MemoryError(\"memory limit exceeded\")')",
        "raise RuntimeError('the budget of 400 steps is spent')",
    ):
        assert run(sandbox, f"def main():\n    {forged}\n").why == "failed"
    bomb = run(sandbox, "def main():\n    raise ValueError('a' * 10**10)\n")
    assert (bomb.why, "line 2, in main" in str(bomb.error)) == ("budget", True)
    object_like = (
        "class Row:\n    def __init__(self):\n        self.outcome = 'success'\ndef main():\n    return Row()\n"
    )
    assert run(sandbox, object_like).value == "<not shown: a value of type MontyClassProxy>"
    assert run(sandbox, "def main():\n    return {1: 2}\n").value.startswith("<not shown")


def test_an_atom_may_itself_run_a_procedure(sandbox: MontySandbox) -> None:
    def deeper(n: int) -> dict[str, Any]:
        if n == 0:
            return {"depth": 0}
        inner = sandbox.run(
            source, "main", {"n": n - 1}, {"deeper": deeper}, [spec_of(deeper)], Budget(), lambda: False
        )
        return {"depth": inner.value + 1}

    source = "def main(n: int):\n    return deeper(n)['depth']\n"
    outcome = sandbox.run(source, "main", {"n": 3}, {"deeper": deeper}, [spec_of(deeper)], Budget(), lambda: False)
    assert (outcome.value, outcome.recorded) == (3, "success")


@pytest.mark.parametrize(("is_asked", "why"), [(True, "stopped"), (False, "failed")])
def test_a_worker_that_dies_of_an_interrupt_was_stopped(sandbox: MontySandbox, is_asked: bool, why: str) -> None:
    """Ctrl-C on a terminal reaches every process of the group."""
    asked = threading.Event()

    def interrupt() -> dict[str, Any]:
        if is_asked:
            asked.set()
        for child in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text() == "monty\n":
                os.kill(int(child), signal.SIGINT)
        return {}

    source = "def main():\n    interrupt()\n    while True:\n        pass\n"
    atoms = {"interrupt": interrupt}
    outcome = sandbox.run(source, "main", {}, atoms, [spec_of(interrupt)], Budget(), asked.is_set)
    assert outcome.why == why


def test_nothing_is_left_open(sandbox: MontySandbox) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(sandbox, "def main():\n    x = 3\n    while True:\n        x *= x\n", budget=Budget(seconds=0.1))
    assert len(os.listdir("/proc/self/fd")) <= before + 1
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


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
