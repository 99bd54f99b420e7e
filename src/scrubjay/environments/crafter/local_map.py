"""What an atom of crafter knows: the tiles that its own view has shown since it began, and ways over them.

It sees states alone, never the game's map.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from scrubjay.memory.jsonio import Json

__all__ = ["DIRECTIONS", "Cell", "LocalMap", "Pose"]

Cell = tuple[int, int]  # x to the right, z down
Pose = tuple[Cell, Cell]  # where I stand, and the offset of the tile I face
DIRECTIONS: dict[str, Cell] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_WALKABLE = frozenset({"grass", "sand", "path"})
_CREATURES = frozenset({"cow", "zombie", "skeleton", "arrow"})
_THINGS = _CREATURES | {"plant", "ripe_plant"}
_HASTE = 1.4  # how much more the distance left counts than the way behind: less to search, hardly longer
_UNSEEN = 1.5  # what a step onto a tile costs that was not seen yet
_PASSING = 3.0  # and onto one where a creature stands some way off: it may be gone by then
_NEAR = 2
_MOST_POSES = 20_000


class LocalMap:
    """Tiles by cell as last seen; creatures and plants of the present view alone."""

    def __init__(self, state: Json) -> None:
        self.tiles: dict[Cell, str] = {}
        self.observe(state)

    def observe(self, state: Json) -> None:
        """Takes over what a state shows."""
        x, _, z = state["pos"]
        self.here: Cell = (x, z)
        self.facing: Cell = (state["facing"][0], state["facing"][2])
        self.things: dict[Cell, str] = {}
        rows = [line.split() for line in state["view"]]
        left, top = x - len(rows[0]) // 2, z - len(rows) // 2
        for down, row in enumerate(rows):
            for across, word in enumerate(row):
                cell = (left + across, top + down)
                if word in _THINGS:
                    self.things[cell] = word
                elif cell != self.here:
                    self.tiles[cell] = word

    @property
    def pose(self) -> Pose:
        """Where I am and where I look."""
        return self.here, self.facing

    def word(self, cell: Cell) -> str | None:
        """What is on a tile: the creature or plant, else the material; None where it was never seen."""
        return self.things.get(cell) or self.tiles.get(cell)

    def can_stand(self, cell: Cell) -> bool:
        """False where something is known to be in the way for good; lava is."""
        material = self.tiles.get(cell)
        return (material is None or material in _WALKABLE) and self.things.get(cell) not in ("plant", "ripe_plant")

    def way(self, is_goal: Callable[[Pose], bool], aim: Cell | None = None, unseen: bool = False) -> list[str] | None:
        """Moves to the nearest pose that is a goal; empty where I have it, None where there is no way.

        `aim` is a tile that every goal is at or next to; it makes the search short, and the way hardly longer. With
        `unseen`, tiles that were not seen yet count as free.
        """
        order = itertools.count(1)
        best: dict[Pose, float] = {self.pose: 0.0}
        before: dict[Pose, tuple[Pose, str]] = {}
        queue = [(0.0, 0, self.pose)]
        while queue and len(best) < _MOST_POSES:
            _, _, pose = heapq.heappop(queue)
            if is_goal(pose):
                return _moves(before, pose)
            for name, offset in DIRECTIONS.items():
                after, cost = self._moved(pose, offset, unseen)
                total = best[pose] + cost
                if total < best.get(after, float("inf")):
                    best[after], before[after] = total, (pose, f"move_{name}")
                    left = 0 if aim is None else abs(aim[0] - after[0][0]) + abs(aim[1] - after[0][1])
                    heapq.heappush(queue, (total + _HASTE * left, next(order), after))
        return None

    def leads(self, moves: list[str], is_goal: Callable[[Pose], bool]) -> bool:
        """True where these moves still end at a goal, as far as is known by now."""
        pose = self.pose
        for move in moves:
            pose, _ = self._moved(pose, DIRECTIONS[move.removeprefix("move_")], unseen=True)
        return is_goal(pose)

    def _moved(self, pose: Pose, offset: Cell, unseen: bool) -> tuple[Pose, float]:
        """The pose after a move, which is a turn alone where the tile is taken; and what the move costs."""
        cell, (x, z) = pose[0], offset
        target = (cell[0] + x, cell[1] + z)
        known = self.tiles.get(target)
        if known == "lava":
            return pose, 1.0
        creature = self.things.get(target) in _CREATURES
        is_near = abs(target[0] - self.here[0]) + abs(target[1] - self.here[1]) <= _NEAR
        if not self.can_stand(target) or (creature and is_near) or (known is None and not creature and not unseen):
            return (cell, offset), 1.0
        return (target, offset), _PASSING if creature else _UNSEEN if known is None else 1.0


def _moves(before: dict[Pose, tuple[Pose, str]], pose: Pose) -> list[str]:
    moves = []
    while pose in before:
        pose, move = before[pose]
        moves.append(move)
    return moves[::-1]
