"""The gateway: it takes the requests of clients, and has them answered by routers, which may be lost with their machines.

All requests of a served cluster only read. So a request whose router is lost is sent to another one, and so is a request whose
router does not answer for some seconds: a machine without power closes no connections. Bodies are limited as in the service.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette

from lexfuse.deployment.repeated_call import RepeatedCall, UnansweredError, call
from lexfuse.deployment.routed_request import RoutedRequest, RoutedResponse
from lexfuse.deployment.router_metrics import joined_metrics
from lexfuse.errors import OverloadError
from lexfuse.service.logs import log
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.middleware.limits import BodyLimit, InFlightLimit
from lexfuse.service.middleware.security_headers import SecurityHeaders
from lexfuse.service.problems import add_problems
from lexfuse.web.error_pages import page_or_problem

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from lexfuse.service.settings import ServiceSettings

HEDGE_SECONDS = 3.0  # until a second router is asked
GRACE_SECONDS = 5.0  # after `timeout_seconds`, at which a router itself gives up
METRICS, METRICS_SECONDS = "/metrics", 10.0  # the path, and in which time routers say theirs
OK = 200
_REFUSED = (429, 503)  # statuses by which a router says that it has no room


class Gateway:
    """An ASGI application that sends each request to a router."""

    def __init__(self, routers: Any, seconds: float) -> None:
        """Take the handle of the routers' deployment, and the time of an answer."""
        self._routers, self._seconds = routers, seconds
        self._is_bug = import_module("ray.exceptions").RayTaskError  # raised by a router; others mean that it is lost

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = await RoutedRequest.read(scope, receive)
        asked: RepeatedCall[RoutedResponse] = RepeatedCall(
            lambda _: call(self._routers.answer, request),
            HEDGE_SECONDS,
            is_final=lambda response: response.status not in _REFUSED,  # another router may have room
            may_repeat=lambda error: not isinstance(error, self._is_bug),
            repeated=lambda: log.warning("a router was lost; its request is sent to another one"),
        )
        try:
            response = await asked.answer(self._seconds)
        except UnansweredError as error:
            raise OverloadError(f"no router of the cluster has answered ({error}); try again", retry_after=1) from None
        if scope["path"] == METRICS and scope["method"] == "GET" and response.status == OK:
            response = await self._with_all_routers(response)
        await response.send(send)

    async def _with_all_routers(self, response: RoutedResponse) -> RoutedResponse:
        """The metrics of all routers instead of those of the one that allowed the request; one that is lost is left out."""
        every = await self._routers.broadcast("metrics").results_async(timeout_s=METRICS_SECONDS, return_exceptions=True)
        body = joined_metrics(dict(one for one in every if isinstance(one, tuple)))
        headers = [(name, value) for name, value in response.headers if name.lower() != b"content-length"]
        return RoutedResponse(response.status, [*headers, (b"content-length", str(len(body)).encode())], body)


def gateway_application(routers: Any, settings: ServiceSettings) -> Starlette:
    """The gateway behind the limits of the service on bodies, with its error pages."""
    app, metrics = Starlette(), ServiceMetrics()
    app.router.default = Gateway(routers, settings.timeout_seconds + GRACE_SECONDS)
    add_problems(app, page_or_problem)
    app.add_middleware(InFlightLimit, most=settings.max_connections, metrics=metrics)
    app.add_middleware(BodyLimit, most=settings.max_body_bytes, seconds=settings.timeout_seconds, metrics=metrics)
    app.add_middleware(SecurityHeaders, metrics=metrics)  # of its own errors; those that a router has set stay
    return app


class GatewayDeployment:
    """The gateway behind the HTTP proxy of Ray Serve, on the machine of the proxy."""

    def __init__(self, routers: Any, settings: ServiceSettings) -> None:
        """Take the handle of the routers' deployment."""
        self._routers, self._settings = routers, settings

    def __serve_build_asgi_app__(self) -> Starlette:
        """The application of the replica."""
        return gateway_application(self._routers, self._settings)
