"""Parts of a channel: what it keeps of a block of documents, as immutable files, named by the documents' serial numbers.

A serial number stands for one version of a document: an update gives it a new one. So a channel is filled while others
search, goes on where it stopped, and never shows what an older text said; merging segments does not touch it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol, Self

import numpy as np

from lexfuse.data.arrays import I64, Bools
from lexfuse.data.files import make_folder
from lexfuse.errors import DataError
from lexfuse.storage.array_file import map_array, save_array
from lexfuse.storage.channel_data.channel_settings import ChannelKind
from lexfuse.storage.manifest import read_manifest, write_manifest
from lexfuse.storage.segments.inverted_file import InvertedFile

SERIALS = "serials.npy"
_PART_CLASSES = {  # plug-ins of the storage, by name: it imports none of them itself
    ChannelKind.DENSE: "lexfuse.channels.dense.stored_part:VectorPart",
    ChannelKind.SPARSE: "lexfuse.channels.sparse.stored_part:SparsePart",
    ChannelKind.LATE: "lexfuse.channels.late.stored_part:TokenPart",
}


class StoredPart(Protocol):
    """What the content of a part can do; one class for each kind of channel.

    >>> hasattr(StoredPart, "merged")
    True
    """

    def __len__(self) -> int:
        """How many documents it holds."""

    def save(self, folder: Path, *, clustered: bool = False) -> Iterator[Path]:
        """Write the files into a folder and yield each; with ``clustered`` also what approximate search needs."""

    @classmethod
    def load(cls, folder: Path, files: Collection[str] = ()) -> Self:
        """Map the files of a folder into memory; ``files`` are those that its manifest names."""

    @property
    def inverted(self) -> InvertedFile | None:
        """The posting lists, where the part has some."""

    @classmethod
    def merged(cls, parts: Sequence[Any], kept: Sequence[Bools]) -> Self:
        """The documents that are kept of several, one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class ChannelSegment:
    """The serial numbers of documents, each once, and what the channel keeps of each.

    >>> ChannelSegment.__slots__
    ('serials', 'content')
    """

    serials: I64
    content: StoredPart

    def save(self, folder: Path, *, clustered: bool = False) -> str:
        """Write all files, then the manifest, force them to disk, and return the sha256 of the manifest."""
        make_folder(folder.parent)
        folder.mkdir()
        files = [save_array(folder / SERIALS, self.serials), *self.content.save(folder, clustered=clustered)]
        return write_manifest(folder, files)

    @classmethod
    def load(cls, kind: ChannelKind, folder: Path, sha256: str) -> ChannelSegment:
        """Map a part into memory; what is missing or cannot be is named."""
        names = read_manifest(folder, sha256)["files"]
        serials, content = map_array(folder / SERIALS, np.int64), part_class(kind).load(folder, names)
        if len(content) != len(serials) or len(np.unique(serials)) != len(serials):
            raise DataError("the files do not belong together; drop the channel and make it again", path=folder)
        return cls(serials, content)


def merged_parts(parts: Sequence[ChannelSegment], living: I64) -> ChannelSegment:
    """One part of several, with the documents that are still alive, in the order they came.

    >>> from lexfuse.channels.dense.stored_part import VectorPart
    >>> parts = [ChannelSegment(np.array([serial]), VectorPart.of(np.ones((1, 2), np.float32))) for serial in (4, 7)]
    >>> merged_parts(parts, np.array([2, 7])).serials.tolist()
    [7]
    """
    kept = [np.isin(part.serials, living, assume_unique=True) for part in parts]
    serials = np.concatenate([part.serials[flags] for part, flags in zip(parts, kept, strict=True)])
    return ChannelSegment(serials, type(parts[0].content).merged([part.content for part in parts], kept))


def part_class(kind: ChannelKind) -> type[StoredPart]:
    """The class of a kind's stored parts, imported on first use.

    >>> part_class(ChannelKind.DENSE).__name__
    'VectorPart'
    """
    found: type[StoredPart] = resolve_name(_PART_CLASSES[kind])
    return found
