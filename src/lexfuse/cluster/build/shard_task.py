"""The work on one shard of a new generation. Any process on any machine can do it, and do it again after an interruption.

The index is built in a work folder of the machine that does it, and copied to the store when it is complete. An index of words is
built completely or not at all. Encoded blocks of channels are copied to the store one by one, so a channel resumes from its last
block on any machine. A shard that is in the store is not built again.
"""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lexfuse.channels.channel_build import ChannelFilled, complete_channel, make_channel
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import part_class
from lexfuse.cluster.build.channel_blocks import ChannelBlocks, blocks_folder, serials_by_id
from lexfuse.cluster.cluster_manifest import StoredChannel, StoredShard
from lexfuse.cluster.local_copy import locked
from lexfuse.cluster.statistics import save_statistics, shard_statistics
from lexfuse.cluster.store import BUILDS, ClusterStore, shard_folder, shard_statistics_folder
from lexfuse.cluster.stored_files import fetch_files, upload_files
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import make_folder, write_json
from lexfuse.data.formats.file_format import read_documents
from lexfuse.data.formats.json_text import from_json
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.shared_encoders import SharedEncoders, sharing
from lexfuse.index import Index
from lexfuse.storage.folder_names import SEGMENTS
from lexfuse.storage.index_folder import ChangeCounts, IndexFolder
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.stored_channel import ChannelSettings

_INDEX, _FETCHED, _COUNTS, _CORPUS, _STATISTICS, _SHARED = "index", "fetched", "counts.json", "corpus", "statistics", "shared"


@dataclass(frozen=True, slots=True)
class ShardTask:
    """What to do for one shard: build it from its documents, or change the shard of the former generation."""

    uri: str
    build: str  # the same for the same build, so that it is resumed
    generation: str  # that it is for
    shard: int
    work: Path  # a folder on the machine that does it
    settings: IndexSettings
    parts: tuple[str, ...] = ()  # files of the store with its documents
    deleted: tuple[str, ...] = ()  # ids
    plans: Mapping[str, ChannelPlan] = field(default_factory=dict)  # of a new cluster
    channels: Mapping[str, ChannelSettings] = field(default_factory=dict)  # of a divided index
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # files of the store that channels begin with
    threads: int | None = None
    cache: Path | None = None  # of vectors, on the machine that does it
    parent: StoredShard | None = None  # of the former generation
    dated: bool = False  # whether documents of the cluster have versions, so that statistics change from day to day

    @property
    def marker(self) -> str:
        """The file of the store that says that the shard is complete."""
        return f"{BUILDS}/{self.build}/shards/{self.shard}.json"

    @property
    def folder(self) -> Path:
        """The work folder of this shard."""
        return self.work / f"{self.build}-{self.shard}"


@dataclass(frozen=True, slots=True)
class ShardOutcome:
    """A complete shard, and what changed."""

    shard: int
    stored: StoredShard
    counts: ChangeCounts
    channels: tuple[StoredChannel, ...]
    filled: Mapping[str, ChannelFilled]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "shard": self.shard,
            "stored": self.stored.model_dump(mode="json"),
            "counts": asdict(self.counts),
            "channels": [channel.model_dump(mode="json") for channel in self.channels],
            "filled": {name: asdict(one) for name, one in self.filled.items()},
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ShardOutcome:
        """An outcome from plain values."""
        return cls(
            values["shard"],
            StoredShard(**values["stored"]),
            _counts(values["counts"]),
            tuple(StoredChannel(**one) for one in values["channels"]),
            {name: ChannelFilled(**one) for name, one in values["filled"].items()},
        )


def count_languages(task: ShardTask) -> dict[str, int]:
    """Build the words of a shard, and count the documents in each language: the models of a cluster depend on all shards."""
    with _claimed(task) as folder, Index.open(_built(ClusterStore(task.uri), task, folder)) as index:
        return index.languages


def complete_shard(task: ShardTask) -> ShardOutcome:
    """Build or change a shard, copy it to the store, and say there that it is complete."""
    store = ClusterStore(task.uri)
    with _claimed(task) as folder:
        if store.exists(task.marker):
            outcome = ShardOutcome.from_json(store.read_json(task.marker))
        else:
            outcome = _completed(store, task, folder)
            store.write_json(task.marker, outcome.as_json())
        store.remove(blocks_folder(task.build, task.shard))
        shutil.rmtree(folder)
    return outcome


def _completed(store: ClusterStore, task: ShardTask, folder: Path) -> ShardOutcome:
    counts = None
    if task.parent is None:
        path = _built(store, task, folder)
    else:
        path = _fetched(store, task, task.parent, folder)
        counts = _changed(store, task, folder, path)
    filled = _filled(store, task, folder, path)
    statistics = folder / _STATISTICS
    with Index.open(path) as index:
        documents, channels = index.coverage(datetime.date.today()).documents, _channels(index)
        shutil.rmtree(statistics, ignore_errors=True)
        save_statistics(statistics, shard_statistics(index.snapshot, dated=task.dated))
    before, generation = task.parent or StoredShard(documents=0, files={}, statistics={}), task.generation
    stored = StoredShard(
        documents=documents,
        files=upload_files(store, path, shard_folder(generation, task.shard), generation, before.files),
        statistics=upload_files(
            store, statistics, shard_statistics_folder(generation, task.shard), generation, before.statistics
        ),
    )
    return ShardOutcome(task.shard, stored, counts or ChangeCounts(added=documents), channels, filled)


def _built(store: ClusterStore, task: ShardTask, folder: Path) -> Path:
    """The index of the words of a new shard, complete or not there."""
    path = folder / _INDEX
    if not path.is_dir():
        Index.build(path, Corpus.of(_documents(store, task, folder)), settings=task.settings).close()
    return path


def _filled(store: ClusterStore, task: ShardTask, folder: Path, path: Path) -> dict[str, ChannelFilled]:
    """Make the channels of a new shard, take over their blocks from the store, and encode what they lack."""
    filled = {}
    with (
        EmbeddingCache(task.cache) if task.cache else nullcontext() as cache,
        IndexFolder(path) as files,
        sharing(SharedEncoders()),
    ):
        for channel, settings in task.channels.items():
            files.channels.make(channel, settings)
        for channel, plan in task.plans.items():
            make_channel(files, channel, plan, "", threads=task.threads)
            if names := task.shared.get(channel):
                _begin(store, files, channel, names, folder / _SHARED / channel)
        serials = serials_by_id(files) if files.channels.names else {}
        for channel in files.channels.names:
            blocks = ChannelBlocks(store, task.build, task.generation, task.shard, channel)
            blocks.restore(files, serials)
            filled[channel] = complete_channel(files, channel, threads=task.threads, cache=cache, kept=blocks.kept)
    return filled


def _begin(store: ClusterStore, files: IndexFolder, channel: str, names: Sequence[str], local: Path) -> None:
    """Let a channel begin with what it has in common with those of the other shards."""
    make_folder(local)
    for name in names:
        (local / name.rpartition("/")[2]).write_bytes(store.read_bytes(name))
    files.channels.begin(channel, part_class(files.channels.named(channel).settings.kind).load(local))


def _fetched(store: ClusterStore, task: ShardTask, parent: StoredShard, folder: Path) -> Path:
    """A copy of the shard of the former generation, which may have been changed already."""
    path, done = folder / _INDEX, folder / _FETCHED
    if not done.exists():  # afterwards its files are no longer those of the store
        fetch_files(store, parent.files, lambda file: shard_folder(file.generation, task.shard), path)
        make_folder(path / SEGMENTS)
        done.touch()
    return path


def _changed(store: ClusterStore, task: ShardTask, folder: Path, path: Path) -> ChangeCounts:
    """Apply the change; after an interruption again, which gives the same index."""
    documents, planned = Corpus.of(_documents(store, task, folder)), folder / _COUNTS
    if planned.exists():
        counts = _counts(from_json(planned.read_text("utf-8")))
    else:  # counted before anything is changed
        with IndexFolder(path) as files:
            known, held = len(files.present(list(documents.ids))), files.present(task.deleted)
        missing = tuple(id for id in task.deleted if id not in held)
        counts = ChangeCounts(len(documents) - known, known, len(held), missing)
        write_json(planned, asdict(counts))
    with Index.open(path) as index:
        if documents:
            index.update(documents)
        if task.deleted:
            index.delete(task.deleted)
    return counts


def _documents(store: ClusterStore, task: ShardTask, folder: Path) -> Iterator[Document]:
    """The documents of the shard, from the files that the corpus was divided into."""
    make_folder(folder / _CORPUS)
    for name in task.parts:
        local = folder / _CORPUS / name.rpartition("/")[2]
        local.write_bytes(store.read_bytes(name))
        yield from read_documents(local)
        local.unlink()


def _channels(index: Index) -> tuple[StoredChannel, ...]:
    settings = {name: index.snapshot.channel(name).named.settings for name in index.channels}
    return tuple(
        StoredChannel(
            name=name,
            kind=one.kind,
            model=one.model,
            fingerprint=one.fingerprint,
            query_model=one.query_model,
            query_fingerprint=one.query_fingerprint,
        )
        for name, one in settings.items()
    )


@contextmanager
def _claimed(task: ShardTask) -> Iterator[Path]:
    """The work folder of the shard, for one process of the machine at a time."""
    make_folder(task.work)
    with locked(task.work / f"{task.build}-{task.shard}.lock"):
        make_folder(task.folder)
        yield task.folder


def _counts(values: Mapping[str, Any]) -> ChangeCounts:
    return ChangeCounts(**{**values, "missing": tuple(values["missing"])})
