"""The state of a cluster that is being served: replicas of every deployment, their health, and the generations they have open."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from lexfuse.deployment.application import APPLICATION, GATEWAY
from lexfuse.errors import NotFoundError

_SECONDS = 10.0  # in which replicas say what they have open


class DeploymentState(NamedTuple):
    """The replicas of a shard, or the routers."""

    status: str  # as Ray Serve calls it: HEALTHY, UPDATING, UNHEALTHY …
    replicas: dict[str, int]  # how many, by state: RUNNING, STARTING …
    generations: list[list[int]]  # open in each running replica; one that does not answer is left out
    message: str  # of Ray Serve, about what is wrong

    @property
    def running(self) -> int:
        """How many replicas run."""
        return self.replicas.get("RUNNING", 0)


def service_status() -> dict[str, DeploymentState]:
    """The state of every deployment of the Ray cluster that this process is connected to."""
    serve = import_module("ray.serve")
    found = serve.status().applications.get(APPLICATION)
    if found is None:
        raise NotFoundError("the Ray cluster serves no cluster; start it with lexfuse cluster serve")
    return {
        name: DeploymentState(
            str(one.status.value),
            {str(state): count for state, count in one.replica_states.items()},
            [] if name == GATEWAY else _generations(serve.get_deployment_handle(name, APPLICATION)),
            one.message,
        )
        for name, one in sorted(found.deployments.items())
    }


def _generations(handle: Any) -> list[list[int]]:
    try:
        found = handle.broadcast("generations").results(timeout_s=_SECONDS, return_exceptions=True)
    except Exception:  # many classes: no replica runs, or the time is over
        return []
    return sorted(one for one in found if isinstance(one, list))
