"""What a channel has in common in all shards, like the codec of token vectors: made once from documents of all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import plan_channel, stored_kind
from lexfuse.cluster.build.division import Division
from lexfuse.cluster.store import BUILDS, ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.storage.history.version_rows import MARK, rows_of


@dataclass(frozen=True, slots=True)
class SharedPartTask:
    """The channel of a new cluster, and the documents of all shards."""

    uri: str
    build: str
    channel: str
    plan: ChannelPlan
    division: Division
    threads: int | None = None

    @property
    def folder(self) -> str:
        """Where its files are in the store."""
        return f"{BUILDS}/{self.build}/shared/{self.channel}"


def make_shared_part(task: SharedPartTask) -> tuple[str, tuple[str, ...]]:
    """The channel, and the files of the store that every shard begins it with; what was made before is not made again."""
    store, done = ClusterStore(task.uri), f"{task.folder}.json"
    if not store.exists(done):
        ids = sorted((document.id for document in _texts(task.division, store)), key=_place)

        def drawn(places: Sequence[int]) -> list[Document]:
            wanted = {ids[place] for place in places}
            found = [document for document in _texts(task.division, store) if document.id in wanted]
            return sorted(found, key=lambda document: _place(document.id))

        settings = plan_channel(task.channel, task.plan, threads=task.threads)
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as local:
            part = stored_kind(task.channel).shared_part(settings, len(ids), drawn, threads=task.threads) if ids else None
            paths = list(part.save(Path(local), settings.options)) if part is not None else []
            for path in paths:
                store.upload(path, f"{task.folder}/{path.name}")
        store.write_json(done, [f"{task.folder}/{path.name}" for path in paths])
    return task.channel, tuple(store.read_json(done))


def _texts(division: Division, store: ClusterStore) -> Iterator[Document]:
    """What one index of all documents would encode: all versions, with the ids of their rows."""
    if not division.versions:
        yield from division.documents(store)
        return
    rows = rows_of(Corpus.of(division.documents(store)))
    yield from (document for document, _ in (*rows.current, *rows.past))


def _place(id: str) -> tuple[bool, str]:
    """The order in which an index numbers documents: past versions come last."""
    return MARK in id, id
