"""The fast policy over servers that speak OpenAI's protocol: which adapter answers, and what goes wrong."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest

from lora_servers import Served, serving
from scrubjay import Memory
from scrubjay.errors import InvalidInput, ModelUnavailable, NotFound
from scrubjay.parametric.examples import Prompt
from scrubjay.parametric.generated import parse
from scrubjay.parametric.policy import policy_of
from scrubjay.parametric.serving import ServedPolicy, Server, served_policy
from scrubjay.parametric.shelf import Shelf
from scrubjay.surfaces.cli import main


def put(shelf: Shelf, *categories: str) -> None:
    """An adapter in place for each, as far as a server's client is concerned."""
    for category in categories:
        with shelf.cycle(category) as folder:
            shelf.put_in_place(folder)


@pytest.fixture
def shelf(memory: Memory) -> Shelf:
    made = Shelf(memory.layout)
    put(made, "craft", "gather")
    return made


def picture() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def test_vllm_takes_an_adapter_by_name_and_answers_by_the_model_field(shelf: Shelf) -> None:
    with serving(Served("vllm")) as served:
        policy = served_policy(shelf, f"{served.url}/v1?kind=vllm&sees=1")
        assert policy.categories == ("craft", "gather")
        assert policy.sees
        with pytest.raises(InvalidInput, match="craft does not exist"):
            policy.generate("craft", Prompt("go"))
        policy.publish("craft")
        put(shelf, "craft")
        policy.publish("craft")  # a second cycle: in place of the first, under the same name
        path, body = served.asked[-1]
        assert path == "/v1/load_lora_adapter"
        current = shelf.current("craft")
        assert current is not None
        assert body == {"lora_name": "craft", "lora_path": current.adapter, "load_inplace": True}
        generation = policy.generate("craft", Prompt("go", picture()))
        assert parse(generation).source == "def f():\n    by('craft')\n"
        assert (generation.prompt_tokens, generation.new_tokens, generation.is_cut) == (12, 8, False)
        image, text = served.asked[-1][1]["messages"][0]["content"]
        assert text == {"type": "text", "text": "go"}
        assert base64.b64decode(image["image_url"]["url"].removeprefix("data:image/png;base64,")) == picture()


def test_llama_server_is_told_the_scale_of_every_adapter(shelf: Shelf) -> None:
    with serving(Served("llama", ("/models/gather.gguf", f"{shelf.root}/craft/0001/adapter.gguf"))) as served:
        policy = served_policy(shelf, f"{served.url}?kind=llama&base=qwen")
        policy.publish("gather")
        generation = policy.generate("craft", Prompt("go"))
        assert generation.text == "def f():\n    by('[1]')"
        body = served.asked[-1][1]
        assert body["lora"] == [{"id": 0, "scale": 0.0}, {"id": 1, "scale": 1.0}]
        assert body["model"] == "qwen"
        put(shelf, "combat")
        with pytest.raises(InvalidInput, match=r"without an adapter combat: give it --lora combat\.gguf"):
            policy.publish("combat")


def test_an_answer_that_was_cut_is_a_named_failure(shelf: Shelf) -> None:
    with serving(Served("llama", ("craft.gguf",))) as served:
        served.finish = "length"
        generation = served_policy(shelf, f"{served.url}?kind=llama").generate("craft", Prompt("go"))
        assert parse(generation).failure == "max_new_tokens"


def test_what_a_server_does_wrong_is_told_and_what_it_refuses(shelf: Shelf) -> None:
    with serving(Served("vllm")) as served:
        policy = ServedPolicy(shelf, Server(served.url, "vllm", seconds=5))
        policy.publish("craft")
        served.status = 503
        with pytest.raises(ModelUnavailable, match="status 503"):
            policy.generate("craft", Prompt("go"))
        served.status = 400
        with pytest.raises(InvalidInput, match=r"status 400: .*as told"):
            policy.publish("craft")
        served.status = 200
        choice = b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": %s}}'
        for garbage in (
            b"{", b"{}", b'{"choices": []}', b"hello", b'{"choices": [{"message": 3}]}', b"[" * 100_000, b"\xff{",
            choice % b"1e999", choice % b"NaN", choice % b'"many"', b'{"choices": null}', b"<html>",
        ):  # fmt: skip
            served.garbage = garbage
            with pytest.raises(ModelUnavailable) as caught:
                policy.generate("craft", Prompt("go"))
            assert caught.value.is_garbled
    with pytest.raises(ModelUnavailable, match="no answer"):
        policy.generate("craft", Prompt("go"))
    with pytest.raises(NotFound, match="combat has no adapter"):
        policy.publish("combat")
    with pytest.raises(InvalidInput, match="kind=vllm or kind=llama"):
        served_policy(shelf, "http://127.0.0.1:1?kind=other")


def test_an_answer_that_is_too_large_or_too_slow_or_breaks_off_is_none(shelf: Shelf) -> None:
    with serving(Served("vllm")) as served:
        policy = ServedPolicy(shelf, Server(served.url, "vllm", seconds=1))
        policy.publish("craft")
        served.promised = 5
        with pytest.raises(ModelUnavailable, match="broke off, 5 bytes before"):
            policy.generate("craft", Prompt("go"))
        served.promised, served.garbage = 0, b" " * (9 << 20)
        with pytest.raises(ModelUnavailable, match="more than 8388608 bytes"):
            policy.generate("craft", Prompt("go"))
        served.garbage, served.pause = b" " * 40, 0.1
        with pytest.raises(ModelUnavailable, match="not done after 1 s"):
            policy.generate("craft", Prompt("go"))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_server_that_sends_elsewhere_is_not_followed(status: int, shelf: Shelf) -> None:
    with serving(Served("llama", ("craft.gguf",))) as served, serving(Served("llama", ("craft.gguf",))) as other:
        policy = served_policy(shelf, f"{served.url}?kind=llama")
        served.elsewhere, served.status = f"{other.url}/v1/chat/completions", status
        with pytest.raises(InvalidInput, match=f"refused with status {status}"):
            policy.generate("craft", Prompt("go", picture()))
        assert other.asked == []


@pytest.mark.parametrize("base", ["http://[::1", "http://", "http://host:many/", "http://host:99999", "http://a b/"])
def test_an_address_that_is_none_is_refused(base: str, shelf: Shelf) -> None:
    with pytest.raises(InvalidInput, match="no address of a server"):
        served_policy(shelf, base)


def test_a_list_of_adapters_that_is_none_is_told(shelf: Shelf) -> None:
    with serving(Served("llama", ("craft.gguf",))) as served:
        served.loras = [{"id": "x", "path": "craft.gguf"}]
        with pytest.raises(ModelUnavailable, match="no list of adapters"):
            served_policy(shelf, f"{served.url}?kind=llama").generate("craft", Prompt("go"))


def test_a_memory_whose_base_is_a_server_has_its_policy(memory: Memory, tmp_path: Path) -> None:
    assert policy_of(memory) is None
    shelf = Shelf(memory.layout)
    shelf.choose_base("http://127.0.0.1:1?kind=vllm")
    assert isinstance(policy_of(memory), ServedPolicy)


def test_a_server_is_told_of_the_adapters_in_place_by_command(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    publish = ["adapters", "publish", memory.root]
    shelf = Shelf(memory.layout)
    assert main(publish) == 1
    assert "a server was expected, as http://127.0.0.1:8000, found none" in capsys.readouterr().err
    with serving(Served("vllm")) as served:
        assert main([*publish, served.url]) == 0
        assert capsys.readouterr().err == "(no adapter)\n"
        put(shelf, "craft", "gather", "gather")
        assert main([*publish, served.url]) == 0
        told = f"craft: {served.url} has the adapter of cycle 1\ngather: {served.url} has the adapter of cycle 2\n"
        assert capsys.readouterr().out == told
        shelf.choose_base(served.url)
        assert main([*publish, "--json"]) == 0
        assert [json.loads(line)["cycle"] for line in capsys.readouterr().out.splitlines()] == [1, 2]
        assert [body["lora_name"] for _, body in served.asked] == ["craft", "gather"] * 2
        served.status = 500
        assert main(publish) == 1
        assert "status 500" in capsys.readouterr().err
