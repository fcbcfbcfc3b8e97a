"""A snapshot: one state of an index, unaffected by later writes.

Everything above the storage reads a `Snapshot`, wherever the index is: in a folder (`folder_snapshot`), in PostgreSQL or in a
cluster.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.data.columns.metadata_columns import MetadataColumn, metadata_columns
from lexfuse.data.document import Document
from lexfuse.data.ids import Ids
from lexfuse.storage.catalog import CatalogChannel
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.written_words import WrittenWords
from lexfuse.storage.stored_channel import ChannelSegment

Made = TypeVar("Made")


class ChannelState(NamedTuple):
    """A channel in a snapshot."""

    named: CatalogChannel
    parts: list[ChannelSegment]


class DerivedValues:
    """Values that are made of the documents of a snapshot, by name, each when it is first asked for; safe for many threads.

    >>> values = DerivedValues()
    >>> values.get("length", lambda: len("loi")), values.get("length", lambda: 0)
    (3, 3)
    """

    def __init__(self) -> None:
        """Nothing is made yet."""
        self._lock = RLock()  # one value may be made of others
        self._made: dict[str, Any] = {}

    def get(self, name: str, make: Callable[[], Made]) -> Made:
        """The value of a name."""
        if name not in self._made:
            with self._lock:
                if name not in self._made:
                    self._made[name] = make()
        made: Made = self._made[name]
        return made


class Snapshot(ABC):
    """A state of an index: its documents by number, their fields, and its channels.

    >>> len(snapshot), snapshot.ids[0], snapshot.document("lib-1").number
    (6, 'lib-1', 'L1')
    """

    place: str | Path  # of its documents, for messages
    generation: int
    settings: IndexSettings
    change_command: ClassVar[str] = "lexfuse index INDEX"  # the command that changes the index, for messages
    day: datetime.date = datetime.date.max  # whose versions it shows, where documents have versions
    has_history: bool = False  # whether documents have versions, of which it shows those that are in force on a day

    if TYPE_CHECKING:  # fields or properties of a subclass

        @property
        def ids(self) -> Ids:
            """Ids of the live documents by number."""

        @property
        def numbering(self) -> Numbering:
            """The raw numbers of the documents where their words are stored."""

        @property
        def channels(self) -> tuple[str, ...]:
            """Names of the channels in addition to the words."""

        @property
        def distributions(self) -> dict[str, Any]:
            """The stored score distributions as plain values (see `lexfuse.channels.distribution`)."""

    @abstractmethod
    def channel(self, name: str) -> ChannelState:
        """A channel; `NotFoundError` lists the existing ones."""

    @abstractmethod
    def channel_numbering(self, name: str) -> Numbering:
        """The raw numbers of the documents in the parts of a channel."""

    @abstractmethod
    def postings(self, channel: str) -> Postings:
        """The posting lists of the words (`bm25`), or of a channel of learned sparse vectors."""

    def retriever_class(self, usual: type[Made]) -> type[Made]:
        """The class of the retrievers that search this snapshot: the usual one; in a cluster one that asks the shards."""
        return usual

    @abstractmethod
    def forget_impacts(self) -> None:
        """Release the scores computed for every posting; they are computed again on demand."""

    @abstractmethod
    def channel_bytes(self, name: str) -> int:
        """The bytes that a channel takes; of the words and citations, what they take together."""

    @abstractmethod
    def coded(self, name: str) -> tuple[I32, list[Any]]:
        """One column of the catalog: the code of each live document's value, and the distinct values."""

    @cached_property
    def _derived(self) -> DerivedValues:
        return DerivedValues()

    def derived(self, name: str, make: Callable[[], Made]) -> Made:
        """A value that is made of the documents alone; a later snapshot with the same documents has it too.

        It must not keep this snapshot, which may be closed before.

        >>> snapshot.derived("codes", lambda: len(set(snapshot.column("code"))))
        1
        """
        return self._derived.get(name, make)

    @property
    def written_words(self) -> WrittenWords | None:
        """The words of the documents; None in PostgreSQL, and where an older LexFuse wrote a segment."""
        return None

    def column(self, name: str) -> list[Any]:
        """One catalog column of every live document by number, as stored."""
        codes, values = self.coded(name)
        return [values[code] for code in codes.tolist()]

    def epoch(self, day: datetime.date) -> int:
        """A number that two days share if the same versions are in force on both."""
        return 0

    def on(self, day: datetime.date) -> Snapshot:
        """The same state with the versions in force on another day; itself where documents have no versions."""
        return self

    def history(self, id: str) -> list[Document]:
        """All versions of a document, the oldest first; `NotFoundError` for an unknown id.

        >>> [str(version.valid_from) for version in snapshot.history("lib-1")]
        ['2020-01-01']
        """
        return [self.document(id)]

    def first_known_day(self, id: str) -> datetime.date | None:
        """The day from which the index knows a document, or knows that there was none; None for all days.

        >>> str(snapshot.first_known_day("lib-1"))
        '2020-01-01'
        """
        return self.history(id)[0].valid_from

    def coverage(self, day: datetime.date) -> DayCoverage:
        """How many documents are in force on a day, and how many are known only from a later day on.

        >>> snapshot.coverage(datetime.date(2019, 12, 31)).unknown  # every article is valid from 2020 on
        6
        """
        (starts, first), (ends, last) = self.coded("valid_from"), self.coded("valid_to")
        written = day.isoformat()
        later = np.array([value is not None and value > written for value in first], dtype=np.bool_)[starts]
        ended = np.array([value is not None and value <= written for value in last], dtype=np.bool_)[ends]
        return DayCoverage(day, len(self), int((~later & ~ended).sum()), int(later.sum()))

    @property
    def metadata(self) -> Mapping[str, MetadataColumn]:
        """The fields that only this corpus has, by name; read when they are first asked for."""
        return self.derived("metadata", lambda: metadata_columns(*self.coded("extra")))

    def document(self, id: str) -> Document:
        """A whole document; `NotFoundError` for an unknown id."""
        return self.documents([id])[0]

    @abstractmethod
    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order."""

    @abstractmethod
    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without their texts, in this order, for lists; unknown ids are skipped."""

    @abstractmethod
    def close(self) -> None:
        """Close what it reads from."""

    def __enter__(self) -> Self:
        """Use as a context that closes."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close."""
        self.close()

    def __len__(self) -> int:
        """The number of live documents."""
        return len(self.ids)


def numbered(values: Iterable[Any]) -> tuple[I32, list[Any]]:
    """Values as numbers of the distinct ones, in order of first occurrence.

    >>> codes, distinct = numbered(["fr", "en", "fr"])
    >>> codes.tolist(), distinct
    ([0, 1, 0], ['fr', 'en'])
    """
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = np.fromiter(map(numbers.__getitem__, values), dtype=np.int32)
    return codes, list(numbers)
