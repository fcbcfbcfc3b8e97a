"""A corpus, or the documents and channels of an index, divided among shards and written to the store.

Documents are read once, in order, and written in blocks for the shard that owns them: reading checks that ids are unique and
names the line of a bad record. Rows of the channels of an index are divided as they are stored; nothing is encoded.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lexfuse.cluster.build.channel_blocks import ChannelBlocks
from lexfuse.cluster.partition import owner
from lexfuse.cluster.store import BUILDS, ClusterStore
from lexfuse.data.arrays import I32
from lexfuse.data.document import Document
from lexfuse.data.files import checksum
from lexfuse.data.formats.file_format import corpus_file, read_documents, write_documents
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.folder_names import FILE
from lexfuse.storage.folder_snapshot import FolderSnapshot, open_snapshot
from lexfuse.storage.history.version_rows import document_id
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSegment, ChannelSettings

BLOCK = 5000  # documents in a file of the divided corpus


@dataclass(frozen=True, slots=True)
class Division:
    """What the store has of every shard before it is built."""

    parts: tuple[tuple[str, ...], ...]  # names of files with documents
    skipped: int = 0
    notes: tuple[str, ...] = ()
    versions: bool = False  # whether a document has several
    channels: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # settings of those whose blocks are in the store
    distributions: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Division:
        """A division from plain values."""
        return cls(**values | {"parts": tuple(map(tuple, values["parts"])), "notes": tuple(values["notes"])})

    @property
    def channel_settings(self) -> dict[str, ChannelSettings]:
        """The settings of the channels."""
        return {name: ChannelSettings.from_json(values) for name, values in self.channels.items()}

    def documents(self, store: ClusterStore) -> Iterator[Document]:
        """All documents, read from the store."""
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as folder:
            path = Path(folder) / "part.jsonl.gz"
            for name in (name for parts in self.parts for name in parts):
                path.write_bytes(store.read_bytes(name))
                yield from read_documents(path)


class CorpusDivider:
    """A corpus to divide: a file or a collection folder.

    >>> store, generation = ClusterStore("memory://division"), "000001-0f3a5c7e9b2d"
    >>> CorpusDivider("examples/articles.csv", ReadReport()).divide(store, "b1", generation, 2).parts
    (('builds/b1/corpus/0-000000.jsonl.gz',), ('builds/b1/corpus/1-000000.jsonl.gz',))
    """

    settings = None  # how it is analysed is up to the builder
    channels: tuple[str, ...] = ()

    def __init__(self, corpus: str | Path, report: ReadReport) -> None:
        """Read nothing yet."""
        self._corpus, self._report = corpus, report

    @property
    def digest(self) -> str:
        """The same for the same content."""
        return checksum(corpus_file(self._corpus))

    def divide(self, store: ClusterStore, build: str, generation: str, shards: int) -> Division:
        """Write the documents of every shard to the store."""
        parts, versions = _write_documents(store, build, read_documents(self._corpus, self._report), shards)
        return Division(parts, self._report.skipped, tuple(self._report.lines()), versions)

    def close(self) -> None:
        """Nothing is open."""


class IndexDivider:
    """An index folder to divide, with its channels and score distributions; a damaged one is a `DataError`.

    >>> divider = IndexDivider(snapshot.folder)
    >>> divider.channels, len(divider.digest)
    ((), 64)
    """

    def __init__(self, folder: str | Path) -> None:
        """Verify every file, and keep one state open."""
        with IndexFolder(folder) as files:
            if damages := files.verify():
                raise DataError(f"the index is damaged: {damages[0]}; repair it with lexfuse index INDEX --rebuild", path=folder)
        self._snapshot: FolderSnapshot = open_snapshot(folder)
        self._rows = self._snapshot.every_version()
        self.settings = self._snapshot.settings
        self.channels = self._snapshot.channels

    @property
    def digest(self) -> str:
        """The same for the same documents with the same channels."""
        found = hashlib.sha256(orjson.dumps([self._snapshot.generation, self._channel_settings()]))
        for document in self._documents():
            found.update(repr(document).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def divide(self, store: ClusterStore, build: str, generation: str, shards: int) -> Division:
        """Write the documents of every shard, and its rows of every channel, to the store."""
        parts, versions = _write_documents(store, build, self._documents(), shards)
        owners = np.array([owner(document_id(id), shards) for id in self._rows.ids], dtype=np.int32)
        for channel in self.channels:
            self._divide_channel(channel, owners, [ChannelBlocks(store, build, generation, at, channel) for at in range(shards)])
        return Division(parts, versions=versions, channels=self._channel_settings(), distributions=self._snapshot.distributions)

    def close(self) -> None:
        """Close the index."""
        self._snapshot.close()

    def _channel_settings(self) -> dict[str, Any]:
        return {name: self._snapshot.channel(name).named.settings.as_json() for name in self.channels}

    def _documents(self) -> Iterator[Document]:
        ids = self._rows.ids
        if self._snapshot.has_history:
            yield from (self._snapshot.with_history(id) for id in ids if id == document_id(id))
            return
        for first in range(0, len(ids), BLOCK):
            yield from self._snapshot.documents(ids[first : first + BLOCK])

    def _divide_channel(self, channel: str, owners: I32, blocks: Sequence[ChannelBlocks]) -> None:
        """Give every shard the rows of its documents, part by part; the first part also if it has none of them.

        Counts of what was encoded, and the time, are divided in proportion to the documents.
        """
        named, parts = self._rows.channel(channel)
        places = self._rows.channel_numbering(channel).places
        counts, total, done, base = np.array([named.passages, named.cut]), max(int((places >= 0).sum()), 1), 0, 0
        for number, part in enumerate(parts):
            numbers = places[base : base + len(part.serials)]
            base += len(part.serials)
            for shard, target in enumerate(blocks):
                kept = (numbers >= 0) & (owners[np.maximum(numbers, 0)] == shard)
                if number and not kept.any():
                    continue
                ids = [self._rows.ids[at] for at in numbers[kept].tolist()]
                passages, cut = (counts * (done + len(ids)) // total - counts * done // total).tolist()
                content = _kept_rows(part, kept)
                target.upload(ids, EncodedBlock(content, passages, cut), named.seconds * len(ids) / total)
                done += len(ids)


def _kept_rows(part: ChannelSegment, kept: Any) -> Any:
    return type(part.content).merged([part.content], [kept])


def is_index(path: str | Path) -> bool:
    """Whether a path is an index folder.

    >>> is_index("examples/articles.csv"), is_index(snapshot.folder)
    (False, True)
    """
    return (Path(path) / FILE).is_file()


def divided(store: ClusterStore, build: str, generation: str, source: CorpusDivider | IndexDivider, shards: int) -> Division:
    """What is to be divided, in the store; what was divided before is not read again."""
    done = f"{BUILDS}/{build}/corpus.json"
    if store.exists(done):
        return Division.from_json(store.read_json(done))
    division = source.divide(store, build, generation, shards)
    store.write_json(done, asdict(division))
    return division


def _write_documents(
    store: ClusterStore, build: str, documents: Iterable[Document], shards: int
) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """The names of the files with the documents of every shard, and whether a document has several versions."""
    parts: list[list[str]] = [[] for _ in range(shards)]
    waiting: list[list[Document]] = [[] for _ in range(shards)]

    def write(shard: int) -> None:
        name = f"{BUILDS}/{build}/corpus/{shard}-{len(parts[shard]):06d}.jsonl.gz"
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as folder:
            path = Path(folder) / "part.jsonl.gz"
            write_documents(waiting[shard], path)
            store.upload(path, name)
        parts[shard].append(name)
        waiting[shard] = []

    seen: set[str] = set()
    versions = False
    for document in documents:
        versions = versions or bool(document.history) or document.id in seen  # readers refuse other repeated ids
        seen.add(document.id)
        shard = owner(document.id, shards)
        waiting[shard].append(document)
        if len(waiting[shard]) == BLOCK:
            write(shard)
    for shard, rest in enumerate(waiting):
        if rest:
            write(shard)
    return tuple(map(tuple, parts)), versions
