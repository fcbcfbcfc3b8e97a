"""Parts of a channel: what it keeps of a block of documents, as immutable files, named by the documents' serial numbers.

A serial number stands for one version of a document: an update gives it a new one. So a channel is filled while others
search, goes on where it stopped, and never shows what an older text said; merging segments does not touch it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.data.files import make_folder
from lexfuse.errors import DataError
from lexfuse.storage.array_file import map_array, save_array
from lexfuse.storage.channel_data.stored_part import NO_OPTIONS, Option, StoredPart, kind_registry
from lexfuse.storage.manifest import read_manifest, write_manifest

SERIALS = "serials.npy"


@dataclass(frozen=True, slots=True, eq=False)
class ChannelSegment:
    """The serial numbers of documents, each once, and what the channel keeps of each."""

    serials: I64
    content: StoredPart

    def save(self, folder: Path, options: Mapping[str, Option] = NO_OPTIONS) -> str:
        """Write all files, then the manifest, force them to disk, and return the sha256 of the manifest."""
        make_folder(folder.parent)
        folder.mkdir()
        files = [save_array(folder / SERIALS, self.serials), *self.content.save(folder, options)]
        return write_manifest(folder, files)

    @classmethod
    def load(cls, kind: str, folder: Path, sha256: str) -> ChannelSegment:
        """Map a part into memory; what is missing or cannot be is named."""
        names = read_manifest(folder, sha256)["files"]
        serials, content = map_array(folder / SERIALS, np.int64), kind_registry().part_class(kind).load(folder, names)
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
