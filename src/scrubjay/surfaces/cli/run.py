"""`scrubjay run`: an agent lives in an environment, with a memory."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.values import count, seed, setting

if TYPE_CHECKING:
    from scrubjay.environments.contract import Environment
    from scrubjay.environments.tasks import NamedTask
    from scrubjay.methods.living import Setting
    from scrubjay.public import Memory

SUMMARY = "An agent lives in an environment and remembers: every action becomes an episode of the memory."

EXAMPLES = """\
examples:
  scrubjay run crafter --memory runs/first                      2,000 steps of the scripted player
  scrubjay run crafter --memory runs/first --steps 500 --seed 7 another world, remembered in the same place
  scrubjay run my.module:Env --model my.module:Model --memory runs/mine
  scrubjay run crafter --memory runs/agent --driver "claude -p"  a coding agent, started for every turn
  scrubjay run kicad --task divider --memory runs/kicad          a task in KiCad, on a screen of its own

The memory is made where it is not there, and gone on in where it is. Ctrl-C stops after the present step; nothing is
lost, and the same command goes on with a new life.
"""

_TOLD = "Reach as many milestones as you can."
_STEPS = 2000


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "environment", metavar="ENV", help="crafter, vizdoom, desktop, kicad, or a path like my.module:Env"
    )
    parser.add_argument(
        "--memory", metavar="DIR", required=True, help="folder of the memory; made where it is not there"
    )
    _who(parser)
    _how(parser)
    _how_long(parser)


def _who(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="M",
        help="scripted (default), anthropic:NAME, openai:NAME, google:NAME, ollama:NAME, or my.module:Model",
    )
    parser.add_argument(
        "--driver",
        metavar="COMMAND",
        help="a coding agent instead of a model, such as 'claude -p': it is given a prompt as its last argument, has "
        "the shell that you give it, and lives in the memory's folder",
    )
    parser.add_argument(
        "--driver-seconds",
        type=count,
        default=600,
        metavar="N",
        help="at most so long for each start of the coding agent (default 600)",
    )


def _how(parser: argparse.ArgumentParser) -> None:
    from scrubjay.methods.named import METHODS

    parser.add_argument(
        "--method",
        default="mfm",
        metavar="NAME",
        help=f"how it remembers: {', '.join(METHODS)} (default: mfm), or my.module:Method",
    )
    parser.add_argument(
        "--encoder", default="words", metavar="NAME", help="of texts, for methods that compare them: words or minilm"
    )
    parser.add_argument(
        "--frame-encoder",
        default="place/1",
        metavar="NAME",
        help="of frames, for methods that compare them: place/1 or efficientnet-lite0",
    )


def _how_long(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--steps",
        type=count,
        metavar="N",
        help=f"environment steps in all (default {_STEPS}, or what the tasks are given)",
    )
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="S",
        help="which world, or which chances in it: the environment says (default 0)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        dest="settings",
        help="an argument of the environment, such as doom_map=MAP03; may be given several times",
    )
    parser.add_argument(
        "--lives", type=count, metavar="N", help="at most so many lives (default: until the steps are spent)"
    )
    parser.add_argument(
        "--task",
        metavar="TEXT",
        help=f"what the agent is told (default: {_TOLD!r}); the name of a task such as far-resource; in an "
        "environment that has tasks, the id of one",
    )
    parser.add_argument("--tasks", metavar="DIR", help="folder of tasks, for an environment that has tasks")


def run(arguments: argparse.Namespace) -> int:
    """Runs; 0 when the steps or lives are spent, 130 when Ctrl-C stopped it."""
    from scrubjay.surfaces.cli.run_progress import STOPPED

    try:
        return _run(arguments)
    except KeyboardInterrupt:  # before the first life, or a second one that would not wait
        print(f"\n{STOPPED}")
        return 130


def _run(arguments: argparse.Namespace) -> int:
    from scrubjay.environments.named import make_environment
    from scrubjay.methods.living import living
    from scrubjay.methods.named import make_method
    from scrubjay.surfaces.cli.run_progress import Outages, Shown, summarise
    from scrubjay.surfaces.cli.scores import tell_scores

    method = make_method(arguments.method, arguments.encoder, arguments.frame_encoder)
    environment = make_environment(arguments.environment, **_arguments(arguments))
    settings = _setting(arguments, environment)
    show = Shown(len(environment.milestones))
    try:
        with (
            _memory(arguments.memory) as memory,
            living(settings, environment, method, memory, show, Outages()) as ready,
        ):
            print(
                f"{ready.model.name} player in {arguments.environment}, seed {arguments.seed}, {settings.steps} steps,"
                f" memory {memory.root}",
                flush=True,
            )
            earlier = max((life.life for life in memory.lives()), default=0)
            progress = ready.run.run()
            show.end()
            tell_scores(memory, earlier, settings.steps // (settings.lives or 1))
    finally:
        environment.close()
    summarise(progress, environment.milestones, arguments.memory)
    return 130 if progress.is_stopped else 0


def _arguments(arguments: argparse.Namespace) -> dict[str, object]:
    """What the environment is made with."""
    folder = {} if arguments.tasks is None else {"tasks": arguments.tasks}
    task = _named_task(arguments)
    return {**({} if task is None else task.arguments), **dict(arguments.settings), **folder}


def _named_task(arguments: argparse.Namespace) -> NamedTask | None:
    """The task that ships of this name, where `--task` is one. Raises InvalidInput where it is of another world, or
    nearly the name of one."""
    import difflib

    from scrubjay.environments.tasks import TASKS
    from scrubjay.errors import InvalidInput

    told = arguments.task or ""
    task = TASKS.get(told)
    meant = [] if task is not None or " " in told else difflib.get_close_matches(told, TASKS, 1, 0.8)
    if meant:
        raise InvalidInput(
            f"--task {told}: there is no such task; {meant[0]} is one, and words of your own have spaces"
        )
    if task is not None and task.environment != arguments.environment:
        raise InvalidInput(f"--task {task.name} is of {task.environment}, not of {arguments.environment}")
    return task


def _setting(arguments: argparse.Namespace, environment: Environment) -> Setting:
    from scrubjay.agent.driver import DRIVER
    from scrubjay.environments.tasked import Tasked
    from scrubjay.errors import InvalidInput
    from scrubjay.methods.living import Setting

    if arguments.driver is not None and arguments.model is not None:
        raise InvalidInput("--driver: it is the player; leave out --model")
    told, steps, lives = arguments.task or _TOLD, arguments.steps or _STEPS, arguments.lives
    named = _named_task(arguments)
    if named is not None:
        told, steps, lives = named.text, arguments.steps or named.steps, lives or named.lives
    if isinstance(environment, Tasked):
        told = environment.choose_task(arguments.task or "all")
        lives = lives or environment.lives
        steps = arguments.steps or lives * environment.usual_steps
    return Setting(
        arguments.environment,
        arguments.model or "scripted" if arguments.driver is None else f"{DRIVER}{arguments.driver}",
        told,
        steps,
        lives,
        arguments.seed,
        arguments.driver_seconds,
    )


def _memory(path: str) -> Memory:
    from scrubjay.errors import Conflict, NotFound
    from scrubjay.public import Memory

    try:
        return Memory.open(path)
    except NotFound:
        pass
    try:
        return Memory.create(path)
    except Conflict as taken:
        try:
            return Memory.open(path)  # another process made it just now
        except NotFound:
            raise taken from None
