"""What routers ask shards. Documents are numbered as in the shard's snapshot; a mask has one flag for each of them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever, PassageVectors
from lexfuse.channels.explanation import Evidence
from lexfuse.channels.late.late_search import LateEstimates
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.cluster.shard import RetrieverPlan, Shard, given_queries
from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import DataError
from lexfuse.storage.catalog import CatalogChannel
from lexfuse.storage.history.period_counts import PeriodCounts
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.written_words import WordDocuments, WrittenWords
from lexfuse.storage.stored_channel import ChannelSettings


class ShardFacts(NamedTuple):
    """What a router must know of a shard before it asks anything."""

    ids: tuple[str, ...]
    settings: IndexSettings
    channels: tuple[CatalogChannel, ...]

    @property
    def alike(self) -> tuple[IndexSettings, list[tuple[str, ChannelSettings]]]:
        """What all shards of a cluster have in common."""
        return self.settings, [(channel.name, channel.settings) for channel in self.channels]


class Ranked(NamedTuple):
    """The rankings of a shard, as in a run."""

    offsets: I64
    doc: I32
    score: F32
    low: F64 | None


@dataclass(frozen=True, slots=True)
class DocumentCount:
    """How many documents there are."""

    def answer(self, shard: Shard) -> int:
        """The number."""
        return len(shard.snapshot)


@dataclass(frozen=True, slots=True)
class Facts:
    """The ids of the documents, the settings and the channels."""

    def answer(self, shard: Shard) -> ShardFacts:
        """What is there."""
        snapshot = shard.snapshot
        channels = tuple(snapshot.channel(name).named for name in snapshot.channels)
        return ShardFacts(snapshot.ids.names, snapshot.settings, channels)


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """One column of the catalog: the code of each document's value, and the distinct values."""

    name: str

    def answer(self, shard: Shard) -> tuple[I32, list[Any]]:
        """Codes and values."""
        return shard.snapshot.coded(self.name)


@dataclass(frozen=True, slots=True)
class HeldDocuments:
    """Which documents a channel holds."""

    channel: str

    def answer(self, shard: Shard) -> Bools:
        """One flag for each document."""
        return shard.snapshot.channel_numbering(self.channel).raw >= 0


@dataclass(frozen=True, slots=True)
class WholeDocuments:
    """Documents by their ids, in this order; without their texts if only heads are wanted."""

    ids: tuple[str, ...]
    heads: bool = False

    def answer(self, shard: Shard) -> list[Document]:
        """The documents; unknown ids are skipped among heads."""
        return shard.snapshot.heads(self.ids) if self.heads else shard.snapshot.documents(self.ids)


@dataclass(frozen=True, slots=True)
class HeldVersions:
    """Those of some documents that the shard has in any version: that of its day, or else the newest."""

    ids: tuple[str, ...]
    heads: bool = False

    def answer(self, shard: Shard) -> list[Document]:
        """The documents, without their texts if only heads are wanted."""
        found = shard.snapshot.heads(self.ids)
        return found if self.heads else shard.snapshot.documents([head.id for head in found])


@dataclass(frozen=True, slots=True)
class AllVersions:
    """All versions of a document."""

    id: str

    def answer(self, shard: Shard) -> list[Document]:
        """The versions, the oldest first; none if the shard does not have the document."""
        return shard.snapshot.history(self.id) if shard.snapshot.heads([self.id]) else []


@dataclass(frozen=True, slots=True)
class FirstKnownDay:
    """The day from which an index knows a document, or knows that there was none."""

    id: str

    def answer(self, shard: Shard) -> list[datetime.date | None]:
        """The day; nothing if the shard does not have the document."""
        return [shard.snapshot.first_known_day(self.id)] if shard.snapshot.heads([self.id]) else []


@dataclass(frozen=True, slots=True)
class KnownPeriods:
    """When versions come into force and cease."""

    def answer(self, shard: Shard) -> PeriodCounts:
        """The days, without the documents."""
        return shard.snapshot.timeline().counts


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How often each word occurs in the documents."""

    def answer(self, shard: Shard) -> dict[str, int] | None:
        """The words with their numbers; None where an older LexFuse wrote a segment."""
        words = shard.snapshot.written_words
        return None if words is None else words.counts()


@dataclass(frozen=True, slots=True)
class FirstDocument:
    """The lowest id of a document with a word."""

    word: str

    def answer(self, shard: Shard) -> str:
        """The id, "" if no document has the word."""
        return _words(shard).first_document(self.word)


@dataclass(frozen=True, slots=True)
class WordsTogether:
    """How many documents have each word, and how many have all other words too."""

    words: tuple[str, ...]
    others: tuple[str, ...]

    def answer(self, shard: Shard) -> list[WordDocuments]:
        """The numbers for each word."""
        return _words(shard).together(self.words, self.others)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The best k documents for queries that the router has read, among those the mask allows."""

    plan: RetrieverPlan
    queries: tuple[str, ...]  # their ids
    encoded: Any
    k: int
    mask: bytes | None = None  # bits

    def answer(self, shard: Shard) -> Ranked:
        """Rankings."""
        within = _allowed(shard, self.mask)
        run = shard.retriever(self.plan).rank(_unread(self.queries), self.encoded, self.k, within=within)
        return Ranked(run.offsets, run.doc, run.score, run.low)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateEstimates:
    """The documents by whose estimates the router chooses candidates of late interaction."""

    plan: RetrieverPlan
    encoded: Any
    number: int  # of candidates
    mask: bytes | None = None  # bits

    def answer(self, shard: Shard) -> list[LateEstimates]:
        """The estimates for each query."""
        late = cast(LateRetriever, shard.retriever(self.plan))
        return late.estimates(self.encoded, self.number, within=_allowed(shard, self.mask))


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """The exact scores of documents for queries that the router has read."""

    plan: RetrieverPlan
    queries: tuple[str, ...]
    encoded: Any
    offsets: I64  # of the documents of each query
    doc: I32

    def answer(self, shard: Shard) -> F32:
        """A score for each pair, NaN where the channel does not hold the document."""
        queries, none = _unread(self.queries), np.zeros(len(self.doc), dtype=np.float32)
        with given_queries(self.encoded):
            pairs = Run("pairs", queries.ids, shard.snapshot.ids, self.offsets, self.doc, none)
            return shard.retriever(self.plan).score(queries, pairs)


@dataclass(frozen=True, slots=True, eq=False)
class DocumentEvidence:
    """What a retriever compares in documents with a query that the router has read."""

    plan: RetrieverPlan
    encoded: Any
    docs: tuple[str, ...]

    def answer(self, shard: Shard) -> list[Evidence]:
        """The evidence of each document."""
        with given_queries(self.encoded):
            return shard.retriever(self.plan).evidence(Query("q", ""), self.docs)


@dataclass(frozen=True, slots=True, eq=False)
class NearestTokens:
    """The token of each document that is most similar to each token of a query; empty where it is not encoded."""

    plan: RetrieverPlan
    vectors: F32
    docs: tuple[str, ...]

    def answer(self, shard: Shard) -> list[list[tuple[int, float]]]:
        """Place and similarity of the token for each token of the query."""
        late = cast(LateRetriever, shard.retriever(self.plan))
        raws = late.numbering.raw[[shard.snapshot.ids.ordinal(doc) for doc in self.docs]].tolist()
        found = [late.search.matches(self.vectors, raw) if raw >= 0 else [] for raw in raws]
        return [[(met.token, met.similarity) for met in matches] for matches in found]


@dataclass(frozen=True, slots=True)
class RetrieverBounds:
    """Infimum and supremum of the scores of a retriever."""

    plan: RetrieverPlan

    def answer(self, shard: Shard) -> ScoreBounds:
        """The bounds for the documents of the shard."""
        return shard.retriever(self.plan).bounds


@dataclass(frozen=True, slots=True, eq=False)
class DocumentPassages:
    """The passages of documents with their vectors."""

    plan: RetrieverPlan
    docs: Sequence[int]

    def answer(self, shard: Shard) -> list[PassageVectors]:
        """The passages of each document."""
        return cast(PassageRetriever, shard.retriever(self.plan)).passages_of(self.docs)


@dataclass(frozen=True, slots=True)
class PassageCounts:
    """How many passages each document of a channel has."""

    plan: RetrieverPlan

    def answer(self, shard: Shard) -> I64:
        """The numbers."""
        return cast(PassageRetriever, shard.retriever(self.plan)).passage_counts


@dataclass(frozen=True, slots=True)
class Preparation:
    """Make now what a shard that has answered for a while has made."""

    plan: RetrieverPlan

    def answer(self, shard: Shard) -> None:
        """Nothing."""
        shard.retriever(self.plan).prepare()


def _allowed(shard: Shard, mask: bytes | None) -> Bools | None:
    """The flags of the documents of a shard."""
    if mask is None:
        return None
    return np.unpackbits(np.frombuffer(mask, dtype=np.uint8), count=len(shard.snapshot)).view(np.bool_)


def _words(shard: Shard) -> WrittenWords:
    """The words of a shard that has counted them."""
    if (words := shard.snapshot.written_words) is None:
        raise DataError("a segment of a shard has no positions of words; build the cluster again")
    return words


def _unread(ids: tuple[str, ...]) -> Queries:
    """Queries whose texts stay at the router."""
    return Queries.of(Query(id, "") for id in ids)
