"""The update of one adapter: what it learns, what it must not touch, and what happens when it goes wrong."""

from __future__ import annotations

import hashlib
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.errors import Damaged, InvalidInput, NotFound, TrainingFailed
from scrubjay.parametric import ewc
from scrubjay.parametric.adapters import WEIGHTS, Adapters, Shape, check_folder
from scrubjay.parametric.backbone import Backbone
from scrubjay.parametric.examples import Example, Preference, Prompt
from scrubjay.parametric.generated import parse
from scrubjay.parametric.training import Recipe, Trained, train
from small_models import reader

GOOD, BAD = "def f():\n    place('table')\n    make('pickaxe')", "def f():\n    make('pickaxe')"
PROMPT = Prompt("Task: make a pickaxe")
SUCCESS = Example(PROMPT, GOOD, ("ep_000002",))
PAIR = Preference(PROMPT, GOOD, BAD, ("ep_000002",), ("ep_000001",))
RECIPE = Recipe(steps=4, rate=1e-2, batch=2)
SHAPE = Shape(rank=4, alpha=8)


def base_digest(backbone: Backbone) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(backbone.model.named_parameters()):
        if "lora_" not in name:
            digest.update(value.detach().numpy().tobytes())
    return digest.hexdigest()


def adapters(*names: str, seed: int = 0) -> Adapters:
    made = Adapters(reader(), SHAPE)
    for nth, name in enumerate(names):
        made.add(name, seed + nth)
    return made


def update(owner: Adapters, name: str, recipe: Recipe = RECIPE, **more: Any) -> Trained:
    with owner.training(name) as weights:
        return train(owner.backbone, weights, [SUCCESS], [PAIR], recipe, **more)


def saved(owner: Adapters, folder: Path) -> dict[str, bytes]:
    """The bytes of every adapter's weights as they are saved."""
    found = {}
    for name in owner.names:
        owner.save(name, str(folder / name))
        found[name] = (folder / name / WEIGHTS).read_bytes()
    return found


# --- what an update does


def test_the_preference_part_of_the_first_loss_of_every_cycle_is_ln_2() -> None:
    owner = adapters("craft")
    for _ in range(3):  # each cycle's reference is the adapter of the one before, not the bare base
        trained = update(owner, "craft")
        assert trained.losses[0].preferring == pytest.approx(math.log(2), abs=1e-5)
        assert trained.losses[-1].preferring is not None
        assert trained.losses[-1].preferring < math.log(2)
        assert trained.margin is not None
        assert trained.margin > 0
        first = trained.losses[0]
        assert first.cloning is not None
        assert first.total == pytest.approx(first.cloning + first.preferring)  # type: ignore[operator]


def test_other_adapters_and_the_base_are_the_same_bytes_afterwards(tmp_path: Path) -> None:
    owner = adapters("craft", "gather", "combat")
    update(owner, "gather")
    before, base = saved(owner, tmp_path / "before"), base_digest(owner.backbone)
    update(owner, "craft")
    after = saved(owner, tmp_path / "after")
    assert [name for name in owner.names if before[name] != after[name]] == ["craft"]
    assert base_digest(owner.backbone) == base
    assert not any(value.requires_grad for value in owner.backbone.model.parameters())


@pytest.mark.parametrize("name", ["model", "layers", "mlp", "weight", "q_proj", "keys", "training", "craft-2", "lora"])
def test_an_adapter_may_be_called_as_a_part_of_the_base_is(name: str, tmp_path: Path) -> None:
    owner = adapters("craft", name)
    before = saved(owner, tmp_path / "before")
    update(owner, name)
    after = saved(owner, tmp_path / "after")
    assert [one for one in owner.names if before[one] != after[one]] == [name]
    assert len(before["craft"]) == len(before[name])
    other = adapters()
    other.load(name, str(tmp_path / "after" / name))
    assert saved(other, tmp_path / "read") == {name: after[name]}


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = adapters("craft"), adapters("craft")
    for owner in (first, second):
        update(owner, "craft")
    assert saved(first, tmp_path / "1") == saved(second, tmp_path / "2")


def test_a_fresh_adapter_changes_nothing_and_a_trained_one_only_in_use() -> None:
    owner = adapters("craft")
    bare = owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item()
    with owner.use("craft"):
        assert owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item() == pytest.approx(bare, abs=1e-4)
    update(owner, "craft")
    assert owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item() == pytest.approx(bare, abs=1e-4)
    with owner.use("craft"):
        assert owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item() > bare + 1


def test_log_probabilities_do_not_depend_on_what_else_is_in_the_batch() -> None:
    backbone = reader()
    alone = [backbone.log_probabilities([PROMPT], [text])[0].item() for text in (GOOD, BAD)]
    other = Prompt("Task: a much longer one, so that the rows have to be filled up")
    together = backbone.log_probabilities([PROMPT, PROMPT, other], [GOOD, BAD, GOOD])
    assert together[0][:2].tolist() == pytest.approx(alone, abs=1e-3)
    assert together[1].tolist()[0] == backbone.count(GOOD) + 1  # its end is part of it


def test_what_was_learned_is_written_and_what_is_cut_is_said() -> None:
    backbone = reader()
    backbone.model.requires_grad_(True)  # naive fine-tuning: so small and random a base learns little by an adapter
    recipe = Recipe(steps=80, rate=1e-2, batch=2, preferring=0.0)
    trained = train(backbone, list(backbone.model.parameters()), [SUCCESS], [PAIR], recipe)
    assert {one.preferring for one in trained.losses} == {None}
    generation = backbone.generate([PROMPT], 80)[0]
    assert generation.text == GOOD
    assert (generation.is_cut, generation.new_tokens) == (False, backbone.count(GOOD) + 1)
    cut = backbone.generate([PROMPT], 10)[0]
    assert (cut.is_cut, parse(cut).failure) == (True, "max_new_tokens")
    with pytest.raises(InvalidInput, match="max_new_tokens"):
        backbone.generate([PROMPT], 0)


def test_a_fresh_process_that_loads_a_saved_adapter_gives_equal_outputs(tmp_path: Path) -> None:
    owner = adapters("craft")
    update(owner, "craft")
    owner.save("craft", str(tmp_path / "craft"))
    with owner.use("craft"):
        here = owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item()
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from test_parametric_update import *\n"
        "owner = Adapters(reader(), SHAPE); owner.load('craft', sys.argv[1])\n"
        "with owner.use('craft'):\n"
        "    print(repr(owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item()))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "craft"), str(Path(__file__).parent)]
    assert float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == here


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of names that peft asks transformers for
def test_a_saved_adapter_is_a_standard_peft_folder(tmp_path: Path) -> None:
    from peft import PeftModel

    owner = adapters("craft")
    update(owner, "craft")
    owner.save("craft", str(tmp_path / "craft"))
    with owner.use("craft"):
        here = owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item()
    plain = reader()
    plain.model = PeftModel.from_pretrained(plain.model, str(tmp_path / "craft"))
    assert plain.log_probabilities([PROMPT], [GOOD])[0].item() == pytest.approx(here, abs=1e-4)


def test_an_adapter_is_read_in_place_of_the_one_that_was_used_last(tmp_path: Path) -> None:
    owner = adapters("craft", "gather")
    owner.save("craft", str(tmp_path / "craft"))
    update(owner, "craft")
    with owner.use("craft"):
        changed = owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item()
    owner.load("craft", str(tmp_path / "craft"))
    assert sorted(owner.names) == ["craft", "gather"]
    with owner.use("craft"):
        assert owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item() != changed
    owner.remove("gather")
    owner.remove("craft")
    assert not owner.names
    owner.add("craft")


def test_ewc_pulls_towards_what_mattered_before() -> None:
    free, held = adapters("shared"), adapters("shared")
    distances = []
    for owner, strength in ((free, 0.0), (held, 1e6)):
        update(owner, "shared")
        with owner.training("shared") as weights:
            anchor = ewc.anchor(owner.backbone, weights, [SUCCESS])
            assert max(float(one.max()) for one in anchor.importance) > 0
            other = [Example(Prompt("Task: fight"), "def g():\n    attack()")]
            train(owner.backbone, weights, other, [], RECIPE, ewc.pull(weights, [anchor], strength))
            moved = [
                ((w.detach() - a) ** 2 * f).sum()
                for w, a, f in zip(weights, anchor.weights, anchor.importance, strict=True)
            ]
            distances.append(float(sum(moved)))
    assert distances[1] < distances[0]


def test_an_adapter_is_not_merged_into_a_quantised_base(tmp_path: Path) -> None:
    few = reader()
    few.model.config.quantization_config = {"quant_method": "awq"}  # it keeps its codes in buffers
    quantised = Adapters(Backbone(few.model, few.tokenizer, name="few"), SHAPE)
    quantised.add("craft")
    with pytest.raises(InvalidInput, match="loses the whole update"):
        quantised.merged("craft")
    assert quantised.names == ("craft",)
    owner = adapters("craft")
    update(owner, "craft")
    with owner.use("craft"):
        beside = owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item()
    origin = owner.backbone.fingerprint
    owner.save("craft", str(tmp_path / "craft"))
    owner.merged("craft")
    assert owner.backbone.log_probabilities([PROMPT], [GOOD])[0].item() == pytest.approx(beside, abs=1e-2)
    assert owner.names == ()
    made = owner.backbone.fingerprint
    assert made != origin
    with pytest.raises(InvalidInput):
        check_folder(str(tmp_path / "craft"), made)
    owner.backbone.model.save_pretrained(tmp_path / "base")
    again = type(owner.backbone.model).from_pretrained(tmp_path / "base")
    assert Backbone(again, owner.backbone.tokenizer).fingerprint == made


# --- what goes wrong


def test_there_must_be_something_to_learn_from() -> None:
    owner = adapters("craft")
    with owner.training("craft") as weights, pytest.raises(TrainingFailed, match="nothing to learn from"):
        train(owner.backbone, weights, [], [], RECIPE)
    with owner.training("craft") as weights, pytest.raises(TrainingFailed, match="nothing to learn from"):
        train(owner.backbone, weights, [SUCCESS], [], Recipe(cloning=0.0))


def test_weights_that_are_no_numbers_after_the_last_step_are_said() -> None:
    """The loss of a step says nothing of what that step does: here its value is 0, and its gradient no number."""
    owner = adapters("craft")
    with owner.training("craft") as weights, pytest.raises(TrainingFailed, match="no numbers after step 1"):
        train(
            owner.backbone, weights, [SUCCESS], [], Recipe(steps=1), penalty=lambda: (weights[0] * 0).sqrt().sum()
        )  # fmt: skip


@pytest.mark.parametrize("change", [{"steps": 0}, {"batch": 0}, {"rate": 0.0}, {"rate": math.nan}, {"beta": -1.0}])
def test_a_recipe_of_no_steps_or_of_no_numbers_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="expected"):
        Recipe(**change)


def test_names_that_are_taken_or_unknown() -> None:
    owner = adapters("craft")
    with pytest.raises(InvalidInput, match="craft already"):
        owner.add("craft")
    with pytest.raises(NotFound, match="no adapter gather; there are: craft"), owner.use("gather"):
        pass


def test_an_adapter_of_another_base_is_refused(tmp_path: Path) -> None:
    owner = adapters("craft")
    owner.save("craft", str(tmp_path / "a"))
    for other in (reader(seed=1, name="other"), reader(hidden=32, name="smaller")):
        with pytest.raises(InvalidInput, match="another base, small"):
            Adapters(other, SHAPE).load("craft", str(tmp_path / "a"))
    (tmp_path / "a" / "base.json").unlink()  # another program's: its shapes tell
    strange = Adapters(reader(hidden=32, name="smaller"), SHAPE)
    with pytest.raises(InvalidInput, match="another base than smaller"):
        strange.load("craft", str(tmp_path / "a"))
    assert strange.names == ()
    with pytest.raises(NotFound, match="holds no adapter"):
        strange.load("craft", str(tmp_path / "nothing"))


@pytest.mark.parametrize("keep", [0, 4, 8, 100, -1])
def test_a_truncated_file_of_weights_is_damage_that_names_it(keep: int, tmp_path: Path) -> None:
    owner = adapters("craft")
    owner.save("craft", str(tmp_path / "a"))
    path = tmp_path / "a" / WEIGHTS
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(Damaged, match=WEIGHTS):
        owner.load("craft", str(tmp_path / "a"))
    assert owner.names == ("craft",)  # what was loaded stays


@pytest.mark.parametrize("change", [{"r": "x"}, {"r": 0}, {"target_modules": ["nope"]}, {"task_type": "Z"}])
def test_a_description_that_fits_no_adapter_is_named(change: Any, tmp_path: Path) -> None:
    owner = adapters("craft")
    owner.save("craft", str(tmp_path / "a"))
    path = tmp_path / "a" / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(Damaged, match=re.escape(str(tmp_path))):
        adapters().load("craft", str(tmp_path / "a"))


def test_a_file_that_lacks_tensors_or_lies_about_them_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    owner, folder = adapters("craft"), tmp_path / "a"
    owner.save("craft", str(folder))
    weights = load_file(folder / WEIGHTS)
    save_file({key: weights[key] for key in sorted(weights)[3:]}, folder / WEIGHTS)
    with pytest.raises(InvalidInput, match="has 25 tensors, and 28 were expected"):
        adapters().load("craft", str(folder))
    for kind, end in (("F99", 8), ("F32", 8), ("F32", "8")):
        head = json.dumps({"w": {"dtype": kind, "shape": [5], "data_offsets": [0, end]}}).encode()
        (folder / WEIGHTS).write_bytes(len(head).to_bytes(8, "little") + head + bytes(8))
        with pytest.raises(Damaged, match=WEIGHTS):
            adapters().load("craft", str(folder))


def test_a_broken_description_is_damage(tmp_path: Path) -> None:
    owner = adapters("craft")
    owner.save("craft", str(tmp_path / "a"))
    (tmp_path / "a" / "adapter_config.json").write_text("[")
    with pytest.raises(Damaged, match="adapter_config"):
        check_folder(str(tmp_path / "a"))


WHOLE = json.dumps({"__metadata__": {}, "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
WHOLE = len(WHOLE).to_bytes(8, "little") + WHOLE + bytes(8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keep=st.integers(0, len(WHOLE)), more=st.binary(max_size=3))
def test_a_file_of_another_length_than_its_head_says_is_damage(keep: int, more: bytes, tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / WEIGHTS).write_bytes(WHOLE[:keep] + more)
    if keep + len(more) == len(WHOLE):
        check_folder(str(tmp_path))
    else:
        with pytest.raises(Damaged, match=WEIGHTS):
            check_folder(str(tmp_path))
