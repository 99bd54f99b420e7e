"""The resources of a memory: whole frames as recorded, records of episodes, the agent's documents.

It reads files and answers addresses. It changes nothing.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

from scrubjay.agent.toolbox import RECORDED
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory.frames import Frame
from scrubjay.memory.jsonio import Json
from scrubjay.public import Memory
from scrubjay.surfaces.mcp.uris import DocumentAddress, EpisodeAddress, FrameAddress, parse

__all__ = ["Content", "read_resource"]

_MOST_BYTES = 32_000_000
_MOST_FRAMES = 200
_MEDIA_TYPES = {"md": "text/markdown", "py": "text/x-python", "json": "application/json"}


@dataclass(frozen=True, slots=True)
class Content:
    """What a resource holds: text or bytes."""

    data: str | bytes
    media_type: str


def read_resource(memory: Memory, uri: str) -> Content:
    """The content of a resource. Raises InvalidInput for what is no address, NotFound, Damaged."""
    address = parse(uri)
    if isinstance(address, DocumentAddress):
        ending = address.path.rpartition(".")[2]
        content = Content(memory.documents.read(address.path), _MEDIA_TYPES.get(ending, "text/plain"))
    elif isinstance(address, FrameAddress):
        frame = _frame(memory, address)
        content = Content(frame.data, frame.media_type)
    else:
        content = Content(json.dumps(_episode(memory, address), ensure_ascii=False, indent=1), "application/json")
    if len(content.data) > _MOST_BYTES:
        raise InvalidInput(f"{uri}: {len(content.data):,} are more than the {_MOST_BYTES:,} that are sent at once")
    return content


def _frame(memory: Memory, address: FrameAddress) -> Frame:
    episode = memory.episode(address.episode)
    match address.step:
        case "start":
            return episode.start_frame(address.camera)
        case "end":
            return episode.end_frame(address.camera)
        case step:
            return episode.frame(int(step), address.camera)


def _episode(memory: Memory, address: EpisodeAddress) -> Json:
    """The record without its checksums, and the addresses of its frames."""
    if memory.format == 0:
        raise NotFound(f"{address.episode}: a published run has no records; `episodes` gives its rows")
    episode = memory.episode(address.episode)
    said = {key: value for key, value in episode.record.items() if key != "evidence"}
    if "removed" in said:
        return said
    steps = list(itertools.islice(episode.steps(), _MOST_FRAMES + 1))
    frames = [
        str(FrameAddress(address.episode, step.step, camera or None))
        for step in steps[:_MOST_FRAMES]
        for camera, name in step.frames.items()
        if name is not None
    ]
    more = {"more_frames": f"steps up to {said['last_step']}"} if len(steps) > _MOST_FRAMES else {}
    return {"recorded": RECORDED, **said, "frames": frames, **more}
