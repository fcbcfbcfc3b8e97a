"""Encoded blocks of the channels of an unfinished shard, in the store: any machine resumes from them.

    URI/builds/B/blocks/SHARD/CHANNEL/NAME/      files of a block
    URI/builds/B/blocks/SHARD/CHANNEL/NAME.json  its documents, and its files with their sha256; written last

A block names its documents by their ids: serial numbers belong to one index folder, and the next machine makes another.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import orjson
from pydantic import Field

from lexfuse.channels.registry import part_class
from lexfuse.cluster.cluster_manifest import Files, StoredFile
from lexfuse.cluster.store import BUILDS, ClusterStore
from lexfuse.cluster.stored_files import fetch_files, upload_files
from lexfuse.data.document import Document
from lexfuse.data.validation import Amount, Model
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.catalog import SERIAL
from lexfuse.storage.channel_store import Encode, EncodedBlock
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder

_JSON = ".json"


class StoredBlock(Model):
    """The documents of a block in their order, what encoding them took, and the files of the block."""

    ids: Annotated[tuple[str, ...], Field(strict=False)]
    passages: Amount
    cut: Amount
    seconds: float
    files: Files


@dataclass(frozen=True, slots=True)
class ChannelBlocks:
    """The blocks of one channel of one shard of an unfinished build.

    >>> blocks = ChannelBlocks(ClusterStore(str(folder / "law")), "b1", "000001-0f3a5c7e9b2d", 0, "dense")
    >>> list(blocks.stored())
    []
    """

    store: ClusterStore
    build: str
    generation: str  # that the build is for
    shard: int
    channel: str

    @property
    def folder(self) -> str:
        """Where the blocks are."""
        return f"{blocks_folder(self.build, self.shard)}/{self.channel}"

    def upload(self, ids: Sequence[str], block: EncodedBlock, seconds: float) -> None:
        """Put a block into the store, complete or not at all; the same documents again replace it."""
        name = hashlib.sha256(orjson.dumps(list(ids))).hexdigest()[:32]
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as local:
            list(block.content.save(Path(local)))
            files = upload_files(self.store, Path(local), f"{self.folder}/{name}", self.generation)
        stored = StoredBlock(ids=tuple(ids), passages=block.passages, cut=block.cut, seconds=seconds, files=files)
        self.store.write_json(f"{self.folder}/{name}{_JSON}", stored.model_dump(mode="json"))

    def stored(self) -> Iterator[tuple[str, StoredBlock]]:
        """The complete blocks of the store, each with the folder of its files."""
        for name in self.store.names(self.folder):
            if name.endswith(_JSON):
                yield f"{self.folder}/{name.removesuffix(_JSON)}", self._parsed(f"{self.folder}/{name}")

    def restore(self, index: IndexFolder, serials: Mapping[str, int]) -> int:
        """Add the documents that a channel of an index lacks from the blocks, and return how many these are.

        `serials` are the serial numbers of the documents of the index, by their ids.
        """
        restored, kind = 0, index.channels.named(self.channel).settings.kind
        for folder, block in self.stored():
            lacking = set(index.channels.pending(self.channel).tolist())
            if unknown := next((id for id in block.ids if id not in serials), None):
                raise DataError(f"names the document {unknown!r}, which the shard does not have; remove it", path=folder)
            own = np.array([serials[id] for id in block.ids], dtype=np.int64)
            if len(own) and not lacking.intersection(own.tolist()):
                continue
            with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as local:
                fetch_files(self.store, block.files, _place(folder), Path(local))
                content = part_class(kind).load(Path(local), block.files)
                if len(own):
                    index.channels.add(self.channel, own, EncodedBlock(content, block.passages, block.cut), block.seconds)
                else:  # what later parts must agree with
                    index.channels.begin(self.channel, content)
            restored += len(lacking.intersection(own.tolist()))
        return restored

    def kept(self, encode: Encode) -> Encode:
        """What encodes a block of documents, and puts it into the store before it is committed."""

        def encode_and_keep(documents: Sequence[Document]) -> EncodedBlock:
            start = time.perf_counter()
            block = encode(documents)
            self.upload([document.id for document in documents], block, time.perf_counter() - start)
            return block

        return encode_and_keep

    def _parsed(self, name: str) -> StoredBlock:
        values: Any = self.store.read_json(name)
        try:
            return StoredBlock(**values)
        except (TypeError, ConfigError) as error:
            raise DataError(f"is no block of a channel ({error}); remove it", path=f"{self.store.uri}/{name}") from None


def _place(folder: str) -> Callable[[StoredFile], str]:
    return lambda _: folder


def blocks_folder(build: str, shard: int) -> str:
    """Where a build keeps the encoded blocks of a shard.

    >>> blocks_folder("b1", 0)
    'builds/b1/blocks/0'
    """
    return f"{BUILDS}/{build}/blocks/{shard}"


def serials_by_id(index: IndexFolder) -> dict[str, int]:
    """The serial numbers of the documents of an index, by their ids; of all versions, by the ids of their rows.

    >>> with IndexFolder.create(folder / "i", documents=[Document("a"), Document("b")]) as index:
    ...     sorted(serials_by_id(index))
    ['a', 'b']
    """
    with open_snapshot(index.folder) as snapshot:
        rows = snapshot.every_version()
        return dict(zip(rows.ids, rows.column(SERIAL), strict=True))
