"""The processor of Qwen3-VL without its part for videos, which needs torchvision.

It knows the processor's form alone; frames go in as PIL images.
"""

from __future__ import annotations

import functools
from typing import Any

__all__ = ["load_processor", "make_processor", "processor_class"]

_TOKENS = ("image", "video", "vision_start", "vision_end")
_USUAL = {"image": "<|image_pad|>", "video": "<|video_pad|>"}


@functools.cache
def processor_class() -> Any:
    """A Qwen3VLProcessor of an image processor and a tokenizer alone."""
    from transformers import Qwen3VLProcessor
    from transformers.processing_utils import ProcessorMixin

    class ImageTextProcessor(Qwen3VLProcessor):  # type: ignore[misc]
        """Images and text; no video."""

        def __init__(
            self, image_processor: Any = None, tokenizer: Any = None, chat_template: Any = None, **more: Any
        ) -> None:
            for name in _TOKENS:
                token = getattr(tokenizer, f"{name}_token", None) or _USUAL.get(name, f"<|{name}|>")
                setattr(self, f"{name}_token", token)
                setattr(self, f"{name}_token_id", tokenizer.convert_tokens_to_ids(token))
            ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)

    return ImageTextProcessor


def make_processor(image_processor: Any, tokenizer: Any) -> Any:
    """The processor of these two."""
    return processor_class()(
        image_processor=image_processor, tokenizer=tokenizer, chat_template=tokenizer.chat_template
    )


def load_processor(folder: str) -> Any:
    """The processor of a saved model, over PIL."""
    from transformers import AutoTokenizer, Qwen2VLImageProcessorPil

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return make_processor(Qwen2VLImageProcessorPil.from_pretrained(folder, local_files_only=True), tokenizer)
