"""What a report says, counted from the files of a memory, each list with a bound and the number of what is beyond it.

It knows counts. How they are drawn it does not know.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.agent.evaluating import evaluation_of
from scrubjay.errors import ScrubjayError
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import episode_number, parse_reference
from scrubjay.memory.records import LifeRow, Row
from scrubjay.retrieval.contents import Contents, contents
from scrubjay.surfaces.web.outline import DIED, MILESTONE
from scrubjay.surfaces.web.pictures import Pictured
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.terrain import Land

__all__ = ["Cited", "Facts", "LifeFacts", "Looks", "World", "gather"]

_MOST_LIVES = 60
_MOST_MARKED = 1_000
_MOST_CITED = 12
_MOST_WORLDS = 6


@dataclass(frozen=True, slots=True)
class LifeFacts:
    """One life. `reached` holds (step, name) of each milestone; `turns` the episodes of each turn in which it acted,
    `noted` what the environment's evaluator noted.
    """

    row: LifeRow
    episodes: int
    first_step: int
    last_step: int
    reached: Sequence[tuple[int, str]]
    died: bool
    turns: Sequence[int]
    noted: Sequence[Json] = ()

    @property
    def steps(self) -> int:
        """Environment steps from its first to its last."""
        return self.last_step - self.first_step

    @property
    def is_scripted(self) -> bool:
        """True where no language model acted."""
        return (self.row.model or "").startswith("scripted")


@dataclass(frozen=True, slots=True)
class Looks:
    """How a model looked back: `lags` are steps between the end of an episode and the turn that looked at it, within
    one life; `earlier` counts looks at earlier lives, `turns` the turns that looked, `questions` those that were kept.
    """

    lags: Sequence[int]
    earlier: int
    turns: int
    questions: int


@dataclass(frozen=True, slots=True)
class Cited:
    """An episode that documents cite: in how many lines, in which documents, its first frame where there is one."""

    row: Row
    count: int
    paths: Sequence[str]
    picture: Pictured | None


@dataclass(frozen=True, slots=True)
class World:
    """A world of the grid with its name."""

    name: str
    land: Land


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a report says."""

    name: str
    lives: Sequence[LifeFacts]
    lives_beyond: int
    episodes: int
    looks: Looks
    worlds: Sequence[World]
    worlds_beyond: int
    cited: Sequence[Cited]
    documents: int
    contents: Contents

    @property
    def models(self) -> tuple[str, ...]:
        """The models that acted, each once."""
        return tuple(dict.fromkeys(life.row.model or "not said" for life in self.lives))


def gather(reader: Reader) -> Facts:
    """Counts a memory."""
    reader.outline.refresh()
    lives = reader.lives()
    shown = lives[-_MOST_LIVES:]
    lands = sorted(reader.terrain.lands().items(), key=lambda one: one[1].newest, reverse=True)
    return Facts(
        name=reader.name,
        lives=[_life(reader, row) for row in shown],
        lives_beyond=len(lives) - len(shown),
        episodes=len(reader.outline),
        looks=_looks(reader, lives),
        worlds=[World(name, land) for name, land in lands[:_MOST_WORLDS]],
        worlds_beyond=max(0, len(lands) - _MOST_WORLDS),
        cited=_cited(reader),
        documents=reader.with_documents(lambda memory: len(memory.documents.list())),
        contents=contents(reader.layout),
    )


def _life(reader: Reader, row: LifeRow) -> LifeFacts:
    outline = reader.outline.lives().get(row.life)
    marked = list(reader.outline.marked(row.life))
    reached: list[tuple[int, str]] = []
    for point in [one for one in marked if one.marks & MILESTONE][:_MOST_MARKED]:
        names = reader.milestones.of(point.number) or (f"in {point.id}",)
        reached += [(point.last_step, name) for name in names]
    turns = [len(turn.episodes) for turn in reader.turns(row.life)]
    return LifeFacts(
        row=row,
        episodes=0 if outline is None else len(outline.places),
        first_step=0 if outline is None else outline.first_step,
        last_step=0 if outline is None else outline.last_step,
        reached=reached,
        died=row.outcome == "died" or any(one.marks & DIED for one in marked),
        turns=turns,
        noted=evaluation_of(reader.memory, row.life),
    )


def _looks(reader: Reader, lives: Sequence[LifeRow]) -> Looks:
    lags: list[int] = []
    earlier = turns = 0
    for life in lives:
        for turn in reader.turns(life.life):
            turns += bool(turn.inspected)
            for ident in dict.fromkeys(text.partition("#")[0] for text in turn.inspected):
                with contextlib.suppress(ScrubjayError):
                    point = reader.outline.point(episode_number(ident))
                    if point is None:
                        continue
                    if point.life == life.life:
                        lags.append(max(0, turn.first_step - point.last_step))
                    else:
                        earlier += 1
    return Looks(lags, earlier, turns, len(reader.questions()))


def _cited(reader: Reader) -> list[Cited]:
    citing = reader.citing
    found: list[Cited] = []
    for ident, count in citing.most_cited(_MOST_CITED * 2):
        try:
            episode = reader.episode(parse_reference(ident).episode)
            row = episode.row
        except ScrubjayError:
            continue  # `check` names what is cited and not there
        picture: Pictured | None = None
        with contextlib.suppress(ScrubjayError):
            picture = reader.thumbnails.get(episode, None)
        paths = list(dict.fromkeys(path for path, _ in citing.of_episode(ident)))
        found.append(Cited(row, count, paths, picture))
        if len(found) == _MOST_CITED:
            break
    return found
