"""`scrubjay run`: an agent lives in an environment, with a memory."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.agent.progress import Progress
    from scrubjay.agent.skills import Skills
    from scrubjay.methods.contract import Method
    from scrubjay.models.contract import Model
    from scrubjay.models.waiting import Outage
    from scrubjay.public import Memory

SUMMARY = "An agent lives in an environment and remembers: every action becomes an episode of the memory."

EXAMPLES = """\
examples:
  scrubjay run crafter --memory runs/first                      2,000 steps of the scripted player
  scrubjay run crafter --memory runs/first --steps 500 --seed 7 another world, remembered in the same place
  scrubjay run my.module:Env --model my.module:Model --memory runs/mine
  scrubjay run crafter --memory runs/agent --driver "claude -p"  a coding agent, started for every turn

The memory is made where it is not there, and gone on in where it is. Ctrl-C stops after the present step; nothing is
lost, and the same command goes on with a new life.
"""

_STOPPED = "Stopped: the open episode is kept, and the life has ended. The same command goes on with a new life."


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("environment", metavar="ENV", help="crafter, or a path like my.module:Env")
    parser.add_argument(
        "--memory", metavar="DIR", required=True, help="folder of the memory; made where it is not there"
    )
    parser.add_argument(
        "--model",
        default="scripted",
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
        type=_count,
        default=600,
        metavar="N",
        help="at most so long for each start of the coding agent (default 600)",
    )
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
    parser.add_argument(
        "--steps", type=_count, default=2000, metavar="N", help="environment steps in all (default 2000)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="which world, or which chances in it: the environment says (default 0)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        dest="settings",
        help="an argument of the environment, such as doom_map=MAP03; may be given several times",
    )
    parser.add_argument(
        "--lives", type=_count, metavar="N", help="at most so many lives (default: until the steps are spent)"
    )
    parser.add_argument(
        "--task", default="Reach as many milestones as you can.", metavar="TEXT", help="what the agent is told"
    )


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"a count above 0 was expected, found {text}")
    return value


def _setting(text: str) -> tuple[str, object]:
    import json

    name, is_given, value = text.partition("=")
    if not (is_given and name.isidentifier()):
        raise argparse.ArgumentTypeError(f"NAME=VALUE was expected, found {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def run(arguments: argparse.Namespace) -> int:
    """Runs; 0 when the steps or lives are spent, 130 when Ctrl-C stopped it."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # before the first life, or a second one that would not wait
        print(f"\n{_STOPPED}")
        return 130


def _run(arguments: argparse.Namespace) -> int:
    from scrubjay.agent.loop import Run
    from scrubjay.agent.skills import Skills
    from scrubjay.environments.named import make_environment
    from scrubjay.methods.named import make_consolidation, make_method

    method = make_method(arguments.method, arguments.encoder, arguments.frame_encoder)
    environment = make_environment(arguments.environment, **dict(arguments.settings))
    show = _Progress(len(environment.milestones))
    with _memory(arguments.memory) as memory, contextlib.ExitStack() as until_the_end:
        skills = Skills(environment, memory)
        model = _player(arguments, method, memory, skills, until_the_end)
        print(
            f"{model.name} player in {arguments.environment}, seed {arguments.seed}, {arguments.steps} steps,"
            f" memory {memory.root}",
            flush=True,
        )
        progress = Run(
            environment,
            model,
            memory,
            task=arguments.task,
            method=method.traits.name,
            seed=arguments.seed,
            steps=arguments.steps,
            lives=arguments.lives,
            skills=skills,
            recall=method.recall,
            consolidation=make_consolidation(model, method, memory),
            watch=show,
        ).run()
        skills.close()
    environment.close()
    show.end()
    _summarise(progress, environment.milestones, arguments)
    return 130 if progress.is_stopped else 0


def _player(
    arguments: argparse.Namespace, method: Method, memory: Memory, skills: Skills, until_the_end: contextlib.ExitStack
) -> Model:
    from scrubjay.methods.named import make_player

    if arguments.driver is None:
        return make_player(arguments.model, arguments.environment, method, memory, skills, _tell_outage)
    from scrubjay.agent.driver import Driver, Patience
    from scrubjay.errors import InvalidInput

    if method.traits.name != "mfm" or arguments.model != "scripted":
        raise InvalidInput("--driver: a command with a shell sees the whole memory; leave out --model and --method")
    patience = Patience(seconds=arguments.driver_seconds)
    driver = Driver(
        arguments.driver, memory, check=skills.check, own=skills.own, patience=patience, tell=_tell_restored
    )
    return until_the_end.enter_context(driver)


def _tell_restored(line: str) -> None:
    clear = "\r\x1b[2K" if sys.stderr.isatty() else ""
    print(f"{clear}{line}", file=sys.stderr, flush=True)


def _tell_outage(outage: Outage | None) -> None:
    if outage is not None:
        print(
            f"\r\x1b[2Kno answer for {outage.since:.0f} s: {outage.reason[:60]}; Ctrl-C twice stops",
            end="",
            file=sys.stderr,
            flush=True,
        )


def _memory(path: str) -> Memory:
    from scrubjay.errors import NotFound
    from scrubjay.public import Memory

    try:
        return Memory.open(path)
    except NotFound:
        return Memory.create(path)


class _Progress:
    """One line on a terminal, rewritten a few times a second; elsewhere a line where something happened."""

    def __init__(self, milestones: int) -> None:
        self._milestones = milestones
        self._is_terminal = sys.stdout.isatty()
        self._shown = 0.0
        self._news = (0, 0, 0)
        self._step = 0

    def __call__(self, progress: Progress) -> None:
        news = (progress.life, len(progress.reached), len(progress.deaths))
        is_news = news != self._news or progress.step - self._step >= 500
        if self._is_terminal:
            if time.monotonic() - self._shown >= 0.2:
                self._shown = time.monotonic()
                line = f"{self._line(progress)}  {progress.intention}"
                print(f"\r\x1b[2K{line[: _width()]}", end="", flush=True)
        elif is_news:
            self._step = progress.step
            print(self._line(progress) + self._what(progress), flush=True)
        self._news = news

    def _line(self, progress: Progress) -> str:
        health = "" if progress.health is None else f"  health {progress.health:g}"
        speed = progress.episodes / progress.seconds if progress.seconds else 0.0
        return (
            f"step {progress.step}/{progress.steps}  life {progress.life}  milestones {len(progress.known)}/"
            f"{self._milestones}{health}  {progress.episodes} episodes, {speed:.0f}/s"
        )

    def _what(self, progress: Progress) -> str:
        life, reached, deaths = self._news
        if len(progress.deaths) > deaths:
            return "  died"
        new = [one.milestone for one in progress.reached[reached:]]
        return f"  {', '.join(new)}" if new else ("  a life begins" if progress.life > life else "")

    def end(self) -> None:
        """Leaves the line as it is and goes to the next."""
        if self._is_terminal:
            print("\r\x1b[2K", end="")


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns - 1


def _summarise(progress: Progress, milestones: tuple[str, ...], arguments: argparse.Namespace) -> None:
    where = shlex.quote(arguments.memory)
    if progress.is_stopped:
        print(_STOPPED)
    deaths = f"{len(progress.deaths)} death{'' if len(progress.deaths) == 1 else 's'}"
    earlier = f", {len(progress.known)} with the earlier lives of this world" if progress.earlier else ""
    print(
        f"{progress.step} steps, {progress.turns} turns, {progress.episodes} episodes, {deaths}, "
        f"{progress.seconds:.0f} s: {len(progress.reached)} of {len(milestones)} milestones{earlier}"
    )
    for one in progress.reached:
        print(f"  step {one.step:>5}  life {one.life}  {one.milestone:<20} {one.episode}")
    missing = [name for name in milestones if name not in progress.known]
    if missing:
        print(f"  not reached yet: {', '.join(missing)}")
    print("\nTry next:")
    print(f"  scrubjay episodes {where} --last 10")
    print(f"  scrubjay episodes {where} --tag milestone --life all")
    print(f"  scrubjay episodes {where} --tag damage --life all --last 5")
    print(f"  scrubjay episodes {where} --tag milestone --life all --sheet milestones.png")
    print(f"  scrubjay map {where} --out map.png")
