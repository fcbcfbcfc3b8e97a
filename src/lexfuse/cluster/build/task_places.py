"""On which machines of a Ray cluster tasks run: those of a machine that vanished are done again at once.

Ray does the tasks of a lost machine again when its connection closes. A machine without power or network closes none, and Ray
then waits for minutes, although it has known for a while that the machine is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class TaskPlaces:
    """The machine of each task that has begun; an actor, which tasks tell.

    >>> places = TaskPlaces()
    >>> places.note(3, "node")
    >>> places.nodes()
    {3: 'node'}
    """

    def __init__(self) -> None:
        """No task has begun."""
        self._nodes: dict[int, str] = {}

    def note(self, task: int, node: str) -> None:
        """A task begins on a node; one that is done again replaces where it was before."""
        self._nodes[task] = node

    def nodes(self) -> dict[int, str]:
        """The node of each task."""
        return dict(self._nodes)


def start_places(ray: Any) -> Any:
    """The actor, on the node of this process: it is lost only with it."""
    strategies = import_module("ray.util.scheduling_strategies")
    here = strategies.NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, scheduling_strategy=here)(TaskPlaces).remote()


def note_place(places: Any, task: int) -> None:
    """Tell the actor that a task begins on the node of this process."""
    ray = import_module("ray")
    places.note.remote(task, ray.get_runtime_context().get_node_id())


def lost_tasks(ray: Any, places: Any) -> Callable[[int], bool]:
    """Which tasks run on nodes that the Ray cluster has given up."""
    gone = {node["NodeID"] for node in ray.nodes() if not node["Alive"]}
    nodes = ray.get(places.nodes.remote()) if gone else {}
    return lambda task: nodes.get(task) in gone
