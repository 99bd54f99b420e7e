"""RecordMemory: a Gymnasium wrapper that records an environment without a line of the user's own.

It knows Gymnasium's contract. Where an episode ends is decided in `raw_life`.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, SupportsFloat

import gymnasium
from gymnasium.error import ResetNeeded

from scrubjay.environments.raw_actions import action_names, raw_action
from scrubjay.environments.raw_life import RawLife
from scrubjay.environments.seeing import see
from scrubjay.memory.records import World

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["RecordMemory", "attribute_of", "name_of", "names_in"]


class RecordMemory(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Records everything that passes: `env = RecordMemory(env, memory, task="Balance the pole")`.

    A reset begins a life; a raw action repeated is one episode, closed by another action, a reset, an end, a jump of
    the position or 400 steps. `close` ends the life; so does the end of the program.

    The frame is the observation where that is an image, else what the environment renders (`render_mode="rgb_array"`).
    The state is `info["state"]`, else the rest of the observation with the scalars of `info`. `world` names the
    coordinate frame of the positions; by default the environment's own `world`, else its id with the seed of the
    reset. A step after the end raises Gymnasium's ResetNeeded, unless an Autoreset wrapper lies within: then it is
    the first observation of a new life.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], memory: Memory, task: str = "", world: World | str | None = None
    ) -> None:
        super().__init__(env)
        self._world = world
        self._lives = RawLife(memory, task)
        self._names = names_in(env)
        self._resets_itself = _has_autoreset(env)
        # Most programs never close an environment; what they did is kept all the same.
        self._at_exit = weakref.finalize(self, self._lives.close)

    @property
    def life(self) -> Life | None:
        """The life that is being recorded, or None before the first reset and after an end."""
        return self._lives.life

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a life in the environment and in the memory. Raises StorageFull on a full disk: call it again."""
        self._lives.catch_up()
        observation, info = self.env.reset(seed=seed, options=options)
        self._begin(observation, info, seed)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Takes a step and records it.

        Raises ResetNeeded after an end. Raises StorageFull on a full disk: the step was taken and will be recorded
        by the next call, once there is space.
        """
        if self._lives.needs_reset and not self._resets_itself:
            raise ResetNeeded("the environment has ended or was never reset: call reset() before step()")
        self._lives.catch_up()
        begins = self._lives.needs_reset
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except BaseException as error:
            self._lives.interrupt(error)
            raise
        if begins:
            self._begin(observation, info, None)
        else:
            taken = raw_action(action, self._names)
            seen = see(observation, info, self._renderer())
            ending = info.get("ending")
            said = ending if isinstance(ending, str) else None
            self._lives.step(taken, seen, float(reward), bool(terminated), bool(truncated), said)
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Ends the life and closes the environment."""
        try:
            self._lives.close()
        finally:
            self.env.close()

    def _begin(self, observation: Any, info: dict[str, Any], seed: int | None) -> None:
        world = self._world or attribute_of(self.env, "world") or name_of(self.env, seed)
        self._lives.reset(
            see(observation, info, self._renderer()),
            world,
            attribute_of(self.env, "milestones") or (),
            attribute_of(self.env, "deriver") or "default",
        )

    def _renderer(self) -> Any:
        return self.env.render if self.render_mode == "rgb_array" else None


def attribute_of(env: Any, name: str) -> Any:
    """An attribute of an environment or of those it wraps, or None."""
    if env is None:
        return None
    try:
        return env.get_wrapper_attr(name)
    except AttributeError:
        return None


def name_of(env: Any, seed: int | None) -> str:
    """`CartPole-v1-seed-7`: what a world is called that nobody named."""
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    return name if seed is None else f"{name}-seed-{seed}"


def names_in(env: Any) -> tuple[str, ...]:
    """Names of an environment's discrete actions, where it has any: `actions`, or what Atari games say."""
    space = env.action_space
    count = int(space.n) if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0 else None
    meanings = attribute_of(env, "get_action_meanings")
    return action_names(meanings() if callable(meanings) else attribute_of(env, "actions"), count)


def _has_autoreset(env: Any) -> bool:
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.Autoreset):
            return True
        env = env.env
    return False
