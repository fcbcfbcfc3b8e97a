"""Parts of a channel: what it keeps of a block of documents, as immutable files, named by the documents' serial numbers.

A serial number stands for one version of a document: an update gives it a new one. So a channel is filled while others
search, goes on where it stopped, and never shows what an older text said; merging segments does not touch it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from lexfuse.data.arrays import I64, Bools
from lexfuse.data.files import make_folder
from lexfuse.errors import DataError
from lexfuse.index.channel import ChannelKind
from lexfuse.index.clusters import Clusters
from lexfuse.index.manifest import read_manifest, write_manifest
from lexfuse.index.mapping import mapped, save_array
from lexfuse.index.vectors import VectorPart

SERIALS = "serials.npy"
CLUSTERED_FROM = 10_000  # vectors of a part: fewer are scanned sooner than clusters are chosen


class Content(Protocol):
    """What the content of a part can do; one class for each kind of channel.

    >>> hasattr(Content, "merged")
    True
    """

    def __len__(self) -> int:
        """How many documents it holds."""

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the files into a folder and tell each."""

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map the files of a folder into memory."""

    @classmethod
    def merged(cls, parts: Sequence[Any], kept: Sequence[Bools]) -> Self:
        """The documents that are kept of several, one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The serial numbers of documents, each once, and what the channel keeps of each.

    >>> Part.__slots__
    ('serials', 'content', 'clusters')
    """

    serials: I64
    content: Content
    clusters: Clusters | None = None  # of vectors, where the channel is to be searched by clusters

    def save(self, folder: Path, *, clustered: bool = False) -> str:
        """Write all files, then the manifest, force them to disk, and give the sha256 of the manifest.

        With ``clustered``, the rows of a large part of vectors are put into clusters too.
        """
        make_folder(folder.parent)
        folder.mkdir()
        files = [save_array(folder / SERIALS, self.serials), *self.content.save(folder)]
        if clustered and isinstance(self.content, VectorPart) and self.content.rows >= CLUSTERED_FROM:
            files += Clusters.of(self.content).save(folder)
        return write_manifest(folder, files)

    @classmethod
    def load(cls, kind: ChannelKind, folder: Path, sha256: str) -> Part:
        """Map a part into memory; what is missing or cannot be is named."""
        names = read_manifest(folder, sha256)["files"]
        serials, content = mapped(folder / SERIALS, np.int64), content_class(kind).load(folder)
        if len(content) != len(serials) or len(np.unique(serials)) != len(serials):
            raise DataError("the files do not belong together; drop the channel and make it again", path=folder)
        if isinstance(content, VectorPart) and any(name.startswith("clusters.") for name in names):
            return cls(serials, content, Clusters.load(folder, content))
        return cls(serials, content)


def merged_parts(parts: Sequence[Part], living: I64) -> Part:
    """One part of several, with the documents that are still alive, in the order they came.

    >>> parts = [Part(np.array([serial]), VectorPart.of(np.ones((1, 2), np.float32))) for serial in (4, 7)]
    >>> merged_parts(parts, np.array([2, 7])).serials.tolist()
    [7]
    """
    kept = [np.isin(part.serials, living, assume_unique=True) for part in parts]
    serials = np.concatenate([part.serials[flags] for part, flags in zip(parts, kept, strict=True)])
    return Part(serials, type(parts[0].content).merged([part.content for part in parts], kept))


def content_class(kind: ChannelKind) -> type[Content]:
    """The class of a channel's content.

    >>> content_class(ChannelKind.DENSE).__name__
    'VectorPart'
    """
    if kind is ChannelKind.DENSE:
        return VectorPart
    if kind is ChannelKind.SPARSE:
        from lexfuse.index.impacts import SparsePart

        return SparsePart
    from lexfuse.index.tokenvectors import TokenPart

    return TokenPart
