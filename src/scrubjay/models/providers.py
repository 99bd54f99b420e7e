"""Which providers there are: how a model of theirs is written, and which environment variables they read.

Everything that is read from the environment for a model is read here. Nothing is imported or sent before
`make_provider_model` is called, and the packages of the providers only then.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from scrubjay.models.provider_model import ProviderModel

__all__ = ["PROVIDERS", "Address", "Provider", "is_provider", "make_provider_model", "parse_address"]

_URL = re.compile(r"@(https?://\S+)$")


@dataclass(frozen=True, slots=True)
class Provider:
    """A service that answers requests.

    `keys` are the environment variables that may hold its key, the first found counts; `url` the one that may hold
    its address, `at` the address without one (None: the provider's own package knows it). `wire` is what it speaks.
    """

    name: str
    wire: Literal["anthropic", "openai", "google"]
    keys: tuple[str, ...]
    url: str
    needs_key: bool = True
    needs_url: bool = False
    at: str | None = None


PROVIDERS = {
    one.name: one
    for one in (
        Provider("anthropic", "anthropic", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"),
        Provider("openai", "openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
        Provider("google", "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL"),
        # Its key is not OpenAI's: that one is not for every server that speaks as OpenAI does.
        Provider("openai-compatible", "openai", ("OPENAI_COMPATIBLE_API_KEY",), "OPENAI_BASE_URL", False, True),
        Provider("vllm", "openai", ("VLLM_API_KEY",), "VLLM_BASE_URL", False, True),
        Provider("ollama", "openai", ("OLLAMA_API_KEY",), "OLLAMA_BASE_URL", False, at="http://127.0.0.1:11434/v1"),
    )
}


@dataclass(frozen=True, slots=True)
class Address:
    """A model of a provider, and where its server is (None: the provider's own)."""

    provider: Provider
    model: str
    url: str | None
    key: str | None

    @property
    def name(self) -> str:
        """`provider:model`, as lives and reports call it."""
        return f"{self.provider.name}:{self.model}"

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key, in words for a person."""
        return " or ".join(self.provider.keys)


def is_provider(choice: str) -> bool:
    """Whether `choice` begins with the name of a provider and a colon."""
    return choice.partition(":")[0] in PROVIDERS and ":" in choice


def parse_address(choice: str) -> Address:
    """The model that `provider:NAME` or `provider:NAME@URL` names, with the key and address from the environment.

    Raises InvalidInput, naming the environment variable where one is missing.
    """
    name, _, rest = choice.partition(":")
    provider = PROVIDERS.get(name)
    if provider is None:
        raise InvalidInput(f"{choice!r} names no provider: one of {', '.join(PROVIDERS)}, as in anthropic:NAME")
    given = _URL.search(rest)
    model = (rest[: given.start()] if given else rest).strip()
    if not model:
        raise InvalidInput(f"{choice!r} names no model; write {name}:NAME")
    url = given[1] if given else os.environ.get(provider.url) or provider.at
    if provider.needs_url and not url:
        raise InvalidInput(f"{choice!r} has no address: write {name}:NAME@http://HOST:PORT/v1, or set {provider.url}")
    key = next((os.environ[one] for one in provider.keys if os.environ.get(one)), None)
    if provider.needs_key and key is None:
        raise InvalidInput(f"{choice!r} needs a key: set the environment variable {' or '.join(provider.keys)}")
    return Address(provider, model, url, key)


def make_provider_model(choice: str, *, timeout: float = 1200.0) -> ProviderModel:
    """The model that `choice` names. It asks once per request; nothing waits for it or makes a request smaller.

    `timeout` is how many seconds its server may be silent. Raises InvalidInput where a key, an address
    or the packages are missing.
    """
    address = parse_address(choice)
    try:
        from scrubjay.models.provider_model import ProviderModel

        return ProviderModel(address, timeout=timeout)
    except ImportError as error:
        raise InvalidInput(
            f"{choice!r} needs packages that are not installed ({error}); pip install 'scrubjay[models]' brings them"
        ) from None
