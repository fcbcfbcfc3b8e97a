"""SDR inference as a first stage: every document of a channel of sentences is ranked, as in SDR itself (RPRS 4.3.2).

The matrix of paragraphs is normalised over the paragraphs of all documents, so that a score depends neither on the number of
results nor on filters. Documents are compared block by block, and blocks on all cores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.retriever import Mask, Retriever, ScoreBounds, checked_k, lookup_scores
from lexfuse.data.arrays import F32, F64, I32, I64, offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.kernels.threads import one_core_each, run_on_cores
from lexfuse.rerank.sdr import best_paragraphs, candidate_paragraphs, first_sentences, paragraph_matrix
from lexfuse.rerank.sentence_vectors import SentenceVectorReader
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.paragraphs import ParagraphMap

BLOCK = 16  # documents that are compared together


class DocumentBlock(NamedTuple):
    """Some documents, and which of their sentences begin paragraphs."""

    docs: I64
    columns: I64  # the first sentence of every paragraph
    owner: I64  # the document of every paragraph


@dataclass(frozen=True)
class SdrRetriever(Retriever):
    """All documents of a channel of sentences by SDR inference; a document without sentences is not ranked.

    >>> from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> documents = [Document("a", text="Le bail est nul. Le loyer est dû.", language="fr"),
    ...              Document("b", text="Il fait beau. Il pleut.", language="fr")]
    >>> with IndexFolder.create(folder / "i", documents=documents) as index:
    ...     index.channels.make("sentences", plan_channel("sentences", language="fr"))
    ...     _ = fill_channel(index, "sentences")
    ...     with index.snapshot() as snapshot:
    ...         sdr = SdrRetriever(open_retriever(snapshot, "sentences"))
    ...         list(sdr.retrieve(Queries.of([Query("q", "Le loyer est dû.", "fr")]), 2).as_dict()["q"])
    ['a', 'b']
    """

    sentences: PassageRetriever
    name: str = field(default="sdr", kw_only=True)

    @property
    def snapshot(self) -> Snapshot:
        """The state of the index whose documents it ranks."""
        return self.sentences.snapshot

    @property
    def bounds(self) -> ScoreBounds:
        """None: scores are standardised."""
        return ScoreBounds(-math.inf)

    @cached_property
    def reader(self) -> SentenceVectorReader:
        """Reads the sentences of queries and documents."""
        return SentenceVectorReader(self.sentences)

    @cached_property
    def blocks(self) -> list[DocumentBlock]:
        """All documents, with the paragraphs of their sentences."""
        found, every = [], np.arange(len(self.snapshot), dtype=np.int64)
        for first in range(0, len(every), BLOCK):
            docs = every[first : first + BLOCK]
            candidates = self.reader.candidates(docs)
            texts = [document.text for document in self.snapshot.documents([self.snapshot.ids[doc] for doc in docs.tolist()])]
            columns = first_sentences(candidates, candidate_paragraphs(candidates, texts))
            if len(columns):
                found.append(DocumentBlock(docs, columns, docs[candidates.owner[columns]]))
        return found

    def document_scores(self, query: Query) -> F32:
        """The score of every document of the snapshot; NaN for one without sentences, for all if the query has none."""
        scores = np.full(len(self.snapshot), np.nan, dtype=np.float32)
        asked, blocks = self.reader.query(query), self.blocks
        if not len(asked) or not blocks:
            return scores
        paragraphs = ParagraphMap(query.text).of([span.start for span in asked.spans])
        parts: dict[int, F64] = {}

        def work(first: int, last: int) -> None:
            for at in range(first, last):
                vectors = self.reader.candidates(blocks[at].docs).vectors
                parts[at] = paragraph_matrix(asked.vectors, paragraphs, vectors, blocks[at].columns)

        with one_core_each() as alone:
            if alone:
                run_on_cores(work, len(blocks), 1)
            else:
                work(0, len(blocks))
        owner = np.concatenate([block.owner for block in blocks])
        matrix = np.concatenate([parts[at] for at in range(len(blocks))], axis=1)
        scores[np.unique(owner)] = best_paragraphs(matrix, owner)
        return scores

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        order, most = self.snapshot.ids.order, checked_k(k)
        docs: list[I32] = [np.empty(0, dtype=np.int32)]
        values: list[F32] = [np.empty(0, dtype=np.float32)]
        for query in queries:
            scores = self.document_scores(query)
            known = ~np.isnan(scores) if within is None else ~np.isnan(scores) & within
            listed = np.flatnonzero(known)
            best = listed[np.lexsort((order[listed], -scores[listed]))[:most]].astype(np.int32)
            docs.append(best)
            values.append(scores[best])
        offsets = offsets_of(np.array([len(some) for some in docs[1:]], dtype=np.int64))
        return Run(self.name, queries.ids, self.snapshot.ids, offsets, np.concatenate(docs), np.concatenate(values))

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair in a run; NaN for a document without sentences."""
        return lookup_scores(self.retrieve(queries, max(len(self.snapshot), 1)), pairs)
