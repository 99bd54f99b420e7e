"""Models for tests, made from their configuration: random weights, tokens that are bytes, no file of anybody's."""

from __future__ import annotations

from typing import Any

from scrubjay.parametric.backbone import Backbone
from scrubjay.parametric.seeing import make_processor

_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
            "<|video_pad|>"]  # fmt: skip
_CHAT = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def quick() -> None:
    """One thread: tests share the machine."""
    import torch

    torch.set_num_threads(1)


def byte_tokenizer(corpus: list[str] | None = None, size: int = 400) -> Any:
    """A token for each byte, and for what is frequent in a corpus."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(
        corpus or [],
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=_SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=_CHAT,
        extra_special_tokens={
            "image_token": "<|image_pad|>",
            "video_token": "<|video_pad|>",
            "vision_start_token": "<|vision_start|>",
            "vision_end_token": "<|vision_end|>",
        },
    )


def reader(seed: int = 0, hidden: int = 48, name: str = "small") -> Backbone:
    """A Llama of some 60,000 weights that reads."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    quick()
    tokenizer = byte_tokenizer()
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    return Backbone(model, tokenizer, name=name)


def seer(corpus: list[str]) -> Backbone:
    """A Qwen3-VL of 0.6 million weights that sees."""
    import torch
    from transformers import Qwen2VLImageProcessorPil, Qwen3VLConfig, Qwen3VLForConditionalGeneration

    quick()
    tokenizer = byte_tokenizer(corpus)
    head = 32
    text = {
        "vocab_size": len(tokenizer), "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": head, "max_position_embeddings": 1024,
        "pad_token_id": tokenizer.pad_token_id,
        "rope_parameters": {
            "rope_type": "default", "rope_theta": 10000.0, "mrope_interleaved": True,
            "mrope_section": [head // 2 - 2 * (head // 6), head // 6, head // 6],
        },
    }  # fmt: skip
    vision = {
        "depth": 2, "hidden_size": 64, "intermediate_size": 128, "num_heads": 4, "out_hidden_size": 128,
        "patch_size": 8, "spatial_merge_size": 2, "temporal_patch_size": 2, "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0],
    }  # fmt: skip
    tokens = {
        f"{name}_token_id": tokenizer.convert_tokens_to_ids(f"<|{spelled}|>")
        for name, spelled in (("image", "image_pad"), ("video", "video_pad"), ("vision_start", "vision_start"),
                              ("vision_end", "vision_end"))
    }  # fmt: skip
    torch.manual_seed(0)
    config = Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=True, **tokens)
    images = Qwen2VLImageProcessorPil(
        patch_size=8, merge_size=2, temporal_patch_size=2, size={"shortest_edge": 16 * 16, "longest_edge": 64 * 64},
        image_mean=[0.5] * 3, image_std=[0.5] * 3,
    )  # fmt: skip
    model = Qwen3VLForConditionalGeneration(config)
    return Backbone(model, tokenizer, make_processor(images, tokenizer), name="small-vl")
