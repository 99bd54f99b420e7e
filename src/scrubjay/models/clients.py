"""Makes the object of a provider's own package that sends a request. All that is written for one provider is here."""

from __future__ import annotations

from collections.abc import Callable

from pydantic_ai.models import Model

from scrubjay.models.providers import Address

__all__ = ["client_maker"]


def client_maker(address: Address) -> Callable[[], Model]:
    """Makes a new client for this model whenever it is called. The provider's package is imported here, once.

    Raises ImportError where it is not installed.
    """
    makers = {
        "anthropic": _anthropic,
        "openai": _openai,
        "google": _google,
        "openai-compatible": _openai_compatible,
        "vllm": _vllm,
        "ollama": _ollama,
    }
    return makers[address.provider.name](address)


def _anthropic(address: Address) -> Callable[[], Model]:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return lambda: AnthropicModel(address.model, provider=AnthropicProvider(api_key=address.key, base_url=address.url))


def _openai(address: Address) -> Callable[[], Model]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return lambda: OpenAIChatModel(address.model, provider=OpenAIProvider(api_key=address.key, base_url=address.url))


def _google(address: Address) -> Callable[[], Model]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return lambda: GoogleModel(address.model, provider=GoogleProvider(api_key=address.key, base_url=address.url))


def _openai_compatible(address: Address) -> Callable[[], Model]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    name, url = address.provider.name, address.url or ""
    return lambda: OpenAIChatModel(
        address.model, provider=OpenAICompatibleProvider(name, api_key=address.key, base_url=url)
    )


def _vllm(address: Address) -> Callable[[], Model]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.vllm import VLLMProvider

    return lambda: OpenAIChatModel(address.model, provider=VLLMProvider(api_key=address.key, base_url=address.url))


def _ollama(address: Address) -> Callable[[], Model]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider

    return lambda: OpenAIChatModel(address.model, provider=OllamaProvider(api_key=address.key, base_url=address.url))
