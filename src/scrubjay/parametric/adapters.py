"""LoRA adapters on one base model, one per category: made, chosen, trained apart, saved and read.

A folder that it saves is a standard peft folder, with one file more that says which base the adapter is of. When to
train, and with what, it does not know.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory import disk
from scrubjay.parametric.backbone import Backbone

__all__ = ["WEIGHTS", "Adapters", "Shape", "check_folder", "digest_of_weights"]

WEIGHTS = "adapter_model.safetensors"
CONFIGURATION = "adapter_config.json"
BASE = "base.json"
# peft finds an adapter's weights by its name in theirs: one called `model` or `mlp` would be found in all of them.
_PEFT = "adapter-{}"
# Linear layers of the language model in Llama, Qwen and their relatives; some visual towers have some of them too.
_LAYERS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_VISUAL = r"(.*\.)?(visual|vision_tower|vision_model)\..*"


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a fresh adapter: rank, and the scale alpha / rank of what it adds."""

    rank: int = 16
    alpha: int = 32


class Adapters:
    """The adapters of one base. At most one is in use; `use` and `base` say which, for the time of a `with`."""

    def __init__(self, backbone: Backbone, shape: Shape | None = None) -> None:
        self.backbone, self.shape = backbone, shape or Shape()
        self._peft: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there."""
        start = len(_PEFT.format(""))
        return () if self._peft is None else tuple(sorted(name[start:] for name in self._peft.peft_config))

    # --- making and reading

    def add(self, name: str, seed: int = 0) -> None:
        """A fresh adapter, which changes nothing until it is trained. Raises InvalidInput where `name` is taken."""
        import torch

        if name in self.names:
            raise InvalidInput(f"there is an adapter {name} already")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._attach(name, self._configuration())

    def _configuration(self) -> Any:
        from peft import LoraConfig

        modules = [module for module, _ in self.backbone.model.named_modules()]
        layers = [layer for layer in _LAYERS if any(_is_read_by(module, layer) for module in modules)]
        if not layers:
            raise InvalidInput(f"{self.backbone.name}: has none of the layers {', '.join(_LAYERS)} to adapt")
        return LoraConfig(
            r=self.shape.rank,
            lora_alpha=self.shape.alpha,
            lora_dropout=0.0,
            target_modules=layers,
            exclude_modules=_VISUAL if any(re.fullmatch(_VISUAL, module) for module in modules) else None,
            task_type="CAUSAL_LM",
            base_model_name_or_path=self.backbone.name,
        )

    def _attach(self, name: str, configuration: Any) -> None:
        import warnings

        from peft import get_peft_model

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of names that peft asks transformers for
            if self._peft is None:
                self._peft = get_peft_model(self.backbone.model, configuration, adapter_name=_PEFT.format(name))
                self.backbone.model = self._peft
            else:
                self._peft.add_adapter(_PEFT.format(name), configuration)
        self._choose(None)

    def load(self, name: str, folder: str) -> None:
        """Reads an adapter, in place of the one called so.

        Raises NotFound, Damaged for a file that is cut or broken, InvalidInput for an adapter of another base.
        """
        from peft import set_peft_model_state_dict

        check_folder(folder, self.backbone.fingerprint)
        weights, configuration = _read(folder)
        configuration.inference_mode, configuration.base_model_name_or_path = False, self.backbone.name
        if name in self.names:
            self.remove(name)
        try:
            self._attach(name, configuration)
        except (ValueError, TypeError) as error:
            raise Damaged(f"it fits no layer of {self.backbone.name}: {error}", file=folder) from None
        try:
            found = set_peft_model_state_dict(self._peft, weights, adapter_name=_PEFT.format(name))
            if found.unexpected_keys:
                raise RuntimeError(f"it has {found.unexpected_keys[0]}, which the base lacks")
            if len(weights) != len(self.parameters(name)):
                raise RuntimeError(f"it has {len(weights)} tensors, and {len(self.parameters(name))} were expected")
        except (RuntimeError, ValueError, KeyError) as error:
            self.remove(name)
            why = str(error).strip().splitlines()[-1].strip()
            raise InvalidInput(f"{folder}: an adapter of another base than {self.backbone.name}: {why}") from None

    def remove(self, name: str) -> None:
        """Lets go of an adapter; its files stay."""
        self._need(name)
        others = [one for one in self.names if one != name]
        if others:
            self._peft.set_adapter(_PEFT.format(others[0]))  # peft warns where the one in use goes
            self._peft.delete_adapter(_PEFT.format(name))
            self._choose(None)
            return
        self.backbone.model = self._peft.unload()
        self._peft = None

    def save(self, name: str, folder: str) -> None:
        """Writes a standard peft folder, whole and durable when it returns. The folder must not be there."""
        from peft import get_peft_model_state_dict
        from safetensors.torch import save

        self._need(name)
        disk.make_folder(folder)
        # "auto" would ask a hub whether the base has another vocabulary.
        state = get_peft_model_state_dict(self._peft, adapter_name=_PEFT.format(name), save_embedding_layers=False)
        weights = {key: value.detach().cpu().contiguous() for key, value in state.items()}
        base = {"name": self.backbone.name, "fingerprint": self.backbone.fingerprint}
        with disk.storage(folder):
            self._peft.peft_config[_PEFT.format(name)].save_pretrained(folder)
        disk.datasync(os.path.join(folder, CONFIGURATION))
        disk.write_file(os.path.join(folder, BASE), json.dumps(base).encode() + b"\n")
        disk.write_file(os.path.join(folder, WEIGHTS), save(weights, metadata={"format": "pt"}))

    # --- using

    def parameters(self, name: str) -> list[Any]:
        """The weights of one adapter, in the order of their names."""
        self._need(name)
        return [value for key, value in sorted(self._peft.named_parameters()) if _is_of(key, name)]

    @contextmanager
    def use(self, name: str) -> Iterator[None]:
        """The base with this adapter, for the body."""
        self._need(name)
        before = self._chosen
        self._choose(name)
        try:
            yield
        finally:
            self._choose(before)

    @contextmanager
    def training(self, name: str) -> Iterator[list[Any]]:
        """As `use`, and gives the adapter's weights, the only ones that may change in the body."""
        with self.use(name):
            weights = self.parameters(name)
            for one in weights:
                one.requires_grad_(True)
            try:
                yield weights
            finally:
                for one in weights:
                    one.requires_grad_(False)
                    one.grad = None

    def _choose(self, name: str | None) -> None:
        self._chosen: str | None = name
        if self._peft is None:
            return
        if name is None:
            self._peft.base_model.disable_adapter_layers()
        else:
            self._peft.base_model.enable_adapter_layers()
            self._peft.set_adapter(_PEFT.format(name))
        self._peft.requires_grad_(False)

    def snapshot(self, name: str) -> list[Any]:
        """Copies of an adapter's weights."""
        return [one.detach().clone() for one in self.parameters(name)]

    def restore(self, name: str, weights: list[Any]) -> None:
        """Puts back what `snapshot` gave."""
        import torch

        with torch.no_grad():
            for one, kept in zip(self.parameters(name), weights, strict=True):
                one.copy_(kept)

    def merged(self, name: str) -> Any:
        """The base model with an adapter added into its weights, a base of its own; the adapters are gone from it.

        Raises InvalidInput for a quantised base: rounding to so few bits loses all of an update (0.0 % of the 4-bit
        codes changed, measured).
        """
        self._need(name)
        if self.backbone.is_quantised:
            raise InvalidInput(
                f"{name} can't be merged into {self.backbone.name}: its weights are quantised, and rounding them again "
                "loses the whole update (0.0 % of 4-bit codes change). Serve the adapter beside the base instead"
            )
        self._choose(name)
        weights = (one.detach().cpu().float().numpy().tobytes() for one in self.parameters(name))
        digest = hashlib.sha256(b"".join(weights)).hexdigest()
        self.backbone.merge(self._peft.merge_and_unload(adapter_names=[_PEFT.format(name)]), digest)
        self._peft, self._chosen = None, None
        return self.backbone.model

    def _need(self, name: str) -> None:
        if name not in self.names:
            raise NotFound(f"there is no adapter {name}; there are: {', '.join(self.names) or 'none'}")


def _is_read_by(module: str, layer: str) -> bool:
    """True for a layer of this name that is not of a visual tower, which stays as it is."""
    return module.rpartition(".")[2] == layer and not re.fullmatch(_VISUAL, module)


def _read(folder: str) -> tuple[Any, Any]:
    """Weights and description of a saved adapter. Raises Damaged."""
    from peft import LoraConfig
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(os.path.join(folder, WEIGHTS))
    except (SafetensorError, ValueError, KeyError) as error:
        raise Damaged(f"{error}: copy it again", file=os.path.join(folder, WEIGHTS)) from None
    try:
        return weights, LoraConfig.from_pretrained(folder)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Damaged(f"no description of a LoRA adapter: {error}", file=os.path.join(folder, CONFIGURATION)) from None


def _is_of(key: str, name: str) -> bool:
    return "lora_" in key and f".{_PEFT.format(name)}." in key


def digest_of_weights(folder: str) -> str:
    """sha256 of the weights of a saved adapter. Raises NotFound."""
    try:
        with open(os.path.join(folder, WEIGHTS), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise NotFound(f"{folder} holds no adapter: {WEIGHTS} is missing") from None


def check_folder(folder: str, fingerprint: str | None = None) -> None:
    """What can be seen of a saved adapter without a model.

    Raises NotFound, Damaged for a broken or cut file, InvalidInput for an adapter of another base than `fingerprint`.
    """
    for name in (CONFIGURATION, WEIGHTS):
        if not os.path.isfile(os.path.join(folder, name)):
            raise NotFound(f"{folder} holds no adapter: {name} is missing")
    _check_weights(os.path.join(folder, WEIGHTS))
    for name in (CONFIGURATION, BASE):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue  # another program's adapter: it says nothing of its base but a name
        with open(path, "rb") as file:
            try:
                said = json.loads(file.read())
                if not isinstance(said, dict):
                    raise ValueError("an object was expected")
            except ValueError as error:
                raise Damaged(str(error), file=path) from None
        if name == BASE and fingerprint not in (None, said.get("fingerprint")):
            raise InvalidInput(f"{folder}: an adapter of another base, {said.get('name') or 'unnamed'}: train it anew")


def _check_weights(path: str) -> None:
    """The lengths that the head of a safetensors file names against those of the file."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = int.from_bytes(file.read(8), "little") if size >= 8 else size
        if size < 8 or head > size - 8:
            raise Damaged(f"its head needs {head} bytes, and the file has {size}: copy it again", file=path)
        try:
            tensors = json.loads(file.read(head))
            ends = [int(one["data_offsets"][1]) for key, one in tensors.items() if key != "__metadata__"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Damaged("its head is no description of tensors", file=path, offset=8) from None
    if 8 + head + max(ends, default=0) != size:
        wanted = 8 + head + max(ends, default=0)
        raise Damaged(f"{wanted} bytes were expected and {size} are there: copy it again", file=path, offset=size)
