"""The middleware of the service, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.service.middleware.api_key import ApiKeyMiddleware
from lexfuse.service.middleware.limits import BodyLimit, InFlightLimit
from lexfuse.service.middleware.origin import OriginCheck
from lexfuse.service.middleware.request_log import RequestLogMiddleware
from lexfuse.service.middleware.security_headers import SecurityHeaders

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from lexfuse.service.api_keys import KeyRing
    from lexfuse.service.metrics import ServiceMetrics
    from lexfuse.service.settings import ServiceSettings


def add_middleware(app: Starlette, settings: ServiceSettings, keys: KeyRing, metrics: ServiceMetrics) -> None:
    """Add the middleware to an application, whose handler of `LexFuseError` also answers errors of the middleware.

    >>> from starlette.applications import Starlette
    >>> from lexfuse.service.api_keys import KeyRing
    >>> from lexfuse.service.metrics import ServiceMetrics
    >>> from lexfuse.service.settings import ServiceSettings
    >>> app = Starlette()
    >>> add_middleware(app, ServiceSettings(), KeyRing(None), ServiceMetrics())
    >>> [layer.cls.__name__ for layer in app.user_middleware]
    ['SecurityHeaders', 'RequestLogMiddleware', 'OriginCheck', 'ApiKeyMiddleware', 'BodyLimit', 'InFlightLimit']
    """
    # Innermost first. The cheapest checks come first for a request, and refused requests are neither counted nor read.
    app.add_middleware(InFlightLimit, most=settings.search_threads + settings.max_waiting, metrics=metrics)
    app.add_middleware(BodyLimit, most=settings.max_body_bytes, seconds=settings.timeout_seconds, metrics=metrics)
    app.add_middleware(ApiKeyMiddleware, settings=settings, keys=keys, metrics=metrics)
    app.add_middleware(OriginCheck, hosts=settings.allowed_hosts, own=settings.host, metrics=metrics)
    app.add_middleware(RequestLogMiddleware, metrics=metrics, log_queries=settings.log_queries)
    app.add_middleware(SecurityHeaders, metrics=metrics)  # outermost, so that responses to unexpected errors have them too
