"""The fast path against retrieval into the prompt, on the same pretrained model: success, tokens, seconds.

The fast path asks the adapter with the task alone. Retrieval asks the bare base with the successes most like the task
(by words) before it; since the base seldom stops by itself, it is also judged by its first function alone. Seconds are
of one thread, on a machine that did other work as well; tokens are exact.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from parametric_tasks import Judge, Task, learnable, split
from scrubjay.methods.likeness import likeness
from scrubjay.parametric.adapters import Adapters
from scrubjay.parametric.backbone import Backbone, Generation
from scrubjay.parametric.bases import SMOLLM2, load_base
from scrubjay.parametric.examples import Prompt
from scrubjay.parametric.generated import parse
from scrubjay.parametric.training import Recipe, train

Json = dict[str, Any]
RECIPE = Recipe(steps=24, rate=2e-3, batch=4)  # every success twice: some three minutes of one thread
_TOKENS = 80


def retrieved(task: Task, learned: list[Task], shown: int) -> Prompt:
    """The task, with the likest successes before it."""
    values = likeness(task.text, [one.text for one in learned])
    best = sorted(zip(values, learned, strict=True), key=lambda both: (-both[0], both[1].text))[:shown]
    examples = "\n\n".join(f"Task: {one.text}\n{one.good}" for _, one in best)
    return Prompt(f"{examples}\n\nAnswer with a function like these, and nothing else.\nTask: {task.text}")


def first_function(generation: Generation) -> Generation:
    """What a reader with patience makes of it: the first function, whatever follows it."""
    _, mark, rest = generation.text.strip().partition("def ")
    lines = rest.splitlines()
    inside = list(itertools.takewhile(lambda line: not line or line.startswith((" ", "\t")), lines[1:]))
    is_whole = len(inside) < len(lines) - 1 or not generation.is_cut
    if not mark or not is_whole:
        return generation
    return replace(generation, text=mark + "\n".join([*lines[:1], *inside]), is_cut=False)


def judged(held: list[Task], texts: list[Generation], judge: Judge) -> tuple[int, int]:
    """How many are of the form that is read, and how many did their task."""
    parsed = [parse(one) for one in texts]
    done = sum(
        one.function is not None and judge.does(task, one.source, one.function)
        for task, one in zip(held, parsed, strict=True)
    )
    return sum(one.failure is None for one in parsed), done


def asked(path: str, backbone: Backbone, held: list[Task], prompts: list[Prompt], judge: Judge) -> Json:
    """One at a time, as an agent asks."""
    texts, seconds = [], []
    for prompt in prompts:
        began = time.perf_counter()
        texts += backbone.generate([prompt], _TOKENS)
        seconds.append(time.perf_counter() - began)
    form, done = judged(held, texts, judge)
    first_form, first_done = judged(held, [first_function(one) for one in texts], judge)
    return {
        "part": "paths", "path": path, "n": len(held), "done": done, "form": form,
        "first_done": first_done, "first_form": first_form,
        "prompt_tokens": statistics.median(one.prompt_tokens for one in texts),
        "new_tokens": statistics.median(one.new_tokens for one in texts),
        "seconds": round(statistics.median(seconds), 2), "first": texts[0].text[:200],
    }  # fmt: skip


def compared() -> Iterator[Json]:
    """Adapter, and one, three and five successes in the prompt."""
    judge = Judge()
    learned, held = split("craft", 0)
    successes, pairs = learnable(learned)
    backbone = load_base(SMOLLM2)
    for shown in (1, 3, 5):
        prompts = [retrieved(task, learned, shown) for task in held]
        yield asked(f"retrieval of {shown}", backbone, held, prompts, judge)
    adapters = Adapters(backbone)
    adapters.add("craft")
    with adapters.training("craft") as weights:
        train(backbone, weights, successes, pairs[:48], RECIPE)
    with adapters.use("craft"):
        yield asked("fast path", backbone, held, [task.prompt for task in held], judge)
    judge.close()


def units(folder: str) -> Iterator[tuple[str, Iterator[Json]]]:
    """One comparison."""
    yield "paths", compared()
