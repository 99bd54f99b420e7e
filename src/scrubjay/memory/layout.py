"""Where everything lies in a memory: the only file that spells a path, an id or a file name of it.

It knows names, not contents, and touches no disk.
"""

from __future__ import annotations

import os
import re

from scrubjay.errors import InvalidInput
from scrubjay.memory.light import dataclass

__all__ = ["FORMAT", "Layout", "Reference", "episode_id", "episode_number", "parse_reference"]

FORMAT = 1
_EPISODES_PER_FOLDER = 1000
_ID = re.compile(r"ep_([0-9]{6,18})")
_REFERENCE = re.compile(r"ep_([0-9]{6,18})(?:#([0-9]{1,18}))?")


def episode_id(number: int) -> str:
    """`ep_000043` for 43."""
    return f"ep_{number:06d}"


def episode_number(ident: str) -> int:
    """43 for `ep_000043`. Raises InvalidInput for anything that is not an episode's id."""
    found = _ID.fullmatch(ident) if isinstance(ident, str) else None
    if found is None or episode_id(int(found[1])) != ident:
        raise InvalidInput(f"{ident!r} is not an episode's id; one looks like ep_000043")
    return int(found[1])


@dataclass(frozen=True, slots=True)
class Reference:
    """An episode, or one step of it: `ep_000043`, `ep_000043#2350`."""

    episode: str
    step: int | None = None

    def __str__(self) -> str:
        return self.episode if self.step is None else f"{self.episode}#{self.step}"


def parse_reference(text: str) -> Reference:
    """The reference that `text` spells. Raises InvalidInput, showing what one looks like."""
    found = _REFERENCE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or episode_id(int(found[1])) != f"ep_{found[1]}":
        raise InvalidInput(f"{text!r} is not a reference; one looks like ep_000043 or ep_000043#2350")
    return Reference(f"ep_{found[1]}", None if found[2] is None else int(found[2]))


class Layout:
    """Paths of one memory. Attributes and methods give absolute paths; `relative` turns one into the stored form."""

    EPISODE_RECORD = "episode.json"
    STEPS = "steps.jsonl"
    FRAMES = "frames.tar"
    # Inside mine/: folders of Agent Skills, and the names that these have in common.
    PROCEDURES = "procedures"
    REFLEXES = "reflexes"
    SKILL = "SKILL.md"
    SCRIPTS = "scripts"
    ACTIONS = "actions.json"  # the plan of a coding agent

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(os.fspath(root))
        at = self.at
        self.manifest = at("memory.json")
        self.agents_guide = at("AGENTS.md")
        self.worlds = at("worlds.jsonl")
        self.lives = at("lives.jsonl")
        self.index = at("index.jsonl")
        self.grid = at("grid.jsonl")
        self.inspections = at("inspections.jsonl")
        self.documents_journal = at("documents.jsonl")
        self.procedures_journal = at("procedures.jsonl")
        self.lives_folder = at("lives")
        self.episodes_folder = at("episodes")
        self.mine = at("mine")
        self.adapters = at("adapters")
        self.cache = at(".cache")
        self.locks = at(".locks")

    @property
    def evidence(self) -> frozenset[str]:
        """What lies directly in the memory and only scrubjay writes: all but `mine/`."""
        journals = (self.worlds, self.lives, self.index, self.grid, self.inspections, self.documents_journal)
        folders = (self.lives_folder, self.episodes_folder, self.adapters, self.cache, self.locks)
        return frozenset((self.manifest, self.agents_guide, self.procedures_journal, *journals, *folders))

    def at(self, *parts: str) -> str:
        """The absolute path of a stored, slash-separated path."""
        return os.path.join(self.root, *parts)

    def relative(self, path: str) -> str:
        """`episodes/0000/ep_000043` for the absolute path of it, with slashes on every system."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    # --- episodes

    @staticmethod
    def bucket_name(number: int) -> str:
        """Name of the folder that holds a thousand episodes: `0000`."""
        return f"{number // _EPISODES_PER_FOLDER:04d}"

    def bucket(self, number: int) -> str:
        """Folder under `episodes/` that holds this episode's folder."""
        return os.path.join(self.episodes_folder, self.bucket_name(number))

    def episode(self, ident: str) -> str:
        """Folder of an episode: `episodes/0000/ep_000043`."""
        return os.path.join(self.bucket(episode_number(ident)), ident)

    @staticmethod
    def frame_name(step: int, extension: str, camera: str | None = None) -> str:
        """`002350.webp`, or `002350.front.webp` where there are several cameras."""
        return f"{step:06d}.{extension}" if camera is None else f"{step:06d}.{camera}.{extension}"

    @staticmethod
    def edge_frame_name(edge: str, extension: str, camera: str | None = None) -> str:
        """Name of the first (`edge` = `start`) or last (`end`) frame's file: `start.webp`, `end.front.png`."""
        return f"{edge}.{extension}" if camera is None else f"{edge}.{camera}.{extension}"

    # --- lives

    @staticmethod
    def life_name(life: int) -> str:
        """`0001` for life 1."""
        return f"{life:04d}"

    def life(self, life: int) -> str:
        """Folder of a life: `lives/0001`."""
        return os.path.join(self.lives_folder, self.life_name(life))

    def life_lock(self, life: int) -> str:
        """File that a running life holds flock on."""
        return os.path.join(self.life(life), "lock")

    def begun(self, life: int) -> str:
        """Journal of the episodes this life began."""
        return os.path.join(self.life(life), "begun.jsonl")

    def turns(self, life: int) -> str:
        """Journal of the turns of this life."""
        return os.path.join(self.life(life), "turns.jsonl")

    def turn(self, life: int) -> str:
        """Folder of what a coding agent is shown in the present turn, and of what it printed."""
        return os.path.join(self.life(life), "turn")

    def evaluation(self, life: int) -> str:
        """Journal of what the evaluator of this life's task noted; no tool of an agent reads it."""
        return os.path.join(self.life(life), "evaluation.jsonl")

    def log(self, life: int) -> str:
        """The life as readable text."""
        return os.path.join(self.life(life), "logs.txt")

    def lock_of(self, journal: str) -> str:
        """The lock file under `.locks/` for appends to this journal."""
        return os.path.join(self.locks, self.relative(journal).replace("/", "-"))

    # --- the agent's documents

    @staticmethod
    def working(life: int) -> str:
        """Name inside `mine/` of a life's working memory: `working/0001.md`."""
        return f"working/{Layout.life_name(life)}.md"
