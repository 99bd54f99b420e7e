"""A model of a provider, asked once per request and without a memory of its own.

Each request makes its own connection and closes it: nothing is stale after an outage, nothing is bound to a thread,
nothing is left to close. What a request costs for that is small beside the time a model takes to think.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from scrubjay.models.chat import Message, Reply, Tool
from scrubjay.models.clients import client_maker
from scrubjay.models.faults import refusal
from scrubjay.models.providers import Address
from scrubjay.models.translating import from_response, image_count, to_messages, to_parameters

__all__ = ["ProviderModel"]


class ProviderModel:
    """Answers conversations through a provider's own package.

    `timeout` is how many seconds a server may be silent; a model may think for long. A request as a whole may take
    three times that.
    """

    def __init__(self, address: Address, *, timeout: float = 1200.0) -> None:
        self._address = address
        self._make_client = client_maker(address)
        self._settings = ModelSettings(
            timeout=timeout,
            request_timeout=3 * timeout,
            max_retries=0,  # waiting is not done here
            cache=True,  # a conversation grows at its end: what was sent before is read back at a tenth of the price
        )

    @property
    def name(self) -> str:
        """`provider:model`."""
        return self._address.name

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        """One request. Raises ModelUnavailable, RequestTooLarge, or InvalidInput where asking again can't help."""
        conversation = to_messages(messages, self._address.provider)
        parameters = to_parameters(system, tools)
        try:
            response = _run(lambda: self._ask(conversation, parameters))
        except Exception as error:
            raise refusal(error, self._address) from error
        # A server of one's own that serves a model of a known name does not take the price of another's.
        cost = price(response) if self._address.provider.needs_key else None
        return from_response(response, self._address.provider, image_count(messages), cost)

    async def _ask(self, conversation: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        async with self._make_client() as model:
            return await model_request(
                model,
                conversation,
                model_settings=self._settings,
                model_request_parameters=parameters,
                instrument=False,
            )


def _run(ask: Callable[[], Coroutine[Any, Any, ModelResponse]]) -> ModelResponse:
    """Runs it to its end, also where an event loop runs already (a notebook): then in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(ask())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result()


def price(response: ModelResponse) -> float | None:
    """What the response cost in US dollars by the price list that is installed; None where it has no price."""
    try:
        total: Decimal = response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return None
    return float(total)
