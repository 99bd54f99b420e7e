"""One stored frame on its way into a view, with what its label says.

It knows frames by their interface. Where they are stored, and what is drawn around them, it does not know.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scrubjay.errors import Damaged, NotFound, ScrubjayError
from scrubjay.memory.layout import Reference
from scrubjay.retrieval.views import Region, clip

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["Evidence", "FrameLike"]


class FrameLike(Protocol):
    """A frame as a view needs it: its bytes as stored, and its picture."""

    @property
    def name(self) -> str:
        """Name of its file."""
        ...

    @property
    def data(self) -> bytes:
        """The bytes as they are stored."""
        ...

    @property
    def media_type(self) -> str:
        """Such as `image/webp`."""
        ...

    def image(self) -> PIL.Image.Image:
        """The picture. Raises Damaged where the bytes are none."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """A frame to show, or the reason why there is none, and the cues that label it.

    `position` has the two coordinates on the ground of the world, in its unit. `zoom` is the region asked for.
    `milestones` are those reached at this step.
    """

    reference: Reference | None
    frame: FrameLike | None = None
    camera: str | None = None
    zoom: Region | None = None
    missing: str | None = None
    step: int | None = None
    position: tuple[float, float] | None = None
    place: str | None = None
    action: str | None = None
    milestones: tuple[str, ...] = ()

    def frame_size(self) -> tuple[int, int]:
        """(width, height) of the stored frame, from the head of its file. Raises NotFound or Damaged."""
        from PIL import Image

        frame = self._frame()
        try:
            with Image.open(io.BytesIO(frame.data)) as image:
                return image.size
        except (OSError, ValueError, SyntaxError) as error:
            frame.image()  # says where the file lies, which is not known here
            raise _damaged(frame, error) from None

    def region(self) -> Region | None:
        """The part that is shown, inside the frame; None for all of it. Raises InvalidInput where it has none."""
        return None if self.zoom is None else clip(self.zoom, self.frame_size())

    def picture(self) -> PIL.Image.Image:
        """The pixels that are shown, in RGB and at their own size. Raises NotFound, Damaged or InvalidInput."""
        frame = self._frame()
        try:
            image = frame.image().convert("RGB")
        except ScrubjayError:
            raise
        except (OSError, ValueError, SyntaxError) as error:
            raise _damaged(frame, error) from None
        if self.zoom is None:
            return image
        x, y, w, h = clip(self.zoom, image.size)
        return image.crop((x, y, x + w, y + h))

    def _frame(self) -> FrameLike:
        if self.frame is None:
            raise NotFound(self.missing or f"{self.reference} has no frame")
        return self.frame


def _damaged(frame: FrameLike, error: Exception) -> Damaged:
    return Damaged(f"frame {frame.name} can't be decoded: {error}", file=frame.name)
