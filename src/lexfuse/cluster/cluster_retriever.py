"""Retrievers at a router: queries are read there once, every shard ranks its documents, and the rankings are merged.

A shard scores with the statistics of all shards, so a score does not depend on which shard holds a document, and the best k of
all documents are among the best k of every shard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, PassageRetriever, PassageVectors, SearchWork
from lexfuse.channels.explanation import Evidence, TokenMatch
from lexfuse.channels.late.late_search import CANDIDATES, LateEstimates, LateMode, candidate_number
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.query_context import read_once
from lexfuse.channels.retriever import Mask, ScoreBounds, checked_k, requested_pairs
from lexfuse.cluster.shard import EncoderFacts, RetrieverPlan, ShardRequest
from lexfuse.cluster.shard_requests import (
    CandidateEstimates,
    DocumentEvidence,
    DocumentPassages,
    NearestTokens,
    PairScores,
    PassageCounts,
    Preparation,
    Ranking,
    RetrieverBounds,
)
from lexfuse.data.arrays import F32, F64, I32, I64, offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import ConfigError
from lexfuse.storage.document_numbers import allowed

if TYPE_CHECKING:
    from lexfuse.cluster.cluster_snapshot import ClusterSnapshot


class SpreadRetriever(ChannelRetriever):
    """What a retriever does otherwise at a router; it comes before the usual class of the retriever."""

    snapshot: ClusterSnapshot

    @cached_property
    def plan(self) -> RetrieverPlan:
        """How shards make the same retriever."""
        usual = cast("type[ChannelRetriever]", type(self).__bases__[1])
        own: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        for name in ("snapshot", *self.router_fields):
            own.pop(name, None)
        encoder = own.pop("encoder", None)
        facts = None if encoder is None else EncoderFacts(encoder_dimension(encoder), bool(getattr(encoder, "normalises", False)))
        return RetrieverPlan(usual, tuple(own.items()), facts)

    @cached_property
    def bounds(self) -> ScoreBounds:
        """Infimum and supremum of the scores of all shards."""
        every = list(self.snapshot.all_shards(lambda _: RetrieverBounds(self.plan)).values())
        return ScoreBounds(min(one.low for one in every), max(one.high for one in every))

    def is_quick(self, queries: Queries) -> bool:
        """No: other processes answer."""
        return False

    def rank(self, queries: Queries, encoded: Any, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of all shards for queries that `read` has read before."""
        snapshot, most, asked = self.snapshot, checked_k(k), tuple(queries.ids)
        within = None if within is None else allowed(within, len(snapshot))
        answers = snapshot.all_shards(lambda shard: Ranking(self.plan, asked, encoded, most, snapshot.shard_mask(shard, within)))
        query = [np.repeat(np.arange(len(asked), dtype=np.int32), np.diff(one.offsets)) for one in answers.values()]
        doc = [snapshot.documents_of[shard][one.doc] for shard, one in answers.items()]
        score = [one.score for one in answers.values()]
        every = Run.from_arrays(
            self.name, queries.ids, snapshot.ids, np.concatenate(query), np.concatenate(doc), np.concatenate(score)
        )
        best = np.arange(len(every)) - every.offsets[every.query] < most
        low = _lowest([one.low for one in answers.values()])
        offsets = offsets_of(np.bincount(every.query[best], minlength=len(asked)).astype(np.int64))
        return Run(self.name, queries.ids, snapshot.ids, offsets, every.doc[best], every.score[best], low=low)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair in a run, in its order, by the shards that own the documents."""
        return self._exact(queries, self.read(queries), *requested_pairs(queries, pairs, self.snapshot.ids))

    def _exact(self, queries: Queries, encoded: Any, query: I32, doc: I32) -> F32:
        """The exact score of every pair for queries that `read` has read before."""
        asked, (shards, inside) = tuple(queries.ids), self.snapshot.places
        scores = np.full(len(doc), np.nan, dtype=np.float32)
        places, requests = {}, {}
        for shard in np.unique(shards[doc]).tolist():
            own = np.flatnonzero(shards[doc] == shard)
            places[shard] = own = own[np.argsort(query[own], kind="stable")]
            offsets = offsets_of(np.bincount(query[own], minlength=len(asked)).astype(np.int64))
            requests[shard] = PairScores(self.plan, asked, encoded, offsets, inside[doc[own]])
        for shard, found in self.snapshot.client.ask(requests).items() if requests else ():
            scores[places[shard]] = found
        return scores

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What the owning shards compare in each of the documents with a query."""
        encoded = self.read(Queries.of([query]))
        return self._of_owners(docs, lambda some: DocumentEvidence(self.plan, encoded, some))

    def _of_owners(self, docs: Sequence[str], request: Callable[[tuple[str, ...]], ShardRequest]) -> list[Any]:
        """What the owners of documents say about each, in order."""
        shards = self.snapshot.places[0][[self.snapshot.ids.ordinal(doc) for doc in docs]].tolist()
        owned = {shard: tuple(doc for doc, own in zip(docs, shards, strict=True) if own == shard) for shard in set(shards)}
        answers = self.snapshot.client.ask({shard: request(some) for shard, some in owned.items()}) if owned else {}
        found = {shard: iter(answer) for shard, answer in answers.items()}
        return [next(found[shard]) for shard in shards]

    def prepare(self) -> None:
        """Let every shard make what one that has answered for a while has made."""
        self.snapshot.all_shards(lambda _: Preparation(self.plan))

    def work(self, queries: Queries) -> SearchWork:
        """Not counted over shards."""
        raise ConfigError("the operations of a query are counted on one index; name the folder of a shard")


class SpreadPassages(SpreadRetriever):
    """A channel with a vector for each passage over shards."""

    def passages_of(self, docs: Sequence[int]) -> list[PassageVectors]:
        """The passages of documents, given by their numbers in the cluster."""
        shards, inside = self.snapshot.places
        asked, owner = np.asarray(docs, dtype=np.int64), shards[np.asarray(docs, dtype=np.int64)]
        requests = {
            shard: DocumentPassages(self.plan, inside[asked[owner == shard]].tolist()) for shard in np.unique(owner).tolist()
        }
        answers = self.snapshot.client.ask(requests) if requests else {}
        found = {shard: iter(answer) for shard, answer in answers.items()}
        return [next(found[shard]) for shard in owner.tolist()]

    @cached_property
    def passage_counts(self) -> I64:
        """How many passages each document of the channel has, shard after shard."""
        return np.concatenate(list(self.snapshot.all_shards(lambda _: PassageCounts(self.plan)).values()))


class SpreadLate(SpreadRetriever):
    """Late interaction over shards: candidates are chosen by the estimates of all shards, and their owners score them."""

    encoder: Any
    mode: LateMode

    def rank(self, queries: Queries, encoded: Any, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of all shards for queries that `read` has read before."""
        snapshot, most = self.snapshot, checked_k(k)
        held = snapshot.channel_numbering(self.channel).raw >= 0
        if within is not None:
            held &= allowed(within, len(snapshot))
        number = candidate_number(int(np.count_nonzero(held)), most)
        if number is None or self.mode is LateMode.BRUTE_FORCE or not len(queries):
            return super().rank(queries, encoded, k, within=within)
        found = self._estimates(encoded, number, held)
        if candidate_number(found[0].allowed, most) is None:  # documents without tokens do not count
            return super().rank(queries, encoded, k, within=within)
        order = np.arange(len(snapshot), dtype=np.int32)
        doc = [one.highest(CANDIDATES[number], order).candidates(number, order) for one in found]
        query = np.repeat(np.arange(len(doc), dtype=np.int32), [len(some) for some in doc])
        score = self._exact(queries, encoded, query, np.concatenate(doc))
        there = ~np.isnan(score)  # of shards that still answer
        run = Run.from_arrays(self.name, queries.ids, snapshot.ids, query[there], np.concatenate(doc)[there], score[there])
        best = run.select(np.arange(len(run)) - run.offsets[run.query] < most)
        return replace(best, low=-np.array([len(table) for table in encoded], dtype=np.float64))

    def _estimates(self, encoded: Any, number: int, held: Mask) -> list[LateEstimates]:
        """For each query the estimates of all shards, by the numbers of documents in the cluster."""
        snapshot = self.snapshot
        answers = snapshot.all_shards(
            lambda shard: CandidateEstimates(self.plan, encoded, number, snapshot.shard_mask(shard, held))
        )
        found = []
        for every in zip(*answers.values(), strict=True):
            docs = np.concatenate([snapshot.documents_of[at][one.docs] for at, one in zip(answers, every, strict=True)])
            ascending = np.argsort(docs)
            rough = np.concatenate([one.rough for one in every])[ascending]
            fine = np.concatenate([one.fine for one in every])[ascending]
            found.append(LateEstimates(sum(one.allowed for one in every), docs[ascending], rough, fine))
        return found

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """The token of each document that is most similar to each token of the query; none where it is not encoded."""
        (vectors,) = self.read(Queries.of([query]))
        (asked,) = read_once(
            self.encoder, "words", [query.text], lambda texts: [self.encoder.words(text, Side.QUERY) for text in texts]
        )
        headings = bool(self.snapshot.channel(self.channel).named.settings.options["headings"])
        every = self._of_owners(docs, lambda some: NearestTokens(self.plan, vectors, some))
        documents = self.snapshot.documents(docs)
        found = []
        for document, matches in zip(documents, every, strict=True):
            there = self.encoder.words(whole_text(document, headings), Side.PASSAGE) if matches else ()
            parts = [TokenMatch(word, there[at], near) for word, (at, near) in zip(asked, matches, strict=bool(matches))]
            found.append(Evidence(tokens=tuple(sorted(parts, key=lambda match: (-match.similarity, match.in_query)))))
        return found


_SPREADS: tuple[tuple[Any, Any], ...] = ((PassageRetriever, SpreadPassages), (LateRetriever, SpreadLate))


def spread_by(usual: type[ChannelRetriever]) -> type[SpreadRetriever] | None:
    """What spreads a class of retrievers over shards; None for one that works on what a router holds.

    >>> from lexfuse.channels.citation import CitationLookup
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> spread_by(BM25).__name__, spread_by(CitationLookup)
    ('SpreadRetriever', None)
    """
    if usual.at_router:
        return None
    return next((spread for base, spread in _SPREADS if issubclass(usual, base)), SpreadRetriever)


def encoder_dimension(encoder: Any) -> int:
    """The length of an encoder's vectors; 0 where it has none."""
    return int(getattr(encoder, "dimension", 0))


def _lowest(lows: Sequence[F64 | None]) -> F64 | None:
    """The lowest possible score of each query, over all shards."""
    stated = [low for low in lows if low is not None]
    return np.minimum.reduce(stated) if stated else None
