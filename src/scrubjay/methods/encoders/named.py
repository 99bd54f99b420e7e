"""Encoders by name, or by a dotted path to one of your own."""

from __future__ import annotations

from scrubjay.environments.named import load
from scrubjay.errors import InvalidInput
from scrubjay.methods.encoders.contract import Encoders, FrameEncoder, TextEncoder

__all__ = ["FRAMES", "FRAMES_DEFAULT", "TEXT", "TEXT_DEFAULT", "make_encoders"]

TEXT_DEFAULT = "words"
FRAMES_DEFAULT = "place/1"
TEXT = {
    TEXT_DEFAULT: "scrubjay.methods.encoders.words:Words",
    "minilm": "scrubjay.methods.encoders.minilm:MiniLm",
}
FRAMES = {
    FRAMES_DEFAULT: "scrubjay.methods.encoders.place:Place",
    "efficientnet-lite0": "scrubjay.methods.encoders.efficientnet:EfficientNetLite0",
}


def make_encoders(text: str = TEXT_DEFAULT, frames: str = FRAMES_DEFAULT) -> Encoders:
    """The encoders of these names (or paths like `my.module:Encoder`).

    Raises InvalidInput that says what there is, and what to install where something is missing.
    """
    try:
        of_texts: TextEncoder = load(text, TEXT, "encoder")()
        of_frames: FrameEncoder = load(frames, FRAMES, "frame encoder")()
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"an encoder needs the module {error.name}, which is not installed; pip install 'scrubjay[encoders]'"
        ) from None
    return Encoders(of_texts, of_frames)
