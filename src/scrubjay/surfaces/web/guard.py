"""Who may ask, and what a page may do: host names, the token, and the headers that keep a browser from more.

It knows requests and headers; it does not know what is served.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import MutableSequence
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

from scrubjay.surfaces.mcp.address import Address

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Everything comes from here, nothing is inline, no page frames another, no form leads away.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


class Guard:
    """Refuses requests by a rebound name, of another site's page, without the token, or that are not reads."""

    def __init__(self, app: ASGIApp, address: Address, token: str | None) -> None:
        self._app = app
        self._names = {name.lower() for name in (*_LOOPBACK, address.host, *address.names)}
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers: MutableSequence[tuple[bytes, bytes]] = message.setdefault("headers", [])
                known = {name for name, _ in headers}
                headers.extend(_HEADERS)
                if b"cache-control" not in known:
                    headers.append((b"cache-control", b"no-cache"))
            await send(message)

        await self._app(scope, receive, send_guarded)

    def _refused(self, scope: Scope) -> PlainTextResponse | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or _name_of(hosts[0].decode("latin-1")) not in self._names:
            return PlainTextResponse("this server is not known by that name; --allow-host gives it one\n", 421)
        site, mode = (headers.get(name, [b""])[0] for name in (b"sec-fetch-site", b"sec-fetch-mode"))
        if site in (b"cross-site", b"same-site") and mode != b"navigate":
            return PlainTextResponse("pages of other sites get nothing from here\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("nothing can be written here\n", 405, {"Allow": "GET, HEAD"})
        if self._token is not None and not self._is_known(headers.get(b"authorization", [])):
            ask = {"WWW-Authenticate": 'Basic realm="scrubjay", charset="UTF-8"'}
            return PlainTextResponse("a token is needed: any name, and the token as password\n", 401, ask)
        return None

    def _is_known(self, given: list[bytes]) -> bool:
        scheme, _, text = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        password = text.strip()
        if scheme.lower() == b"basic":
            try:
                password = base64.b64decode(text.strip(), validate=True).partition(b":")[2]
            except binascii.Error:
                return False
        elif scheme.lower() != b"bearer":
            return False
        assert self._token is not None
        # The comparison takes as long for a wrong token as for the right one.
        return hmac.compare_digest(password, self._token)


def _name_of(host: str) -> str:
    """`127.0.0.1` for `127.0.0.1:8765`, `::1` for `[::1]:8765`; the text itself where the port is none."""
    name, colon, port = host.rpartition(":")
    if colon and port.isascii() and port.isdigit() and (":" not in name or name.startswith("[")):
        host = name
    return host.removeprefix("[").removesuffix("]").lower()
