"""The memory of MrSteve on our episodes: what was seen where, found by its look or its place, nearest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.agent.toolbox import OwnTool
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import parse_reference
from scrubjay.memory.records import Row, is_number
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.encoders.contract import Encoders, FrameEncoder
from scrubjay.methods.encoders.named import make_encoders
from scrubjay.methods.encoders.place import Place
from scrubjay.methods.place_memory import PlaceMemory, Point, Sight
from scrubjay.methods.recalling import Given, OfTurn, Page
from scrubjay.models.chat import ChatModel, Tool
from scrubjay.models.contract import Found, Recall
from scrubjay.retrieval.lines import line_of
from scrubjay.retrieval.places import LENGTH, VERSION
from scrubjay.retrieval.query import DEFAULT_RADIUS, Query

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["MrSteve", "Sights"]

BLOCKS = 6
CAPACITY = 4000
_MOST = 20
_TOOL = Tool(
    "places",
    "Find where you saw what a frame shows, nearest first. Without reference: what looks like the present frame.",
    {
        "type": "object",
        "properties": {
            "reference": {"type": "string", "description": "an episode whose last frame shows it, such as ep_000043"},
            "near": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            "radius": {"type": "number"},
        },
        "required": [],
        "additionalProperties": False,
    },
)


class Sights:
    """The place memory of one life, built from its episodes and brought up to date when it is asked.

    A sight is the last frame of an episode: what it led to. Blocks are cells of the world.
    """

    def __init__(self, memory: Memory, life: int, frames: FrameEncoder | None = None) -> None:
        self._memory, self._life, self._frames = memory, life, frames or Place()
        alike = self._frames.alike
        world = next((row.world for row in memory.lives() if row.life == life), None)
        self._places = PlaceMemory(
            cell=BLOCKS * memory.world(world).cell, apart=alike, alike=(1 + alike) / 2, least=alike, capacity=CAPACITY
        )
        self._rows: dict[str, Row] = {}
        self._here: Point | None = None
        self._now: bytes | None = None

    def update(self) -> None:
        """Takes over the episodes that were finished since."""
        after = next(reversed(self._rows), None)
        for row in self._memory.iterate(Query(life=self._life, after=after)):
            self._rows[row.id] = row
            picture = None if row.end is None else self._frames.of_last(self._memory, row)
            if row.end is None or picture is None:
                continue
            yaw = self._memory.episode(row.id).record["end"]["state"].get("yaw")
            self._here, self._now = row.end, picture
            self._places.add(Sight(row.number, row.id, row.end, float(yaw) if is_number(yaw) else 0.0, picture))

    def places(self) -> list[tuple[Sight, ...]]:
        """The sights of each place as they are kept."""
        return self._places.places()

    def find(self, query: Query) -> Found:
        """Rows by look (`like`) or by place (`near`, `radius`), nearest first. Nothing else can be asked: nothing.

        Raises InvalidInput for a look where frames are not compared by the descriptor that a query holds.
        """
        self.update()
        if query.like is not None:
            if self._frames.name != VERSION:
                raise InvalidInput(f"like: a query holds a look by {VERSION}; this memory has looks by another encoder")
            rows = self.alike(query.like[:LENGTH])
        elif query.near is not None:
            rows = [self._rows[sight.reference] for sight in self._near(query.near, query.radius)]
        else:
            return Page()
        return Page(rows if query.limit is None else rows[: query.limit])

    def alike(self, picture: bytes) -> list[Row]:
        """The episodes whose last frame looks like this descriptor, nearest to the present position first."""
        self.update()
        return [self._rows[sight.reference] for sight, _ in self._places.find(picture, self._here)]

    def _near(self, near: tuple[float, float], radius: float | None) -> list[Sight]:
        """On the ground: at the height of the present position."""
        world = self._memory.world(next(reversed(self._rows.values())).world if self._rows else None)
        point = list(self._here or (0.0, 0.0, 0.0))
        for axis, value in zip(world.ground, near, strict=True):
            point[axis] = value
        return self._places.near((point[0], point[1], point[2]), DEFAULT_RADIUS if radius is None else radius)

    def picture(self, reference: str | None) -> bytes:
        """The descriptor of an episode's last frame, or of the present one. Raises InvalidInput where there is none."""
        self.update()
        if reference is None:
            found = self._now
        else:
            ident = parse_reference(reference).episode
            found = self._frames.of_last(self._memory, self._rows[ident]) if ident in self._rows else None
        if found is None:
            raise InvalidInput(f"there is no frame of {reference or 'the present'} to compare with in this life")
        return found


class MrSteve:
    """Sights by place, direction and look."""

    traits = Traits(
        name="mrsteve",
        title="MrSteve: place event memory",
        source="MrSteve (2024), as Table 1 of the MFM paper lists it",
        store="frames by place (6 blocks, 60 degrees) and look (clusters), with time; at most 4,000",
        carries="nothing: the memory is of one life",
        uses="nothing: it asks for words and tags, which this memory does not know, and keeps no documents",
        offer=Offer(
            tools=("places", "look", "compare"),
            map=False,
            own=False,
            working=False,
            consolidates=False,
            procedures=False,
        ),
        notes="A frame encoder stands for the paper's MineCLIP, which knows words as well.",
        encodes=("frames",),
    )

    def __init__(self, encoders: Encoders | None = None) -> None:
        self.encoders = encoders or make_encoders()
        self._kept: tuple[str, int, Sights] | None = None

    def _sights(self, memory: Memory, life: int) -> Sights:
        if self._kept is None or self._kept[:2] != (memory.root, life):
            self._kept = (memory.root, life, Sights(memory, life, self.encoders.frames))
        return self._kept[2]

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Search by look and place; documents that last for one turn."""
        return Given(OfTurn(), self._sights(memory, life.number).find)

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""

        def answer(arguments: Json) -> str:
            sights = self._sights(memory, memory.context()[0] or 1)
            rows: Sequence[Row]
            if arguments.get("near") is not None:
                rows = sights.find(Query(near=tuple(arguments["near"]), radius=arguments.get("radius"))).rows
            else:
                rows = sights.alike(sights.picture(arguments.get("reference")))
            return "\n".join(map(line_of, rows[:_MOST])) or "(nothing like it was seen)"

        names = self.encoders.names(self.traits.encodes)
        return converse(self.traits, model, memory, skills, (OwnTool(_TOOL, answer),), encoders=names)
