"""Late interaction: every token of a query is matched with the most similar token of a document (MaxSim, FUSE eq. 11).

Search estimates scores by centroids first, or scores every document. Scores are always true ones, of the vectors as stored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, SearchWork
from lexfuse.channels.explanation import Evidence, TokenMatch
from lexfuse.channels.late.late_search import LateEstimates, LateMode, LateSearch
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.channels.query_context import read_once
from lexfuse.channels.retriever import Mask, ScoreBounds, checked_k, held_scores, requested_pairs
from lexfuse.data.arrays import F32
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.flops import forward_flops
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import ConfigError
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.snapshot import Snapshot


@dataclass(frozen=True)
class LateRetriever(ChannelRetriever):
    """Search over the token vectors of one channel; documents that are not encoded yet are not ranked.

    >>> from lexfuse.channels.registry import open_retriever
    >>> colbert = open_retriever(snapshot, "colbert")  # doctest: +SKIP
    >>> colbert.explain(Query("q", "fin du bail"), "L2")[0]  # doctest: +SKIP
    TokenMatch(in_query='bail', in_document='bail', similarity=0.97)
    """

    snapshot: Snapshot
    encoder: LateEncoder
    channel: str = "colbert"
    mode: LateMode = LateMode.PLAID
    name: str = field(default="colbert", kw_only=True)

    # A similarity is -1 at least, so that a query has minus the number of its tokens; nothing holds for all queries.
    bounds = ScoreBounds(-math.inf)

    @property
    def numbering(self) -> Numbering:
        """The raw numbers of the documents in the channel."""
        return self.snapshot.channel_numbering(self.channel)

    @cached_property
    def parts(self) -> list[TokenPart]:
        """The token vectors, part by part."""
        return [content for part in self.snapshot.channel(self.channel).parts if isinstance(content := part.content, TokenPart)]

    @cached_property
    def search(self) -> LateSearch:
        """Search over the raw numbers."""
        parts = self.parts
        if parts and parts[0].codec.dimension != self.encoder.dimension:
            raise ConfigError(
                f"the channel {self.channel!r} has vectors of {parts[0].codec.dimension} numbers, the encoder gives "
                f"{self.encoder.dimension}; open the channel with the model it was made by"
            )
        return LateSearch(parts, self.numbering.order)

    def read(self, queries: Queries) -> list[F32]:
        """The token vectors of the queries."""
        return list(read_once(self.encoder, "tokens", queries.text, lambda texts: self.encoder.encode(texts, Side.QUERY)))

    def rank(self, queries: Queries, vectors: list[F32], k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before."""
        numbering, mask = self.numbering, self.numbering.mask(within)
        offsets, docs, scores = self.search.best(vectors, checked_k(k), mode=self.mode, mask=mask if len(mask) else None)
        low = -np.array([len(table) for table in vectors], dtype=np.float64)  # fillers count like words
        return Run(self.name, queries.ids, self.snapshot.ids, offsets, numbering.places[docs], scores, low=low)

    def estimates(self, vectors: list[F32], number: int, *, within: Mask | None = None) -> list[LateEstimates]:
        """For each query that `read` has read, the documents by whose estimates a number of candidates is chosen."""
        numbering, mask = self.numbering, self.numbering.mask(within)
        found = (self.search.estimates(table, number, mask=mask if len(mask) else None) for table in vectors)
        return [one._replace(docs=numbering.places[one.docs]) for one in found]

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair in a run, in its order; NaN where the channel does not hold the document."""
        query, doc = requested_pairs(queries, pairs, self.snapshot.ids)
        raw = self.numbering.raw[doc]
        return held_scores(raw, lambda held: self.search.pair_scores(self.read(queries), query[held], raw[held]))

    def work(self, queries: Queries) -> SearchWork:
        """The forward pass, and |q| (2d |a| + |a| + 1) for every document.

        The paper writes |q| squared, though a query token meets each document token once.
        """
        tokens, documents = sum(part.tokens for part in self.parts), sum(len(part) for part in self.parts)
        asked = float(np.mean([len(table) for table in self.read(queries)]))
        each = 2 * self.encoder.dimension * tokens + tokens + documents
        return SearchWork(tokens, forward_flops(self.encoder.transformer.graph, round(asked)) + round(asked * each))

    def holds(self, doc: str) -> bool:
        """Whether a document of the snapshot is encoded."""
        return bool(self.numbering.raw[self.snapshot.ids.ordinal(doc)] >= 0)

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """The token of each document that is most similar to each token of the query; none where it is not encoded."""
        return [Evidence(tokens=tuple(self._matches(query, doc)) if self.holds(doc) else ()) for doc in docs]

    def _matches(self, query: Query, doc: str) -> list[TokenMatch]:
        raw = int(self.numbering.raw[self.snapshot.ids.ordinal(doc)])
        headings = bool(self.snapshot.channel(self.channel).named.settings.options["headings"])
        there = self.encoder.words(whole_text(self.snapshot.document(doc), headings), Side.PASSAGE)
        (asked,) = read_once(
            self.encoder, "words", [query.text], lambda texts: [self.encoder.words(text, Side.QUERY) for text in texts]
        )
        matches = self.search.matches(self.read(Queries.of([query]))[0], raw)
        found = [TokenMatch(word, there[met.token], met.similarity) for word, met in zip(asked, matches, strict=True)]
        return sorted(found, key=lambda match: (-match.similarity, match.in_query))
