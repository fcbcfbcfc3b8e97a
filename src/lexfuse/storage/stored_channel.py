"""What a stored channel is: its settings, which never change, and its parts, one for each block of documents.

A part has immutable files and the serial numbers of its documents. A serial number identifies one version of a document: an
update gives it a new one. So a channel is filled while others search, goes on where it stopped, and never shows what an older
text said; merging segments does not touch it.

The kinds of channels are above the storage, so it imports none of them: it finds their registry by its name when it opens a
channel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, Self

import numpy as np

from lexfuse.data.arrays import I64, Bools
from lexfuse.data.files import make_folder
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.array_file import map_array, save_array
from lexfuse.storage.folder_names import CHANNEL_NAME
from lexfuse.storage.manifest import read_manifest, write_manifest
from lexfuse.storage.segments.inverted_file import InvertedFile

Option = str | int | float | bool
NO_OPTIONS: Mapping[str, Option] = MappingProxyType({})
REGISTRY = "lexfuse.channels.registry"
SERIALS = "serials.npy"


class StoredPart(Protocol):
    """The content of a channel's segment; each kind has a class for it."""

    def __len__(self) -> int:
        """How many documents it holds."""

    def save(self, folder: Path, options: Mapping[str, Option] = NO_OPTIONS) -> Iterator[Path]:
        """Write the files into a folder and yield each; ``options`` are those of the channel."""

    @classmethod
    def load(cls, folder: Path, files: Collection[str] = ()) -> Self:
        """Map the files of a folder into memory; ``files`` are those that its manifest names."""

    @property
    def inverted(self) -> InvertedFile | None:
        """The posting lists, where the part has some."""

    @property
    def posting_rows(self) -> I64 | None:
        """How many rows of the posting lists each document has, if these are of passages; else None."""

    @classmethod
    def merged(cls, parts: Sequence[Any], kept: Sequence[Bools]) -> Self:
        """The documents that are kept of several, one after the other."""


def kind_registry() -> Any:
    """The module with the registry of the kinds of channels, imported on first use.

    >>> kind_registry().part_class("dense").__name__
    'VectorPart'
    """
    return import_module(REGISTRY)


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Choices that documents and queries of a channel must share, with the fingerprints of the models they were encoded by."""

    kind: str  # of what is stored: the name of a kind that `lexfuse.channels.registry` knows
    model: str  # as the user named it: a folder, a hub id, a registry package or a model of this package
    fingerprint: str
    query_model: str = ""  # where queries have another model
    query_fingerprint: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)  # those of the encoder and of the storage

    @property
    def two_towers(self) -> bool:
        """Whether queries have another model than documents."""
        return bool(self.query_model)

    def as_json(self) -> dict[str, Any]:
        """Plain values.

        >>> settings = ChannelSettings("late", "model", "00", options={"bits": 2})
        >>> ChannelSettings.from_json(settings.as_json()) == settings
        True
        """
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return values | {"options": dict(self.options)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ChannelSettings:
        """Settings from plain values; a `DataError` if they are damaged.

        >>> ChannelSettings.from_json({})
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: the settings of a channel are damaged ('kind'); drop the channel and make it again
        """
        try:
            if not isinstance(values["kind"], str):
                raise TypeError(f"kind is {values['kind']!r}")
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the settings of a channel are damaged ({error}); drop the channel and make it again") from None


def checked_name(name: str) -> str:
    """A name that a channel may have; it is the name of a folder too.

    >>> checked_name("bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a channel cannot be called 'bm25'; take small letters, digits and hyphens, not bm25, ...
    """
    reserved: tuple[str, ...] = kind_registry().builtin_channels()
    if not CHANNEL_NAME.fullmatch(name) or name in reserved:
        expected = f"take small letters, digits and hyphens, not {', '.join(reserved)}"
        raise ConfigError(f"a channel cannot be called {name!r}; {expected}")
    return name


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
        serials = map_array(folder / SERIALS, np.int64)
        content: StoredPart = kind_registry().part_class(kind).load(folder, names)
        if len(content) != len(serials) or len(np.unique(serials)) != len(serials):
            raise DataError("the files do not belong together; drop the channel and make it again", path=folder)
        return cls(serials, content)


def merged_parts(parts: Sequence[ChannelSegment], living: I64) -> ChannelSegment:
    """One part of several, with the documents that are not deleted, in their order.

    >>> from lexfuse.channels.dense.stored_part import VectorPart
    >>> parts = [ChannelSegment(np.array([serial]), VectorPart.of(np.ones((1, 2), np.float32))) for serial in (4, 7)]
    >>> merged_parts(parts, np.array([2, 7])).serials.tolist()
    [7]
    """
    kept = [np.isin(part.serials, living, assume_unique=True) for part in parts]
    serials = np.concatenate([part.serials[flags] for part, flags in zip(parts, kept, strict=True)])
    return ChannelSegment(serials, type(parts[0].content).merged([part.content for part in parts], kept))
