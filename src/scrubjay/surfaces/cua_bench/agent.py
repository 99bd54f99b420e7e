"""The agent that cua-bench runs: `cb run … --agent-import-path scrubjay.surfaces.cua_bench.agent:ScrubjayAgent`.

cua-bench sends telemetry unless it is told not to; importing this module tells it so, whatever was set before.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput

for _switch, _value in (("CUA_TELEMETRY", "0"), ("CUA_TELEMETRY_ENABLED", "false"), ("DO_NOT_TRACK", "1")):
    os.environ[_switch] = _value

try:
    from cua_bench import types as kinds
    from cua_bench.agents.base import AgentResult, BaseAgent, FailureMode
except ImportError as error:
    raise InvalidInput(
        f"cua-bench is not installed ({error}); on Python 3.12 or later: pip install 'scrubjay[cua-bench]'"
    ) from None

if TYPE_CHECKING:
    from scrubjay.surfaces.cua_bench.session import SessionDesktop

__all__ = ["ScrubjayAgent"]

_STEPS = 100


class ScrubjayAgent(BaseAgent):  # type: ignore[misc, unused-ignore]
    """A model with a memory, on the desktop that cua-bench gives it.

    `model` is what `scrubjay run --model` takes (default: the scripted solver of KiCad), `method` how it remembers,
    `memory` the folder of a memory that is gone on with from task to task (default: one beside the logs of the task),
    `max_steps` the steps of a task.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._model = str(given.get("model") or "scripted")
        self._method = str(given.get("method") or "mfm")
        self._memory = given.get("memory")
        self._steps = int(given.get("max_steps") or _STEPS)

    @staticmethod
    def name() -> str:
        """What cua-bench calls it."""
        return "scrubjay"

    async def perform_task(
        self, task_description: str, session: Any, logging_dir: Path | None = None, tracer: Any = None
    ) -> Any:
        """Lives one life on the session's desktop, and returns an AgentResult with its tokens."""
        from scrubjay.surfaces.cua_bench.session import SessionDesktop

        desktop = SessionDesktop(session, asyncio.get_running_loop(), kinds, task_description)
        folder = Path(self._memory or (logging_dir or Path.cwd()) / "memory")
        try:
            is_spent, tokens_in, tokens_out = await asyncio.to_thread(self._live, desktop, task_description, folder)
        except asyncio.CancelledError:
            desktop.give_up()  # the thread would go on living in a session that is somebody else's by then
            raise
        mode = FailureMode.MAX_STEPS_EXCEEDED if is_spent else FailureMode.NONE
        return AgentResult(total_input_tokens=tokens_in, total_output_tokens=tokens_out, failure_mode=mode)

    def _live(self, desktop: SessionDesktop, task: str, folder: Path) -> tuple[bool, int, int]:
        """Whether the steps were spent without an end, and how many tokens went in and came out."""
        from scrubjay.errors import NotFound
        from scrubjay.memory import journal
        from scrubjay.methods.living import Setting, living
        from scrubjay.methods.named import make_method
        from scrubjay.public import Memory

        try:
            memory = Memory.open(folder)
        except NotFound:
            memory = Memory.create(folder)
        setting = Setting("kicad", self._model, task, self._steps, 1)
        with memory:
            with living(setting, desktop, make_method(self._method), memory) as ready:
                progress = ready.run.run()
            (life,) = memory.lives()[-1:]
            turns = list(journal.rows(memory.layout.turns(life.life)))
        tokens = [sum(row.get(name) or 0 for row in turns) for name in ("input_tokens", "output_tokens")]
        return progress.step >= self._steps and life.outcome != "done", tokens[0], tokens[1]
