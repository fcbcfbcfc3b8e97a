"""Checks of Host and Origin, against DNS rebinding and cross-site requests. HSTS is up to a proxy."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lexfuse.errors import ForbiddenError
from lexfuse.service.middleware.api_key import token_of
from lexfuse.service.middleware.http_middleware import HEALTH, HttpMiddleware, header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from lexfuse.service.metrics import ServiceMetrics


CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")  # a name or an address, with an optional port


class OriginCheck(HttpMiddleware):
    """Refuses requests to other host names, and changing requests that another site made a browser send.

    Without `hosts`, a request that arrives at a loopback address must name a loopback host. Otherwise any site could point its
    name at 127.0.0.1 and read the service from its own page (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics, hosts: Sequence[str] = (), own: str = "") -> None:
        """Wrap an application that answers to `hosts`, and always to `own`, the address it listens on."""
        super().__init__(app, metrics)
        self.hosts = tuple(host.lower() for host in hosts)
        self.own = own.lower()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse."""
        reason, detail = self._refusal(scope)
        if reason:
            await self.refuse(ForbiddenError(detail), reason, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[str, str]:
        if scope["path"] not in HEALTH and (detail := self._wrong_name(scope)):
            return "host", detail
        if scope["method"] in CHANGING and is_cross_site(scope) and not _has_key(scope):
            return "origin", "another site sent this; send it from the service's own page, or with a key"
        return "", ""

    def _wrong_name(self, scope: Scope) -> str:
        """Why the Host header is refused; empty if it is allowed."""
        name = host_name(header(scope, "host"))
        if self.hosts:
            known = any(goes_by(name, one) for one in self.hosts)
            return "" if known else "the service does not answer to this name; use one of its allowed_hosts"
        server = scope.get("server")
        if not server or not is_loopback(server[0]) or is_loopback(name) or (name and name == self.own):
            return ""
        return (
            "on a loopback address only loopback names such as localhost and 127.0.0.1 are answered; "
            "set allowed_hosts to the names that a proxy passes on as Host"
        )


def host_name(host: str) -> str:
    """The name or address of a Host header without its port; empty if invalid. An IPv6 address keeps its brackets.

    >>> host_name("Law.example:8080"), host_name("[::1]:8080"), host_name("[::1]law.example")
    ('law.example', '[::1]', '')
    """
    found = _HOST.fullmatch(host.strip().lower())
    return found[1] if found else ""


def is_loopback(host: str) -> bool:
    """Whether a name or an address is loopback; names are not resolved.

    >>> is_loopback("localhost"), is_loopback("127.8.0.1"), is_loopback("[::1]"), is_loopback("127.0.0.1.law.example")
    (True, True, True, False)
    """
    name = host.removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def goes_by(host: str, allowed: str) -> bool:
    """Whether a host is an allowed name, or a subdomain of one that begins with ``*.``.

    >>> goes_by("search.law.example", "*.law.example"), goes_by("law.example", "*.law.example")
    (True, False)
    """
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed


def is_cross_site(scope: Scope) -> bool:
    """Whether a browser sends this for another site; other clients send no such header.

    >>> is_cross_site({"headers": [(b"sec-fetch-site", b"cross-site")]})
    True
    >>> is_cross_site({"headers": [(b"host", b"law.example:8080"), (b"origin", b"http://law.example:8080")]})
    False
    """
    if site := header(scope, "sec-fetch-site"):
        return site not in ("same-origin", "none")
    origin = header(scope, "origin")
    try:
        return bool(origin) and urlsplit(origin).netloc.lower() != header(scope, "host").lower()
    except ValueError:  # not an address, so not this site
        return True


def _has_key(scope: Scope) -> bool:
    """Whether a key was sent on purpose: browsers send Basic credentials by themselves, also for other sites."""
    return bool(token_of(scope)) and not header(scope, "authorization").lower().startswith("basic ")
