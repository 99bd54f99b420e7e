"""Where a server listens, and by which names it may be called.

It knows hosts and ports, and opens nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from mcp.server.transport_security import TransportSecuritySettings

__all__ = ["Address"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. `names` are further names by which clients reach it, as their Host header says them."""

    host: str
    port: int
    names: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, names: Sequence[str] = ()) -> Address:
        """`127.0.0.1:8765`, `[::1]:8765` or `:8765`. Raises InvalidInput."""
        host, colon, port = text.rpartition(":")
        if not (colon and port.isascii() and port.isdigit() and int(port) < 65536):
            raise InvalidInput(f"{text!r}: HOST:PORT was expected, such as 127.0.0.1:8765")
        return cls(host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port), tuple(names))

    @property
    def is_loopback(self) -> bool:
        """True where only this machine can connect."""
        return self.host in _LOOPBACK or self.host.startswith("127.")

    def need_token(self, token: str | None) -> None:
        """Raises InvalidInput where others can connect and there is no token, or an empty one."""
        if token is None and not self.is_loopback:
            raise InvalidInput(f"{self.host} can be reached from other machines: --token-env names a bearer token")
        if token is not None and not token.strip():
            raise InvalidInput("the token is empty: set its variable to a long random text")

    def security(self) -> TransportSecuritySettings:
        """The values of Host and Origin that are let in; others are a rebound name or another site's page."""
        from mcp.server.transport_security import TransportSecuritySettings

        hosts = [f"[{name}]" if ":" in name else name for name in (*_LOOPBACK, self.host, *self.names)]
        return TransportSecuritySettings(
            allowed_hosts=[*hosts, *(f"{name}:*" for name in hosts)],
            allowed_origins=[
                f"{scheme}://{name}{port}" for name in hosts for scheme in ("http", "https") for port in ("", ":*")
            ],
        )
