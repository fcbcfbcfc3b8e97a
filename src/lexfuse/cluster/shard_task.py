"""The work on one shard of a new generation. Any process on any machine can do it, and do it again after an interruption.

The index is built in a work folder of the machine that does it, and copied to the store when it is complete. An index of words is
built completely or not at all, and a channel resumes from its last committed block. A shard that is in the store is not built
again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lexfuse.channels.channel_build import ChannelFilled, make_channel
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import part_class
from lexfuse.cluster.cluster_manifest import StoredChannel, StoredFile, StoredShard
from lexfuse.cluster.local_copy import fetch_files, locked
from lexfuse.cluster.statistics import gather_statistics, save_statistics
from lexfuse.cluster.store import BUILDS, ClusterStore, shard_folder, shard_statistics_folder
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import checksum, make_folder, write_json
from lexfuse.data.formats.file_format import read_documents
from lexfuse.data.formats.json_text import from_json
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.errors import StorageError
from lexfuse.index import Index
from lexfuse.storage.folder_names import FILE, SEGMENTS
from lexfuse.storage.index_folder import ChangeCounts, IndexFolder
from lexfuse.storage.index_settings import IndexSettings

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
    shared: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # files of the store that channels of a new shard begin with
    threads: int | None = None
    cache: Path | None = None  # of vectors, on the machine that does it
    parent: StoredShard | None = None  # of the former generation

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
        shutil.rmtree(folder)
    return outcome


def _completed(store: ClusterStore, task: ShardTask, folder: Path) -> ShardOutcome:
    if task.parent is None:
        path = _built(store, task, folder)
        _begun(store, task, folder, path)
        with Index.open(path) as index:
            filled, counts = _filled(task, index), ChangeCounts(added=len(index))
    else:
        path = _fetched(store, task, task.parent, folder)
        with Index.open(path) as index:
            counts = _changed(store, task, folder, index)
            filled = _filled(task, index)
    statistics = folder / _STATISTICS
    with Index.open(path) as index:
        documents, channels = len(index), _channels(index)
        shutil.rmtree(statistics, ignore_errors=True)
        save_statistics(statistics, gather_statistics([index.snapshot]))
    before = task.parent or StoredShard(documents=0, files={}, statistics={})
    stored = StoredShard(
        documents=documents,
        files=_uploaded(store, path, shard_folder(task.generation, task.shard), task, before.files),
        statistics=_uploaded(store, statistics, shard_statistics_folder(task.generation, task.shard), task, before.statistics),
    )
    return ShardOutcome(task.shard, stored, counts, channels, filled)


def _built(store: ClusterStore, task: ShardTask, folder: Path) -> Path:
    """The index of the words of a new shard, complete or not there."""
    path = folder / _INDEX
    if not path.is_dir():
        Index.build(path, Corpus.of(_documents(store, task, folder)), settings=task.settings).close()
    return path


def _begun(store: ClusterStore, task: ShardTask, folder: Path, path: Path) -> None:
    """Let channels of a new shard begin with what they have in common with those of the other shards."""
    for channel, names in task.shared.items():
        if not names:
            continue
        local = folder / _SHARED / channel
        make_folder(local)
        for name in names:
            (local / name.rpartition("/")[2]).write_bytes(store.read_bytes(name))
        with IndexFolder(path) as files:
            make_channel(files, channel, task.plans[channel], "", threads=task.threads)
            files.channels.begin(channel, part_class(files.channels.named(channel).settings.kind).load(local))


def _filled(task: ShardTask, index: Index) -> dict[str, ChannelFilled]:
    """Make the channels of a new shard, and encode what the channels lack."""
    with EmbeddingCache(task.cache) if task.cache else nullcontext() as cache:
        return index.add_channels(task.plans, threads=task.threads, cache=cache)


def _fetched(store: ClusterStore, task: ShardTask, parent: StoredShard, folder: Path) -> Path:
    """A copy of the shard of the former generation, which may have been changed already."""
    path, done = folder / _INDEX, folder / _FETCHED
    if not done.exists():  # afterwards its files are no longer those of the store
        fetch_files(store, parent.files, lambda file: shard_folder(file.generation, task.shard), path)
        make_folder(path / SEGMENTS)
        done.touch()
    return path


def _changed(store: ClusterStore, task: ShardTask, folder: Path, index: Index) -> ChangeCounts:
    """Apply the change; after an interruption again, which gives the same index."""
    documents, planned = list(_documents(store, task, folder)), folder / _COUNTS
    if planned.exists():
        counts = _counts(from_json(planned.read_text("utf-8")))
    else:  # counted before anything is changed
        known = sum(document.id in index for document in documents)
        missing = tuple(id for id in task.deleted if id not in index)
        counts = ChangeCounts(len(documents) - known, known, len(task.deleted) - len(missing), missing)
        write_json(planned, asdict(counts))
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


def _uploaded(
    store: ClusterStore, folder: Path, target: str, task: ShardTask, before: Mapping[str, StoredFile]
) -> dict[str, StoredFile]:
    """Copy the files of a folder to the store, without those that the former generation has."""
    files: dict[str, StoredFile] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name.startswith(f"{FILE}-"):
            if path.stat().st_size and not name.endswith("-shm"):
                raise StorageError(f"{str(path)!r} has changes that are not in the catalog; another process has it open")
            continue
        sha256, known = checksum(path), before.get(name)
        if known is not None and known.sha256 == sha256:
            files[name] = known
            continue
        store.upload(path, f"{target}/{name}")
        files[name] = StoredFile(bytes=path.stat().st_size, sha256=sha256, generation=task.generation)
    return files


@contextmanager
def _claimed(task: ShardTask) -> Iterator[Path]:
    """The work folder of the shard, for one process of the machine at a time."""
    make_folder(task.work)
    with locked(task.work / f"{task.build}-{task.shard}.lock"):
        make_folder(task.folder)
        yield task.folder


def _counts(values: Mapping[str, Any]) -> ChangeCounts:
    return ChangeCounts(**{**values, "missing": tuple(values["missing"])})
