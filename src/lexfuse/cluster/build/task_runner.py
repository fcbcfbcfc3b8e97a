"""Who does the tasks of shards: this process, one after the other, or the workers of a Ray cluster."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol, TypeVar

from lexfuse.cluster.build.task_places import lost_tasks, note_place, start_places
from lexfuse.dependencies import Extra
from lexfuse.encode.onnx_runtime import AUTO, CPU, CUDA, DEVICE
from lexfuse.errors import ConfigError, FetchError, LexFuseError, error_classes

Given = TypeVar("Given")
Result = TypeVar("Result")
RETRIES = 3  # of a task whose worker or machine was lost; it resumes
CHECK_SECONDS = 5.0  # between two looks whether machines are gone


class TaskRunner(Protocol):
    """Does independent tasks."""

    def run(self, function: Callable[[Given], Result], items: Sequence[Given]) -> Iterator[Result]:
        """The results, as they come; the first error stops it."""


class LocalTasks:
    """Tasks in this process, one after the other.

    >>> list(LocalTasks().run(len, ["law", "act"]))
    [3, 3]
    """

    def run(self, function: Callable[[Given], Result], items: Sequence[Given]) -> Iterator[Result]:
        """The results, in order."""
        return map(function, items)


class RayTasks:
    """Tasks on the workers of a Ray cluster, at most `workers` at a time; those of a lost machine are done again."""

    def __init__(self, workers: int, processors: float = 1, gpus: float = 0, device: str = "") -> None:
        """Each task reserves processors and GPUs of its machine; a task with a device encodes on it."""
        if gpus > 1 and gpus != int(gpus):
            raise ConfigError(f"a task reserves a part of one GPU, or whole ones; got {gpus:g} GPUs")
        self._workers, self._needs = workers, {"CPU": float(processors), "GPU": float(gpus)}
        self._environment = {"env_vars": {DEVICE: device}} if device else None

    def run(self, function: Callable[[Given], Result], items: Sequence[Given]) -> Iterator[Result]:
        """The results, as they come; the first error cancels the other tasks."""
        ray = ray_package()
        self._check_machines([node["Resources"] for node in ray.nodes() if node["Alive"]])
        processors, gpus = self._needs.values()
        remote = ray.remote(num_cpus=processors, num_gpus=gpus, max_retries=RETRIES, runtime_env=self._environment)(_outcome)
        places, waiting, running = start_places(ray), list(reversed(list(enumerate(items)))), dict[Any, tuple[int, Given]]()
        losses: Counter[int] = Counter()
        try:
            while waiting or running:
                while waiting and len(running) < self._workers:
                    number, item = waiting.pop()
                    running[remote.remote(function, item, places, number)] = number, item
                done, _ = ray.wait(list(running), timeout=CHECK_SECONDS)
                if not done:
                    lost = lost_tasks(ray, places)
                    for one in [one for one, (number, _) in running.items() if lost(number)]:
                        ray.cancel(one, force=True)  # else Ray does it again some time
                        waiting.append(running.pop(one))
                        losses[waiting[-1][0]] += 1
                    if any(count > RETRIES for count in losses.values()):
                        raise _lost_worker("its machines are gone")
                    continue
                del running[done[0]]
                try:
                    failure, result = ray.get(done[0])
                except ray.exceptions.RayError as error:
                    raise _lost_worker(str(error).strip().split("\n", 1)[0]) from None
                if failure is not None:
                    raise error_by_code(*failure)
                yield result
        finally:
            for one in running:
                ray.cancel(one, force=True)
            ray.kill(places)

    def _check_machines(self, machines: Sequence[Mapping[str, float]]) -> None:
        """Refuse tasks that would wait forever, as no machine has what they reserve."""
        if not any(all(machine.get(name, 0) >= amount for name, amount in self._needs.items()) for machine in machines):
            found = "; ".join(f"CPU {one.get('CPU', 0):g}, GPU {one.get('GPU', 0):g}" for one in machines) or "none"
            wanted = ", ".join(f"{name} {amount:g}" for name, amount in self._needs.items())
            raise ConfigError(
                f"a task reserves {wanted}, and no machine of the Ray cluster has that; the machines have {found}; lower --gpus "
                "or --threads, or add a machine to the cluster"
            )


def ray_package() -> Any:
    """Ray, which reports no usage unless the environment says otherwise."""
    Extra.CLUSTER.require("a cluster")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    return import_module("ray")


def processors_per_task(tasks: int) -> int:
    """How many processors each of some tasks can have at the same time, on the connected cluster."""
    machines = [int(node["Resources"].get("CPU", 0)) for node in ray_package().nodes() if node["Alive"]]
    return max(1, min(sum(machines) // max(tasks, 1), max(machines, default=1)))


def gpu_device() -> str:
    """The device of tasks that reserve a GPU: the one that LEXFUSE_DEVICE names, or CUDA."""
    named = os.environ.get(DEVICE, "").strip().lower()
    if named == CPU:
        raise ConfigError(f"{DEVICE} is {CPU!r}, and GPUs are to be reserved; unset it, or leave out --gpus")
    return CUDA if named in ("", AUTO) else named


def _lost_worker(reason: str) -> FetchError:
    return FetchError(f"a worker of the Ray cluster was lost: {reason}; run the command again to resume")


def _outcome(function: Callable[[Any], Any], item: Any, places: Any, number: int) -> tuple[tuple[str, str] | None, Any]:
    """A failure by its code and message, or the result: classes of errors need not be the same on every machine."""
    note_place(places, number)
    try:
        return None, function(item)
    except LexFuseError as error:
        return (error.code, str(error)), None


def error_by_code(code: str, message: str) -> LexFuseError:
    """The error of a code, as another process raised it.

    >>> error_by_code("unknown-document", "no document 'a'")
    UnknownDocumentError("no document 'a'")
    """
    kind = next((kind for kind in error_classes(LexFuseError) if kind.code == code), LexFuseError)
    return kind(message)


@contextmanager
def ray_cluster(address: str = "", processors: int | None = None) -> Iterator[None]:
    """Connect to the Ray cluster at an address, or start one on this machine and stop it afterwards.

    A cluster of this machine has a random token and no dashboard, and reports no usage. It listens on 127.0.0.1; only replicas of
    Ray Serve listen on a port of every device.
    """
    if not address and "ray" not in sys.modules:  # Ray reads them when it is imported
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    ray = ray_package()
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init("local", num_cpus=processors, include_dashboard=False, _node_ip_address="127.0.0.1", **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise FetchError(f"no Ray cluster at {address or 'this machine'!r}: {reason}; check the address") from None
    try:
        for one, handler in before.items():  # Ray would end a process with another status
            signal.signal(one, handler)
        yield
    finally:
        ray.shutdown()
