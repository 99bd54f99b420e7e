"""Vision for procedures: atoms that measure the current frame, and find in it what was stored.

Frames never enter the sandbox; numbers do. NumPy alone, and every answer is bounded. It knows arrays; where the
current frame comes from, and how a stored one is read, it is told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrubjay.errors import ScrubjayError
from scrubjay.sandbox.contract import AtomFailed, AtomSpec
from scrubjay.sandbox.regions import boxes
from scrubjay.sandbox.signatures import spec_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["VISION", "Vision"]

VISION = ("frame_size", "mean_colour", "find_colour", "cut_template", "match_template")
_MAX_PIXELS = 4_000_000
_MAX_TEMPLATES = 64
_MAX_BOXES = 50
_MAX_RUNS = 50_000


class Vision:
    """Atoms over the frame that `current` gives, `uint8 (H, W, 3)`; `stored` gives that of a reference.

    x goes right and y down, in pixels from the upper left corner. None of them takes an environment step.
    """

    def __init__(self, current: Callable[[], Frame], stored: Callable[[str], Frame]) -> None:
        self._current, self._stored = current, stored
        self._templates: dict[str, Frame] = {}

    def atoms(self) -> dict[str, Callable[..., Any]]:
        """The atoms by name."""
        return {name: getattr(self, name) for name in VISION}

    def specs(self) -> list[AtomSpec]:
        """Their specs."""
        return [spec_of(atom) for atom in self.atoms().values()]

    def frame_size(self) -> dict[str, int]:
        """Width and height of the current frame: {"width", "height"}."""
        height, width = self._frame().shape[:2]
        return {"width": width, "height": height}

    def mean_colour(self, x: int, y: int, width: int, height: int) -> list[float]:
        """Mean [red, green, blue] from 0 to 255 of a region of the current frame."""
        region = _cut(self._frame(), x, y, width, height)
        return [round(float(value), 2) for value in region.reshape(-1, 3).mean(axis=0)]

    def find_colour(self, colour: list[int], tolerance: int = 16, least: int = 4) -> list[dict[str, int]]:
        """Where a colour [red, green, blue] is: boxes {"x", "y", "width", "height", "pixels"}, largest first.

        A pixel has it when no channel differs by more than `tolerance`; pixels that touch sideways are one box, those
        of fewer than `least` pixels are left out.
        """
        import numpy as np

        if len(colour) != 3 or not all(0 <= value <= 255 for value in colour):
            raise AtomFailed(f"find_colour: [red, green, blue] from 0 to 255 was expected, found {colour!r:.60}")
        difference = np.abs(self._frame().astype(np.int16) - np.array(colour, np.int16))
        found = boxes(difference.max(axis=2) <= tolerance, _MAX_RUNS)
        if found is None:
            raise AtomFailed("find_colour: too many spots to count; a smaller tolerance finds fewer")
        kept = [box for box in found if box.pixels >= least][:_MAX_BOXES]
        return [
            {"x": box.x, "y": box.y, "width": box.width, "height": box.height, "pixels": box.pixels} for box in kept
        ]

    def cut_template(self, name: str, reference: str, x: int, y: int, width: int, height: int) -> None:
        """Cuts a region out of a stored frame (ep_000043 or ep_000043#2350) and keeps it under a name for this life."""
        if len(self._templates) >= _MAX_TEMPLATES and name not in self._templates:
            raise AtomFailed(f"cut_template: there are {_MAX_TEMPLATES} templates already; cut one anew under its name")
        # A copy: a view would keep the whole frame alive.
        self._templates[name[:100]] = _cut(self._fetch(reference), x, y, width, height).copy()

    def match_template(
        self, template: str, x: int = 0, y: int = 0, width: int = 0, height: int = 0
    ) -> dict[str, float]:
        """Where a template fits best in a region of the current frame (0, 0, 0, 0: all of it): {"x", "y", "score"}.

        `template` is a name given to cut_template, or a reference to a whole stored frame. The score is the
        correlation of both over all channels: 1 the same, 0 unrelated; x, y is the upper left corner in the frame.
        """
        frame = self._frame()
        region = _cut(frame, x, y, width or frame.shape[1] - x, height or frame.shape[0] - y)
        pattern = self._templates[template] if template in self._templates else self._fetch(template)
        if pattern.shape[0] > region.shape[0] or pattern.shape[1] > region.shape[1]:
            raise AtomFailed(f"match_template: the template is {_size(pattern)}, the region only {_size(region)}")
        left, top, score = _best(region, pattern)
        return {"x": max(x, 0) + left, "y": max(y, 0) + top, "score": score}

    def _frame(self) -> Frame:
        return _fit(self._current(), "the current frame")

    def _fetch(self, reference: str) -> Frame:
        try:
            frame = self._stored(reference)
        except ScrubjayError as error:
            raise AtomFailed(f"{reference:.60}: no template and no stored frame: {error}") from None
        return _fit(frame, reference)


def _fit(frame: Frame, name: str) -> Frame:
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.shape[0] * frame.shape[1] > _MAX_PIXELS:
        raise AtomFailed(f"{name:.60}: at most {_MAX_PIXELS} pixels of red, green and blue are measured")
    return frame


def _size(frame: Frame) -> str:
    return f"{frame.shape[1]}x{frame.shape[0]}"


def _cut(frame: Frame, x: int, y: int, width: int, height: int) -> Frame:
    """What lies inside the frame of a region. Raises AtomFailed where that is nothing."""
    region = frame[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)]
    if region.size == 0:
        raise AtomFailed(f"the region {x}, {y}, {width}x{height} lies outside of the frame of {_size(frame)}")
    return region


def _best(region: Frame, pattern: Frame) -> tuple[int, int, float]:
    """Upper left corner and score of the best fit, by normalised cross-correlation.

    J. P. Lewis, Fast Normalized Cross-Correlation, 1995: the products by FFT, means and energies by running sums.
    """
    import numpy as np

    high, wide = pattern.shape[:2]
    shape = (region.shape[0] - high + 1, region.shape[1] - wide + 1)
    count = high * wide
    size = (_fast(region.shape[0]), _fast(region.shape[1]))
    products = np.zeros(shape)
    energy = np.zeros(shape)
    template_energy = 0.0
    for channel in range(3):
        ground = region[:, :, channel].astype(np.float64)
        ground -= ground.mean()  # a constant changes no correlation, and small numbers keep their digits
        figure = pattern[:, :, channel].astype(np.float64)
        figure -= figure.mean()
        template_energy += float((figure**2).sum())
        spectrum = np.fft.rfft2(ground, size) * np.conj(np.fft.rfft2(figure, size))
        products += np.fft.irfft2(spectrum, size)[: shape[0], : shape[1]]
        energy += _window(ground**2, high, wide) - _window(ground, high, wide) ** 2 / count
    # Regions without any contrast correlate with nothing; below half a grey value per pixel it is rounding.
    flat = 0.25 * count
    scores = products / np.sqrt(np.maximum(energy, flat) * max(template_energy, flat))
    top, left = np.unravel_index(int(np.argmax(scores)), shape)
    return int(left), int(top), round(float(np.clip(scores[top, left], -1, 1)), 4)


def _fast(length: int) -> int:
    """The next length whose only factors are 2, 3 and 5: a prime one takes the FFT several times as long."""
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def _window(values: NDArray[np.float64], high: int, wide: int) -> NDArray[np.float64]:
    """Sums over every window of `high` x `wide`."""
    import numpy as np

    sums = np.pad(values.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    found: NDArray[np.float64] = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
    return found
