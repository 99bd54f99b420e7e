"""A pretrained model as a policy needs it: prompts in, log-probabilities and generated texts out.

It turns prompts, with a frame or without, into tokens, and knows nothing of adapters, categories or memories.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.parametric.examples import Prompt

__all__ = ["Backbone", "Generation"]

_MERGED = "scrubjay_merged"
_TEXTUAL = ("input_ids", "attention_mask", "mm_token_type_ids", "token_type_ids")


@dataclass(frozen=True, slots=True)
class Generation:
    """A generated text. `is_cut` says that it ended because `max_new_tokens` were spent, not because it was done."""

    text: str
    prompt_tokens: int
    new_tokens: int
    is_cut: bool
    seconds: float = 0.0


class Backbone:
    """A causal language model of transformers with its tokenizer, or with its processor where it sees.

    `name` is how adapters call it, `is_quantised` whether its weights are stored in few bits. The model is put into
    evaluation mode and its own weights are frozen.
    """

    def __init__(self, model: Any, tokenizer: Any, processor: Any = None, *, name: str = "") -> None:
        self.model, self.tokenizer, self.processor, self.name = model, tokenizer, processor, name
        # Some kinds of few bits lie in buffers: those the configuration alone tells of.
        self.is_quantised = getattr(model.config, "quantization_config", None) is not None or any(
            not one.is_floating_point() or one.element_size() < 2 for one in model.parameters()
        )
        model.name_or_path = name  # what peft writes into an adapter's folder: no path of this machine
        model.requires_grad_(False)
        model.eval()

    @property
    def sees(self) -> bool:
        """True where a frame goes in."""
        return self.processor is not None

    @property
    def device(self) -> Any:
        """Where its weights lie."""
        return next(self.model.parameters()).device

    @cached_property
    def fingerprint(self) -> str:
        """Tells base models apart: of the names of all weights, of the first of the input embeddings, and of the
        adapters that its configuration says were merged into it.

        Embeddings stay as they are where a model is loaded in 4 bits, so the same base has one fingerprint.
        """
        import hashlib

        import torch

        digest = hashlib.sha256()
        for name, _ in sorted(self.model.named_parameters()):
            if "lora_" not in name:
                digest.update(f"{name.replace('.base_layer', '').removeprefix('base_model.model.')}".encode())
        rows = self.model.get_input_embeddings().weight[:8].detach()
        digest.update(str(tuple(self.model.get_input_embeddings().weight.shape)).encode())
        digest.update(rows.to("cpu", torch.bfloat16).view(torch.int16).numpy().tobytes())
        digest.update("".join(self.merged).encode())
        return digest.hexdigest()

    @property
    def merged(self) -> list[str]:
        """The digests of the adapters that were merged into it, the first one first; kept in its configuration."""
        return list(getattr(self.model.config, _MERGED, []))

    def merge(self, model: Any, digest: str) -> None:
        """Takes the model that an adapter of this digest was merged into in its place."""
        setattr(model.config, _MERGED, [*self.merged, digest])
        self.model = model
        self.__dict__.pop("fingerprint", None)

    # --- tokens

    @property
    def end(self) -> int:
        """The token that ends a completion."""
        return int(self.tokenizer.eos_token_id)

    @property
    def _filler(self) -> int:
        filler = self.tokenizer.pad_token_id
        return self.end if filler is None else int(filler)

    def _rendered(self, prompt: Prompt) -> str:
        content: Any = self._as_data(prompt.text)
        if not self.tokenizer.chat_template:
            return f"{content}\n"
        if prompt.image is not None and self.sees:
            content = [{"type": "image"}, {"type": "text", "text": content}]
        return str(
            self.tokenizer.apply_chat_template(
                [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
            )
        )

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        """The texts that a tokenizer takes for more than text: of turns, of pictures, of ends."""
        added = self.tokenizer.added_tokens_decoder.values()  # runs of blanks are among them, and words
        known = {*self.tokenizer.all_special_tokens}
        known |= {str(one) for one in added if one.special or str(one).startswith("<")}
        return tuple(sorted((one for one in known if len(one) > 1), key=len, reverse=True))

    def _as_data(self, text: str) -> str:
        """A text of a task or a state: what would be a mark of the template is taken apart."""
        for mark in self._marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return _whole(text)

    def _tokens(self, completion: str) -> list[int]:
        is_marked = any(mark in completion for mark in self._marks)
        more = {"split_special_tokens": True} if is_marked else {}
        return [*self.tokenizer(_whole(completion), add_special_tokens=False, **more)["input_ids"]]

    def _encoded(self, prompt: Prompt) -> dict[str, Any]:
        """Tensors of one prompt, each with a first dimension of one (or of patches, for a picture)."""
        text = self._rendered(prompt)
        if prompt.image is not None and self.sees:
            from PIL import Image

            try:
                picture = Image.open(io.BytesIO(prompt.image)).convert("RGB")
                return dict(self.processor(text=[text], images=[picture], return_tensors="pt"))
            except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
                raise InvalidInput(f"a frame of {len(prompt.image)} bytes that can't be read: {error}") from None
        return dict(self.tokenizer([text], add_special_tokens=False, return_tensors="pt"))

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._tokens(text))

    # --- log-probabilities

    def log_probabilities(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> tuple[Any, Any]:
        """Two float tensors (B,): log p(completion and its end | prompt) under the model as it is, and token counts.

        Gradients flow where they are enabled.
        """
        import torch
        from torch.nn import functional

        encoded = [self._encoded(prompt) for prompt in prompts]
        answers = [torch.tensor([*self._tokens(text), self.end]) for text in completions]
        rows = [torch.cat((one["input_ids"][0], answer)) for one, answer in zip(encoded, answers, strict=True)]
        length = max(map(len, rows))
        ids = torch.full((len(rows), length), self._filler)
        attention = torch.zeros((len(rows), length), dtype=torch.long)
        chosen = torch.zeros((len(rows), length))
        for i, (row, answer) in enumerate(zip(rows, answers, strict=True)):
            ids[i, : len(row)], attention[i, : len(row)] = row, 1
            chosen[i, len(row) - len(answer) : len(row)] = 1
        first = min(len(row) - len(answer) for row, answer in zip(rows, answers, strict=True)) - 1
        ids = ids.to(self.device)
        given = {"input_ids": ids, "attention_mask": attention.to(self.device), **self._seen(encoded, length, "right")}
        logits = self.model(**given, use_cache=False, logits_to_keep=length - first).logits[:, :-1]
        targets, chosen = ids[:, first + 1 :], chosen[:, first + 1 :].to(self.device)
        losses = functional.cross_entropy(
            logits.reshape(-1, logits.shape[-1]).float(), targets.reshape(-1), reduction="none"
        ).view(len(rows), -1)
        return -(losses * chosen).sum(1), chosen.sum(1)

    def _seen(self, encoded: Sequence[dict[str, Any]], length: int, side: str) -> dict[str, Any]:
        """What a picture adds to a batch: patches one after the other, and which tokens stand for them."""
        import torch

        given: dict[str, Any] = {}
        if not any("pixel_values" in one for one in encoded):
            return given
        for key in sorted({key for one in encoded for key in one if key not in _TEXTUAL}):
            given[key] = torch.cat([one[key] for one in encoded if key in one]).to(self.device)
        if any("mm_token_type_ids" in one for one in encoded):
            kinds = torch.zeros((len(encoded), length), dtype=torch.long)
            for i, one in enumerate(encoded):
                if "mm_token_type_ids" in one:
                    row = one["mm_token_type_ids"][0]
                    at = slice(length - len(row), length) if side == "left" else slice(0, len(row))
                    kinds[i, at] = row
            given["mm_token_type_ids"] = kinds.to(self.device)
        return given

    # --- generation

    def generate(self, prompts: Sequence[Prompt], max_new_tokens: int) -> list[Generation]:
        """The most likely completion of each prompt, greedily. Raises InvalidInput for a prompt without a token."""
        import torch

        if max_new_tokens < 1:
            raise InvalidInput(f"max_new_tokens: a count above 0 was expected, found {max_new_tokens}")
        began = time.perf_counter()
        encoded = [self._encoded(prompt) for prompt in prompts]
        length = max(one["input_ids"].shape[1] for one in encoded)
        ids = torch.full((len(encoded), length), self._filler)
        attention = torch.zeros((len(encoded), length), dtype=torch.long)
        for i, one in enumerate(encoded):
            row = one["input_ids"][0]
            ids[i, length - len(row) :], attention[i, length - len(row) :] = row, 1
        was_training = self.model.training
        self.model.eval()
        with torch.no_grad():
            produced = self.model.generate(
                input_ids=ids.to(self.device),
                attention_mask=attention.to(self.device),
                **self._seen(encoded, length, "left"),
                max_new_tokens=max_new_tokens,
                do_sample=False,
                eos_token_id=self.end,
                pad_token_id=self._filler,
            )
        self.model.train(was_training)
        seconds = (time.perf_counter() - began) / len(encoded)
        return [
            self._generation(row[length:].tolist(), int(attention[i].sum()), seconds) for i, row in enumerate(produced)
        ]

    def _generation(self, tokens: list[int], prompt_tokens: int, seconds: float) -> Generation:
        is_cut = self.end not in tokens
        tokens = tokens if is_cut else tokens[: tokens.index(self.end)]
        text = self.tokenizer.decode(tokens, skip_special_tokens=True)
        return Generation(text, prompt_tokens, len(tokens) + (not is_cut), is_cut, seconds)


def _whole(text: str) -> str:
    """Half a pair of surrogates, which a recorded text may hold, is no character."""
    return text.encode(errors="replace").decode()
