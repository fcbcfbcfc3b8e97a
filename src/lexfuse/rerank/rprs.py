"""RPRS: the share of the query that a candidate covers, times the share of the candidate that covers the query.

RPRS (section 3), equations 1 to 5, and with frequencies 6 and 7. The n candidate sentences most similar to each query sentence
are found among all candidates (`lexfuse.rerank.nearest_sentences`). The query proportion counts the query sentences with one of
the document's sentences among their n; the document proportion counts the document's sentences among the n of any. With
frequencies, repetitions count with saturation k1 and length normalisation b, as in BM25.

A sentence is an occurrence: the same words in two documents are two sentences. Lengths are numbers of sentences, averaged over
all documents of the channel. An empty sum is 0, also where k1 = 0 makes a fraction 0 / 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.explanation import Evidence, ProportionalRelevance
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import F32, F64, I32
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.kernels.compilation import read_only_view
from lexfuse.rerank.nearest_sentences import NearestSentences, nearest, paragraph_pairs, sentence_pairs
from lexfuse.rerank.reranker import check_depth
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences, SentenceReranker
from lexfuse.text.paragraphs import ParagraphMap

DEPTH = 50


class Ablation(StrEnum):
    """Ablations of Table 7 of RPRS."""

    NOTHING = "nothing"
    NO_QUERY_PROPORTION = "no-query-proportion"  # row a: only the document proportion
    NO_DOCUMENT_PROPORTION = "no-document-proportion"  # row b: only the query proportion
    NO_PARAMETERS = "no-parameters"  # row c, as printed: the sums of eq. 6 and 7 divided by themselves
    NO_MINIMUM = "no-minimum"  # row d: eq. 2 and 3 with plain counts


@dataclass(frozen=True, slots=True)
class RprsFormula:
    """The formula and parameters of RPRS."""

    n: int = 4  # the paper's n, k1 and b for judgments (section 5.5)
    k1: float = 2.8
    b: float = 1.0
    frequency: bool = True
    ablation: Ablation = Ablation.NOTHING

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        if self.n < 1:
            raise ConfigError(f"n must be at least 1, got {self.n}; RPRS takes 1 to 10")
        if not 0 <= self.k1 < float("inf"):
            raise ConfigError(f"k1 must be at least 0, got {self.k1}; RPRS takes 0 to 3")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must be between 0 and 1, got {self.b}")
        if self.ablation is Ablation.NO_PARAMETERS and not self.frequency:
            raise ConfigError("without frequencies there are no parameters k1 and b to leave out")
        if self.ablation is Ablation.NO_MINIMUM and self.frequency:
            raise ConfigError("with frequencies there is no minimum to leave out; set frequency to False")

    def proportions(self, found: NearestSentences, candidates: CandidateSentences, average_length: float) -> Proportions:
        """QP and DP of every candidate; NaN for one without sentences.

        >>> candidates = CandidateSentences.of([np.eye(2, dtype=np.float32), -np.eye(2, dtype=np.float32)])
        >>> found = nearest(np.eye(2, dtype=np.float32)[:1], candidates, 2)
        >>> RprsFormula(n=1, frequency=False).proportions(found, candidates, 2.0)
        Proportions(query=array([1., 0.]), document=array([0.5, 0. ]))
        """
        from lexfuse.kernels.dot_product_numba import tallied

        if self.n > found.n:
            raise ConfigError(f"lists of {found.n} sentences have no first {self.n}; look for more")
        met, uses = tallied(read_only_view(found.rows), self.n, read_only_view(candidates.owner), len(candidates))
        lengths = candidates.lengths
        penalty = np.asarray(self.k1 * ((1.0 - self.b) + self.b * lengths / average_length), dtype=np.float64)
        own = np.where(lengths > 0, lengths, np.nan)
        return Proportions(self._counted(met, penalty) / max(len(found.rows), 1) + 0 * own, self._counted(uses, penalty) / own)

    def _counted(self, counts: I32, penalty: F64) -> F64:
        """Eq. 2 or 3, 6 or 7, from the number of sentences of each count."""
        from lexfuse.kernels.dot_product_numba import saturated

        if self.frequency and self.ablation is not Ablation.NO_PARAMETERS:
            sums = np.empty(len(counts))
            saturated(read_only_view(counts), read_only_view(penalty), sums)
            return sums
        if self.ablation is Ablation.NO_MINIMUM:
            return np.asarray((counts * np.arange(counts.shape[1])).sum(axis=1), dtype=np.float64)
        number: F64 = counts[:, 1:].sum(axis=1).astype(np.float64)
        return np.minimum(number, 1.0) if self.ablation is Ablation.NO_PARAMETERS else number

    def scores(self, proportions: Proportions) -> F32:
        """Eq. 1, or its ablation.

        >>> RprsFormula().scores(Proportions(np.array([0.5]), np.array([0.25]))).tolist()
        [0.125]
        """
        if self.ablation is Ablation.NO_QUERY_PROPORTION:
            return proportions.document.astype(np.float32)
        if self.ablation is Ablation.NO_DOCUMENT_PROPORTION:
            return proportions.query.astype(np.float32)
        return (proportions.query * proportions.document).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Proportions:
    """QP (eq. 4) and DP (eq. 5) of every candidate."""

    query: F64
    document: F64


@dataclass(frozen=True)
class Rprs(SentenceReranker):
    """The first `depth` documents of a ranking by RPRS over the sentences of a dense channel.

    >>> from lexfuse.channels.registry import fill_channel, plan_channel
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.channels.registry import open_retriever
    >>> documents = [Document("a", text="Le bail est nul. Le loyer est dû.", language="fr"),
    ...              Document("b", text="Le bail du juge. Il fait beau. Il pleut.", language="fr")]
    >>> with IndexFolder.create(folder / "i", documents=documents) as index:
    ...     index.channels.make("sentences", plan_channel("sentences", language="fr"))
    ...     _ = fill_channel(index, "sentences")
    ...     with index.snapshot() as snapshot:
    ...         rprs = Rprs(open_retriever(snapshot, "sentences"), n=1, frequency=False)
    ...         query = Query("q", "Le loyer est dû. Le bail est nul.", "fr")
    ...         (BM25(snapshot) >> rprs).retrieve(Queries.of([query]), 2).as_dict()
    ...         [why.document_proportion for why in rprs.explanations(query, ["a", "b"], ["a", "b"])]
    {'q': {'a': 1.0, 'b': 0.0}}
    [1.0, 0.0]
    """

    sentences: PassageRetriever
    n: int = 4
    k1: float = 2.8
    b: float = 1.0
    frequency: bool = True
    ablation: Ablation = Ablation.NOTHING
    depth: int = DEPTH

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        _ = self.formula
        check_depth(self.depth)

    @property
    def name(self) -> str:
        """Constant: the name of its part in runs."""
        return "rprs"

    @cached_property
    def formula(self) -> RprsFormula:
        """Its parameters."""
        return RprsFormula(self.n, self.k1, self.b, self.frequency, self.ablation)

    def document_scores(self, query: Query, docs: I32) -> F32:
        """The scores of documents, given by their numbers; NaN for one without sentences."""
        return self.scores(self.reader.query(query), self.reader.candidates(docs))

    def scores(self, query: QuerySentences, candidates: CandidateSentences) -> F32:
        """The score of every candidate of a query; NaN for all if the query has no words."""
        if not len(query):
            return np.full(len(candidates), np.nan, dtype=np.float32)
        found = nearest(query.vectors, candidates, self.n)
        return self.formula.scores(self.formula.proportions(found, candidates, self.reader.average_length))

    def evidence_of(self, query: Query, docs: Sequence[str], first: Retriever, *, within: Mask | None = None) -> list[Evidence]:
        """Which sentences and paragraphs met, for those of the documents that it compares."""
        compared = [hit.doc for hit in first.retrieve(Queries.of([query]), self.depth, within=within).hits(query.id)]
        among = set(compared)
        found = {one.doc: one for one in self.explanations(query, compared, [doc for doc in docs if doc in among])}
        return [Evidence(alignment=found.get(doc)) for doc in docs]

    def explanations(self, query: Query, compared: Sequence[str], docs: Sequence[str]) -> list[ProportionalRelevance]:
        """Explain the scores of documents among those ``compared``: QP, DP, and the matching sentences.

        ``compared`` are the first `depth` documents of the reranked ranking; the query is encoded and compared once for all.
        """
        places = {doc: at for at, doc in enumerate(compared)}
        for doc in docs:
            if doc not in places:
                raise NotFoundError(f"document {doc!r} is not among the {len(compared):,} candidates; RPRS compares only these")
        if not docs:
            return []
        snapshot, asked = self.sentences.snapshot, self.reader.query(query)
        candidates = self.reader.candidates(np.array([snapshot.ids.ordinal(doc) for doc in compared], dtype=np.int64))
        found = nearest(asked.vectors, candidates, self.n)
        every = self.formula.proportions(found, candidates, self.reader.average_length)
        scores, layout = self.formula.scores(every), ParagraphMap(query.text)

        def explained(doc: str, at: int) -> ProportionalRelevance:
            if not len(asked) or not candidates.lengths[at]:
                return ProportionalRelevance(doc, None, None, None, (), ())
            meetings = sentence_pairs(asked, candidates, found, at)
            pairs = paragraph_pairs(layout, ParagraphMap(snapshot.document(doc).text), meetings)
            return ProportionalRelevance(
                doc, float(scores[at]), float(every.query[at]), float(every.document[at]), meetings, pairs
            )

        return [explained(doc, places[doc]) for doc in docs]
