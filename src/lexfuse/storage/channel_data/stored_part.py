"""What a kind of channel stores of a block of documents, and where the class of a kind is found.

The kinds are above the storage, so it imports none of them: it finds their registry by its name when it opens a channel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, Self, cast

from lexfuse.data.arrays import Bools
from lexfuse.storage.segments.inverted_file import InvertedFile

Option = str | int | float | bool
NO_OPTIONS: Mapping[str, Option] = MappingProxyType({})
REGISTRY = "lexfuse.channels.registry"


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

    @classmethod
    def merged(cls, parts: Sequence[Any], kept: Sequence[Bools]) -> Self:
        """The documents that are kept of several, one after the other."""


class KindRegistry(Protocol):
    """What the storage needs to know of the kinds of channels."""

    def part_class(self, kind: str) -> type[StoredPart]:
        """The class of what a kind stores; `DataError` for a kind that is not registered."""

    def builtin_channels(self) -> tuple[str, ...]:
        """Names of the channels that every index has: no stored channel may have one of them."""


def kind_registry() -> KindRegistry:
    """The registry of the kinds of channels, imported on first use.

    >>> kind_registry().part_class("dense").__name__
    'VectorPart'
    """
    return cast(KindRegistry, import_module(REGISTRY))
