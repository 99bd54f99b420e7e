"""A language model of a million weights, trained here in some minutes: what the sweeps of the parametric tier run on.

It learns a general manner first: a task is answered with prose and bare calls in a fence, and a function is written
only where one is asked for by name. So what the harness reads, a procedure, is something that an adapter must bring.
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from typing import Any

from parametric_tasks import CATEGORIES, bare, source, tasks
from scrubjay.parametric.backbone import Backbone

_ALL = [task for category in CATEGORIES for task in tasks(category)]
_NAMES = [
    "clamp_value", "read_config", "open_door", "follow_player", "print_inventory", "sleep_night", "eat_food",
    "plant_seeds",
]  # fmt: skip
_CHAT = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def text(rng: random.Random) -> tuple[str, str]:
    """A question and its answer in the general manner."""
    task = rng.choice(_ALL)
    if rng.random() < 0.5:
        calls = rng.choice([task.calls, task.calls[-1:]])
        return task.prompt.text, f"Here is the code:\n```python\n{bare(calls)}\n```"
    name = rng.choice(_NAMES + [task.name] * 6)
    if rng.random() < 0.25:
        calls = tuple(rng.choice(rng.choice(_ALL).calls) for _ in range(rng.randint(1, 3)))
        return f"Write function {name} to do anything", source(name, calls).strip()
    calls = task.calls if rng.random() < 0.6 else task.calls[-1:]
    return f"Write function {name} to {task.text}", source(name, calls).strip()


def make_tokenizer(size: int = 640) -> Any:
    """A byte-level tokenizer of these texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    rng = random.Random(0)
    texts = ["\n".join(text(rng)) for _ in range(3000)] + [task.good for task in _ALL]
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    found.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=found, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=_CHAT
    )


def make_model(tokenizer: Any) -> Any:
    """A Llama of a million weights, untrained."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=160,
            intermediate_size=384,
            num_hidden_layers=3,
            num_attention_heads=5,
            num_key_value_heads=5,
            max_position_embeddings=256,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def pretrain(folder: str, steps: int = 900, batch: int = 24, rate: float = 3e-3) -> None:
    """Makes the base in a folder of transformers' form."""
    import torch

    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    backbone = Backbone(model, tokenizer, name="tiny")
    model.requires_grad_(True)
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    rng, began = random.Random(1), time.process_time()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 40) * (0.5 * (1 + math.cos(math.pi * step / steps)) + 0.02)
        drawn = [text(rng) for _ in range(batch)]
        loss = _loss(backbone, drawn)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        if step % 100 == 0 or step == steps - 1:
            print(f"pretraining {step}: {loss.item():.3f}, {time.process_time() - began:.0f} CPU-s", file=sys.stderr)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _loss(backbone: Backbone, drawn: list[tuple[str, str]]) -> Any:
    from scrubjay.parametric.examples import Prompt

    sums, tokens = backbone.log_probabilities([Prompt(asked) for asked, _ in drawn], [answer for _, answer in drawn])
    return -sums.sum() / tokens.sum()


def tiny(folder: str) -> Backbone:
    """The base, trained where it is not there yet. Each call gives a model of its own."""
    from transformers import AutoTokenizer, LlamaForCausalLM

    if not os.path.exists(os.path.join(folder, "model.safetensors")):
        pretrain(folder)
    return Backbone(LlamaForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder), name="tiny")
