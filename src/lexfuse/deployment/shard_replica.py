"""A replica of a shard: it answers routers from a local copy of the shard, for the two generations asked for last."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from lexfuse.cluster.cluster_manifest import ClusterManifest, generation_number
from lexfuse.cluster.local_copy import HeldCopy, LocalCopies, copies_folder
from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.statistics import Statistics, load_statistics
from lexfuse.cluster.store import ClusterStore, Published
from lexfuse.deadline import Deadline, limited
from lexfuse.errors import LexFuseError
from lexfuse.service.logs import configure_logs, log

KEPT = 2  # generations: one that routers leave, and one that they take over


class ShardAnswer(NamedTuple):
    """What a shard says, or the code and message of an error."""

    value: Any = None
    code: str = ""
    message: str = ""


class ShardReplica:
    """One copy of a shard, opened; many threads answer at a time."""

    def __init__(self, uri: str, shard: int, *, threads: int = 8, cache: Path | None = None, has_process: bool = False) -> None:
        """Fetch and open the published generation; a replica that has a process configures its log."""
        if has_process:
            configure_logs()
        self._store, self._shard = ClusterStore(uri), shard
        self._copies = LocalCopies(self._store, copies_folder(uri, f"shard-{shard}", cache))
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="shard")
        self._lock = Lock()  # held for moments
        self._opening = Lock()
        self._generations: OrderedDict[str, _OpenShard] = OrderedDict()
        self._retired: list[_OpenShard] = []
        self._prepare(self._store.published())

    async def prepare(self, published: Published) -> None:
        """Open a generation before the first router asks for it."""
        await asyncio.get_running_loop().run_in_executor(self._threads, self._prepare, published)

    async def answer(self, published: Published, request: ShardRequest, seconds: float) -> ShardAnswer:
        """The answer to a request about a generation, within some seconds."""
        deadline = Deadline(seconds)  # it includes the wait for a thread
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, published, request, deadline)
        except asyncio.CancelledError:  # the router has another answer: what has not begun never begins, the rest stops soon
            deadline.revoke()
            raise

    def check_health(self) -> None:
        """Ray Serve replaces a replica whose check fails."""
        with self._lock:
            if not self._generations:
                raise RuntimeError("no generation is open")

    def generations(self) -> list[int]:
        """The numbers of the generations that are open, the one asked for last at the end."""
        with self._lock:
            return list(map(generation_number, self._generations))

    def close(self) -> None:
        """Close every generation."""
        self._threads.shutdown()
        with self._lock:
            self._retired += self._generations.values()
            self._generations.clear()
        self._close_retired()

    def _prepare(self, published: Published) -> None:
        with self._leased(published):
            pass

    def _answer(self, published: Published, request: ShardRequest, deadline: Deadline) -> ShardAnswer:
        try:
            with limited(deadline), self._leased(published) as shard:
                return ShardAnswer(shard.answer(request))
        except LexFuseError as error:
            return ShardAnswer(code=error.code, message=str(error))
        except Exception as error:  # Ray would log its message, which may quote the question, and routers would ask again
            log.error("unexpected error", exc_info=error, extra={"fields": {"shard": self._shard}})
            return ShardAnswer(code=LexFuseError.code, message=f"an unexpected error in shard {self._shard}; its log has it")

    @contextmanager
    def _leased(self, published: Published) -> Iterator[Shard]:
        opened = self._open(published)
        try:
            yield opened.shard
        finally:
            with self._lock:
                opened.leases -= 1
            self._close_retired()

    def _open(self, published: Published) -> _OpenShard:
        """The shard of a generation, with one lease more."""
        found = self._known(published.generation)
        if found is None:
            with self._opening:
                found = self._known(published.generation)  # another thread may have opened it meanwhile
                if found is None:
                    found = self._opened(published)
        return found

    def _known(self, generation: str) -> _OpenShard | None:
        with self._lock:
            found = self._generations.get(generation)
            if found is not None:
                self._generations.move_to_end(generation)
                found.leases += 1
            return found

    def _opened(self, published: Published) -> _OpenShard:
        manifest = self._store.manifest(published)
        statistics = load_statistics(self._copies.statistics(manifest))
        found = _OpenShard(manifest, self._copies.held_shard(manifest, self._shard), statistics)
        with self._lock:
            self._generations[published.generation] = found
            while len(self._generations) > KEPT:
                self._retired.append(self._generations.popitem(last=False)[1])
        return found

    def _close_retired(self) -> None:
        with self._lock:
            idle = [one for one in self._retired if not one.leases]
            self._retired = [one for one in self._retired if one.leases]
            kept = [one.manifest for one in (*self._generations.values(), *self._retired)]
        for one in idle:
            one.close()
        if idle and kept:
            self._copies.keep_only(kept, [self._shard])


class _OpenShard:
    """A shard of a generation, and how many answer from it."""

    def __init__(self, manifest: ClusterManifest, copy: HeldCopy, statistics: Statistics) -> None:
        self.manifest, self._copy = manifest, copy
        try:
            self.shard = Shard(copy.path, statistics)
        except BaseException:
            copy.release()
            raise
        self.leases = 1

    def close(self) -> None:
        self.shard.close()
        self._copy.release()
