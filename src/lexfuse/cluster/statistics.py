"""Statistics of the terms of all shards: what makes the scores of a shard those of the whole collection.

BM25, TF-IDF and the choice of informative terms depend on how many documents hold a term, how often it occurs, and how long
documents are. A shard that is searched with the numbers of all shards gives the scores that one index of all documents gives.
All shards number terms alike, so that a question is read once, at the router.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lexfuse.channels.lexical.field_frequencies import FieldFrequencies
from lexfuse.cluster.term_changes import RowPeriods, TermChanges
from lexfuse.data.arrays import F32, F64, I64, Bools, read_only
from lexfuse.data.files import make_folder
from lexfuse.errors import DataError
from lexfuse.storage.array_file import map_array, save_array
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.segments.shared_postings import JoinedLists, Lists
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.string_list import StringList

_SUMS, _CHANGES = "statistics.json", "changes"
_DISTRIBUTIONS = "distributions.json"
_COUNT, _LENGTH, _FIELD = "documents", "length", "field-"  # sums over the documents of a day
_TERMS, _DOCUMENTS, _OCCURRENCES = "terms", "document_frequency.npy", "collection_frequency.npy"


@dataclass(frozen=True, eq=False)
class TermStatistics:
    """The statistics of one channel of terms, words or learned ones; where documents have versions, of all of them.

    >>> own = TermStatistics.of(snapshot.postings("bm25"))
    >>> both = TermStatistics.merged([own, own])
    >>> both.documents, both.mean_length == snapshot.postings("bm25").mean_length
    (12, True)
    """

    terms: StringList  # sorted
    document_frequency: I64
    collection_frequency: F64
    documents: int
    length: float  # of all documents together
    field_lengths: Mapping[str, float] = field(default_factory=dict)  # the same for each field; empty without positions
    versions: bool = False  # whether documents have versions
    changes: TermChanges | None = None  # from day to day; a shard may have them where only other shards have versions

    @classmethod
    def of(cls, postings: Postings) -> TermStatistics:
        """The statistics of the posting lists of one shard."""
        terms = StringList.of(sorted(postings.vocabulary))
        places = terms.find_all(postings.vocabulary, len(postings.vocabulary))
        frequency, occurrences = np.zeros(len(terms), dtype=np.int64), np.zeros(len(terms))
        frequency[places], occurrences[places] = postings.document_frequency, postings.collection_frequency
        length = float(postings.lengths[postings.alive].sum(dtype=np.float64))
        return cls(terms, read_only(frequency), read_only(occurrences), postings.documents, length)

    @classmethod
    def merged(cls, shards: Sequence[TermStatistics], *, versions: bool = False) -> TermStatistics:
        """The sums over shards; with those of every day if documents of any shard have versions."""
        terms = StringList.of(sorted({term for shard in shards for term in shard.terms.strings()}))
        frequency, occurrences = np.zeros(len(terms), dtype=np.int64), np.zeros(len(terms))
        places = [terms.find_all(shard.terms.strings(), len(shard.terms)) for shard in shards]
        for shard, own in zip(shards, places, strict=True):
            frequency[own] += shard.document_frequency
            occurrences[own] += shard.collection_frequency
        documents, length = sum(shard.documents for shard in shards), sum(shard.length for shard in shards)
        lengths = {name: sum(one.field_lengths.get(name, 0.0) for one in shards) for name in shards[0].field_lengths}
        whole = all(one.field_lengths or not one.documents for one in shards)
        found = cls(terms, read_only(frequency), read_only(occurrences), documents, length, lengths if whole else {}, versions)
        if not versions:
            return found
        dated = [(shard.changes, own) for shard, own in zip(shards, places, strict=True) if shard.changes is not None]
        if len(dated) < len(shards):
            raise DataError("a shard has no statistics of days, and another one has versions; build the cluster again")
        return replace(found, changes=TermChanges.merged(dated))

    def on(self, day: datetime.date) -> TermStatistics:
        """The statistics of the documents in force on a day; itself where documents have no versions."""
        if self.changes is None:
            return self
        frequency, occurrences, sums = self.changes.on(day, len(self.terms))
        fields = {name: sums[f"{_FIELD}{name}"] for name in self.field_lengths}
        return TermStatistics(self.terms, frequency, occurrences, round(sums[_COUNT]), sums[_LENGTH], fields)

    @property
    def mean_length(self) -> float:
        """Mean length of documents."""
        return self.length / self.documents if self.documents else 0.0

    @cached_property
    def file(self) -> InvertedFile:
        """The terms as a file without documents, which comes before the files of a shard and so numbers its terms."""
        none = np.empty(0, dtype=np.int32)
        offsets, weights = np.zeros(len(self.terms) + 1, dtype=np.int64), np.empty(0, dtype=np.float32)
        return InvertedFile(self.terms, offsets, none, weights, weights)

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the files into a folder, yielding each path."""
        make_folder(folder)
        yield from self.terms.save(folder / _TERMS)
        yield save_array(folder / _DOCUMENTS, self.document_frequency)
        yield save_array(folder / _OCCURRENCES, self.collection_frequency)
        path = folder / _SUMS
        sums = {"documents": self.documents, "length": self.length, "fields": dict(self.field_lengths)}
        path.write_bytes(orjson.dumps(sums | ({"versions": True} if self.versions else {})))
        yield path
        if self.changes is not None:
            yield from self.changes.save(folder / _CHANGES)

    @classmethod
    def load(cls, folder: Path) -> TermStatistics:
        """Map saved statistics into memory; a `DataError` if the files do not belong together."""
        terms = StringList.load(folder / _TERMS)
        arrays = map_array(folder / _DOCUMENTS, np.int64), map_array(folder / _OCCURRENCES, np.float64)
        try:
            sums = orjson.loads((folder / _SUMS).read_bytes())
            documents, length = int(sums["documents"]), float(sums["length"])
            fields = {str(name): float(value) for name, value in sums.get("fields", {}).items()}
            versions = bool(sums.get("versions", False))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataError(f"the statistics are damaged ({error}); publish the cluster again", path=folder / _SUMS) from None
        changes = TermChanges.load(folder / _CHANGES) if (folder / _CHANGES).is_dir() else None
        if any(len(array) != len(terms) for array in arrays) or (changes and changes.terms.max(initial=-1) >= len(terms)):
            raise DataError("the files do not belong together; publish the cluster again", path=folder)
        return cls(terms, *arrays, documents, length, fields, versions, changes)


class ClusterPostings(Postings):
    """The posting lists of a shard with the statistics of all shards; those of a router, without files, are the statistics."""

    def __init__(
        self,
        statistics: TermStatistics,
        files: Sequence[InvertedFile],
        bases: I64,
        alive: Bools,
        joined: JoinedLists | None = None,
    ) -> None:
        """Put the terms of all shards before the files of this one, so that they number the terms."""
        super().__init__([statistics.file, *files], np.concatenate((bases[:1], bases)), alive, joined)
        self._own, self._own_bases = list(files), bases
        self.statistics = statistics

    @cached_property
    def _lists(self) -> Lists:
        docs, weights, places = self._joined.of(self._own, self._own_bases)
        return Lists(docs, weights, [0, *places])

    @property
    def document_frequency(self) -> I64:
        """The number of live documents of all shards with each term."""
        return self.statistics.document_frequency

    @property
    def collection_frequency(self) -> F64:
        """The sum of each term's weights in all live documents of all shards."""
        return self.statistics.collection_frequency

    @property
    def documents(self) -> int:
        """The number of live documents of all shards."""
        return self.statistics.documents

    @property
    def mean_length(self) -> float:
        """Mean length of the live documents of all shards."""
        return self.statistics.mean_length


Statistics = Mapping[str, TermStatistics]  # by channel: the words, and every channel of learned terms


def gather_statistics(shards: Sequence[Snapshot]) -> dict[str, TermStatistics]:
    """The statistics of the words and of every channel with posting lists.

    >>> list(gather_statistics([snapshot]))
    ['bm25']
    """
    dated = any(shard.has_history for shard in shards)
    return merged_statistics([shard_statistics(shard, dated=dated) for shard in shards])


def shard_statistics(shard: Snapshot, *, dated: bool = False) -> dict[str, TermStatistics]:
    """The statistics of one shard, with those of every day if `dated`; a channel of which it holds nothing has none.

    >>> shard_statistics(snapshot, dated=True)["bm25"].on(datetime.date(2019, 12, 31)).documents  # all are of 2020 or later
    0
    """
    rows = shard.every_version() if isinstance(shard, FolderSnapshot) else shard
    fields = _field_lengths(rows)
    totals = {name: float(lengths[rows.numbering.alive].sum(dtype=np.float64)) for name, lengths in fields.items()}
    found = {}
    for name in (LEXICAL, *(name for name in rows.channels if _has_terms(rows, name))):
        own = replace(TermStatistics.of(rows.postings(name)), versions=shard.has_history)
        if name == LEXICAL:
            own = replace(own, field_lengths=totals)
        if dated:
            own = replace(own, changes=_changes(shard, rows, name, own.terms, fields if name == LEXICAL else {}))
        found[name] = own
    return found


def _changes(shard: Snapshot, rows: Snapshot, channel: str, terms: StringList, fields: Mapping[str, F32]) -> TermChanges:
    if not isinstance(shard, FolderSnapshot) or not isinstance(rows, FolderSnapshot):
        raise TypeError("only an index folder has the periods of its versions")
    postings = rows.postings(channel)
    numbering = rows.numbering if channel == LEXICAL else rows.channel_numbering(channel)
    timeline = shard.timeline()
    raw = numbering.raw[rows.catalog_numbers()[timeline.rows]]
    held = raw >= 0  # a channel may lack documents
    periods = RowPeriods(raw[held].astype(np.int64), timeline.starts[held], timeline.ends[held])
    lengths = {_COUNT: np.ones(len(numbering), dtype=np.float32), _LENGTH: postings.lengths}
    lengths |= {f"{_FIELD}{name}": own for name, own in fields.items()}
    return TermChanges.of(postings, terms.find_all(postings.vocabulary, len(postings.vocabulary)), periods, lengths)


def _field_lengths(shard: Snapshot) -> dict[str, F32]:
    """The terms in each field of every stored document; nothing if a part of the shard has no positions."""
    if not isinstance(shard, FolderSnapshot) or any(segment.positions is None for segment in shard.segments):
        return {}
    counts = FieldFrequencies(shard)
    return {name: counts.lengths(name) for name in shard.settings.fields}


def _has_terms(shard: Snapshot, channel: str) -> bool:
    return any(part.content.inverted is not None for part in shard.channel(channel).parts)


def merged_statistics(shards: Sequence[Statistics]) -> dict[str, TermStatistics]:
    """The statistics of all shards from those of each.

    >>> own = gather_statistics([snapshot])
    >>> merged_statistics([own, own])["bm25"].documents
    12
    """
    names = dict.fromkeys(name for statistics in shards for name in statistics)
    versions = any(one[LEXICAL].versions for one in shards)
    return {name: TermStatistics.merged([one[name] for one in shards if name in one], versions=versions) for name in names}


def have_days(statistics: Statistics) -> bool:
    """Whether these are statistics of every day, as documents have versions.

    >>> have_days(gather_statistics([snapshot]))
    False
    """
    return statistics[LEXICAL].changes is not None


def has_changes(files: Iterable[str]) -> bool:
    """Whether the files of statistics have those of every day, by their names.

    >>> has_changes(["bm25/statistics.json", "bm25/changes/days.npy"])
    True
    """
    return any(name.startswith(f"{LEXICAL}/{_CHANGES}/") for name in files)


def save_statistics(folder: Path, statistics: Statistics) -> list[Path]:
    """Write the statistics of every channel into a folder, and return the paths."""
    return [path for name, one in statistics.items() for path in one.save(folder / name)]


def load_statistics(folder: Path) -> dict[str, TermStatistics]:
    """Map the statistics of every channel into memory.

    >>> _ = save_statistics(folder / "statistics", gather_statistics([snapshot]))
    >>> load_statistics(folder / "statistics")["bm25"].documents
    6
    """
    if not (folder / LEXICAL).is_dir():
        raise DataError("there are no statistics of words here; publish the cluster again", path=folder)
    return {path.name: TermStatistics.load(path) for path in sorted(folder.iterdir()) if path.is_dir()}


def save_distributions(folder: Path, distributions: Mapping[str, Any]) -> None:
    """Write score distributions, by key, next to the statistics (see `lexfuse.channels.distribution`)."""
    if distributions:
        (folder / _DISTRIBUTIONS).write_bytes(orjson.dumps(dict(distributions)))


def load_distributions(folder: Path) -> dict[str, Any]:
    """The score distributions of a folder of statistics, by key; empty if none were estimated.

    >>> load_distributions(folder)
    {}
    """
    path = folder / _DISTRIBUTIONS
    try:
        found = orjson.loads(path.read_bytes()) if path.exists() else {}
    except ValueError as error:
        raise DataError(f"the distributions are damaged ({error}); publish the cluster again", path=path) from None
    if not isinstance(found, dict):
        raise DataError("the distributions are damaged; publish the cluster again", path=path)
    return found
