"""RecordVectorMemory: records the sub-environments of a Gymnasium vector environment, a life each.

It knows how vector environments batch and when each of their autoreset modes resets.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorWrapper
from gymnasium.vector.utils import iterate

from scrubjay.environments.raw_actions import raw_action
from scrubjay.environments.raw_life import RawLife
from scrubjay.environments.recording import attribute_of, name_of, names_in
from scrubjay.environments.seeing import NO_FRAME, Seen, see
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["RecordVectorMemory", "info_of"]

_T = TypeVar("_T")
_UNSEEN = "reset in the same step, before its last frame could be rendered"


class RecordVectorMemory(VectorWrapper[Any, Any, Any, Any, Any]):
    """`venv = RecordVectorMemory(venv, memory)`: as RecordMemory, with a life for each sub-environment at a time.

    The last observation of a life is the terminal one in every autoreset mode: the step before the reset
    (NEXT_STEP), `info["final_obs"]` (SAME_STEP), or what the caller saw before `reset_mask` (DISABLED). In DISABLED
    mode a step while a sub-environment has ended raises Gymnasium's ResetNeeded.
    """

    def __init__(
        self,
        env: gymnasium.vector.VectorEnv[Any, Any, Any],
        memory: Memory,
        task: str = "",
        world: World | str | Sequence[World | str] | None = None,
    ) -> None:
        super().__init__(env)
        many = isinstance(world, Sequence) and not isinstance(world, str)
        self._worlds: Sequence[Any] = world if many else [world] * env.num_envs  # type: ignore[assignment]
        self._lives = [RawLife(memory, task) for _ in range(env.num_envs)]
        self._mode = AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        self._began = False
        # Those of other processes can't be asked without a fault where they have no such attribute.
        self._parts: Sequence[Any] = getattr(env.unwrapped, "envs", None) or [None] * env.num_envs
        self._names = () if self._parts[0] is None else names_in(self._parts[0])
        self._at_exit = weakref.finalize(self, _each, RawLife.close, self._lives)

    @property
    def lives(self) -> list[Life | None]:
        """The life of each sub-environment, None where it has ended."""
        return [life.life for life in self._lives]

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a life in each sub-environment, or in those of `options["reset_mask"]`."""
        self._catch_up()
        mask = (options or {}).get("reset_mask")  # the environment takes it out of the options
        mask = [True] * self.num_envs if mask is None else [bool(value) for value in mask]
        observations, infos = self.env.reset(seed=seed, options=options)
        seeds = [None] * self.num_envs if seed is None else seed
        seeds = [seeds + n for n in range(self.num_envs)] if isinstance(seeds, int) else list(seeds)
        seen = self._see(observations, infos)
        self._began = True
        _each(lambda n: self._begin(n, seen[n], seeds[n]), [n for n in range(self.num_envs) if mask[n]])
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Takes a step in each sub-environment and records it.

        Raises ResetNeeded before the first reset. Raises StorageFull on a full disk: the step was taken and will be
        recorded by the next call, once there is space.
        """
        self._need_reset()
        self._catch_up()
        taken = [raw_action(action, self._names) for action in iterate(self.action_space, actions)]
        try:
            observations, rewards, terminations, truncations, infos = self.env.step(actions)
        except BaseException as error:
            self._interrupt(error)
            raise
        seen = self._see(observations, infos)

        def record(n: int) -> None:
            life, how = self._lives[n], (bool(terminations[n]), bool(truncations[n]))
            if life.needs_reset:
                self._begin(n, seen[n], None)
            elif self._mode is AutoresetMode.SAME_STEP and any(how):
                life.step(taken[n], self._last_of(n, infos), float(rewards[n]), *how)
                self._begin(n, seen[n], None)
            else:
                life.step(taken[n], seen[n], float(rewards[n]), *how)

        _each(record, range(self.num_envs))
        return observations, rewards, terminations, truncations, infos

    def close(self, **kwargs: Any) -> None:
        """Ends every life and closes the environment."""
        try:
            _each(RawLife.close, self._lives)
        finally:
            self.env.close(**kwargs)

    # --- one sub-environment

    def _begin(self, n: int, seen: Seen, seed: int | None) -> None:
        part = self._parts[n]
        world = self._worlds[n] or attribute_of(part, "world") or name_of(self.env, seed)
        self._lives[n].reset(seen, world, attribute_of(part, "milestones") or ())

    def _last_of(self, n: int, infos: Any) -> Seen:
        told = info_of(infos, n)
        return see(told.get("final_obs"), told.get("final_info") or {}, missing=_UNSEEN if self._renders else NO_FRAME)

    # --- all of them

    def _see(self, observations: Any, infos: Any) -> list[Seen]:
        rendered: list[Any] = []

        def render(n: int) -> Any:
            if not rendered:
                rendered.append(self.env.render())
            return rendered[0][n]

        return [
            see(observation, _without_final(info_of(infos, n)), partial(render, n) if self._renders else None)
            for n, observation in enumerate(iterate(self.observation_space, observations))
        ]

    @property
    def _renders(self) -> bool:
        return self.render_mode == "rgb_array"

    def _need_reset(self) -> None:
        ended = [n for n, life in enumerate(self._lives) if life.needs_reset]
        if not self._began:
            raise ResetNeeded("the environments were never reset: call reset() before step()")
        if ended and self._mode is AutoresetMode.DISABLED:
            raise ResetNeeded(f"sub-environments {ended} have ended: call reset(options={{'reset_mask': ...}}) first")

    def _interrupt(self, error: BaseException) -> None:
        _each(lambda life: life.interrupt(error), self._lives)

    def _catch_up(self) -> None:
        _each(RawLife.catch_up, self._lives)


def info_of(infos: Any, n: int) -> Json:
    """What one sub-environment told, out of the infos of all."""
    if isinstance(infos, list):  # DictInfoToList
        return dict(infos[n])
    told: Json = {}
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[n]:
            continue  # not of this one, or itself the mask of another key
        told[key] = info_of(values, n) if isinstance(values, Mapping) else values[n]
    return told


def _without_final(info: Json) -> Json:
    return {key: value for key, value in info.items() if key not in ("final_obs", "final_info")}


def _each(work: Callable[[_T], None], those: Iterable[_T]) -> None:
    """Does the work for each of them, also where it fails for some, and raises the first fault."""
    faults = []
    for one in those:
        try:
            work(one)
        except Exception as error:
            faults.append(error)
    if faults:
        raise faults[0]
