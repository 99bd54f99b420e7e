"""A model of a provider, asked once per request and without a memory of its own.

Each request makes its own connection and closes it: nothing is stale after an outage, nothing is bound to a thread,
nothing is left to close. What a request costs for that is small beside the time a model takes to think.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal

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
    """Answers conversations through a provider's own package. `timeout` bounds one request, in seconds."""

    def __init__(self, address: Address, *, timeout: float = 600.0) -> None:
        self._address = address
        self._make_client = client_maker(address)
        self._settings = ModelSettings(
            timeout=timeout,
            request_timeout=timeout,
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
            response = asyncio.run(self._ask(conversation, parameters))
        except Exception as error:
            raise refusal(error, self._address) from error
        return from_response(response, self._address.provider, image_count(messages), price(response))

    async def _ask(self, conversation: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        async with self._make_client() as model:
            return await model_request(
                model,
                conversation,
                model_settings=self._settings,
                model_request_parameters=parameters,
                instrument=False,
            )


def price(response: ModelResponse) -> float | None:
    """What the response cost in US dollars by the price list that is installed; None where it has no price."""
    try:
        total: Decimal = response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return None
    return float(total)
