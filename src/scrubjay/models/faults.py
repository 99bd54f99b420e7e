"""What went wrong with a request, as one of three: ask again later, show it less, or ask a person.

The package that speaks to providers knows their codes; what is added here are wordings that it does not know.
"""

from __future__ import annotations

import re

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UserError,
)

from scrubjay.errors import InvalidInput, ModelUnavailable, RequestTooLarge, ScrubjayError
from scrubjay.models.providers import Address

__all__ = ["refusal"]

# Refusals that a smaller request can cure, as the providers word them.
_TOO_LARGE = re.compile(
    r"prompt is too long|context.{0,20}(length|limit|window|size)|too many (input )?tokens|limit.mm.per.prompt"
    r"|payload size exceeds|request (entity |body )?(is )?too large|request_too_large|token count .{0,40}exceeds"
    r"|at most \d+ image|too many images|many-image requests|maximum number of images",
    re.IGNORECASE,
)
_AGAIN = frozenset({408, 409, 425, 429})


def refusal(error: Exception, address: Address) -> ScrubjayError:
    """The error of our tree for what a request to `address` raised."""
    if isinstance(error, ModelAPIError):
        return _of_the_provider(error, address)
    if isinstance(error, UserError):
        return InvalidInput(f"{address.name}: {error.message}")
    # Anything else was raised while reading an answer that is not what it should be.
    return ModelUnavailable(f"{address.name} gave an answer that can't be read: {_short(error)}", is_garbled=True)


def _of_the_provider(error: ModelAPIError, address: Address) -> ScrubjayError:
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    said = _short(_message(error))
    code = f"HTTP {status}: " if status else ""
    if isinstance(error, ModelAuthenticationError) or status in (401, 403):
        return InvalidInput(
            f"{address.name} does not accept the key in {address.key_variable} ({code}{said}); "
            "set a key that may use this model"
        )
    if isinstance(error, ModelContextWindowExceededError) or status == 413:
        return RequestTooLarge(f"{address.name} takes no request as large as this ({code}{said})")
    if _TOO_LARGE.search(said):
        # Whatever the status: some say it by 500, and a 429 may mean that this one request is above a minute's limit.
        return RequestTooLarge(f"{address.name} takes no request as large as this ({code}{said})")
    if isinstance(error, ModelNotFoundError) or status == 404:
        where = address.url or "its provider's address"
        return InvalidInput(f"{address.name}: there is no such model at {where} ({code}{said})")
    if isinstance(error, ModelQuotaExceededError):
        return ModelUnavailable(
            f"{address.name} has no quota or credit left ({code}{said})", retry_after=error.retry_after
        )
    is_refused = isinstance(error, ModelRequestRejectedError) or (status is not None and 400 <= status < 500)
    if is_refused and status not in _AGAIN:
        return InvalidInput(f"{address.name} refused the request ({code}{said})")
    return ModelUnavailable(f"{address.name} does not answer ({code}{said})", retry_after=error.retry_after)


def _message(error: ModelAPIError) -> str:
    body = error.body
    while isinstance(body, dict):
        if isinstance(body.get("message"), str):
            return str(body["message"])
        body = body.get("error")
    return error.message


def _short(error: object) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"
