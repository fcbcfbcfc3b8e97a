"""Three lexical engines behind the same few calls: LexFuse, bm25s with its numba backend, and tantivy's Python bindings.

Every engine is built from the same token ids or, with its own analysis, from texts, and answers batches of queries on one
thread. Where an engine lets something be prepared before the clock runs, it is: tantivy gets ready query objects, with
repeated terms as boosts, and neither counts matches nor fetches documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import bm25s
import numpy as np
import Stemmer
import tantivy

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.query_terms import encoded
from lexfuse.data.arrays import I32, Bools
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

K1, B = 1.2, 0.75
STEMMERS = {"fr": "french", "en": "english"}


@dataclass(frozen=True)
class Tokens:
    """What engines are given: term ids of every document, what the ids stand for, and the term ids of every query."""

    rows: list[I32]
    vocabulary: Vocabulary
    queries: list[I32]

    @classmethod
    def of(cls, snapshot: Snapshot, queries: Queries) -> Self:
        """The tokens that an index of LexFuse holds, so that nobody reads another text; their order does not matter to BM25."""
        postings = snapshot.postings(LEXICAL)
        docs, weights, terms = (np.concatenate(some) for some in zip(*(one[1:] for one in postings.stretches()), strict=True))
        by_doc = np.argsort(docs, kind="stable")
        counts = weights[by_doc].astype(np.int64)
        flat = np.repeat(terms[by_doc], counts)
        ends = np.cumsum(np.bincount(docs[by_doc], weights=counts, minlength=len(snapshot)).astype(np.int64))
        rows = [row.astype(np.int32) for row in np.split(flat, ends[:-1])]
        return cls(rows, postings.vocabulary, encode(snapshot, queries))


def encode(snapshot: Snapshot, queries: Queries) -> list[I32]:
    """The terms of queries that an index knows."""
    vocabulary = snapshot.postings(LEXICAL).vocabulary
    readers = {language: TermEncoder(snapshot.settings.analyser(language), vocabulary, grows=False) for language in STEMMERS}
    return [readers[language].encode(text) for text, language in zip(queries.text, queries.language, strict=True)]


class Ours:
    """LexFuse: an index folder, opened and asked through the public retriever."""

    name = "lexfuse"

    def __init__(self, folder: Path) -> None:
        """Open an index."""
        self.snapshot = open_snapshot(folder)
        self.retriever = BM25(self.snapshot, K1, B)

    @classmethod
    def from_texts(cls, documents: Sequence[Document], folder: Path) -> Self:
        """Build an index of documents, catalog and all."""
        IndexFolder.create(folder).add(documents)
        return cls(folder)

    def by_ids(self, queries: Queries, rows: list[I32], k: int, within: Bools | None = None) -> Run:
        """The best k for queries given as term ids."""
        terms = len(self.retriever.postings.vocabulary)
        return self.retriever.rank(queries, encoded(rows, terms), k, within=within)

    def by_text(self, queries: Queries, k: int) -> None:
        """The best k for queries as text."""
        self.retriever.retrieve(queries, k)


class Bm25sNumba:
    """bm25s as its documentation advises for speed: numba backend, Snowball stems, stop words, memory-mapped files."""

    name = "bm25s-numba"

    def __init__(self, retriever: bm25s.BM25) -> None:
        """Keep what has been indexed."""
        self.retriever = retriever

    @classmethod
    def of(cls, tokens: Any) -> Self:
        """Index tokens."""
        retriever = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
        retriever.index(tokens, show_progress=False)
        return cls(retriever)

    @classmethod
    def from_tokens(cls, ids: list[list[int]], vocabulary: dict[str, int]) -> Self:
        """Index the tokens that all engines share."""
        return cls.of(bm25s.tokenization.Tokenized(ids=ids, vocab=vocabulary))

    @classmethod
    def from_texts(cls, texts: list[str], language: str, folder: Path) -> Self:
        """Index texts with its own tokens and save the index."""
        engine = cls.of(cls.tokenized(texts, language))
        engine.retriever.save(str(folder), show_progress=False)
        return engine

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A saved index."""
        return cls(bm25s.BM25.load(str(folder), mmap=True))

    @staticmethod
    def tokenized(texts: list[str], language: str) -> Any:
        """Its own tokens of texts."""
        stemmer = Stemmer.Stemmer(STEMMERS[language])
        return bm25s.tokenize(texts, stopwords=language, stemmer=stemmer, show_progress=False)

    def by_ids(self, rows: list[list[int]], k: int, within: Bools | None = None) -> Any:
        """Documents and scores of the best k for queries given as token ids; a filter is a weight of 0 or 1 a document."""
        weights = None if within is None else within.astype(np.float32)
        return self.retriever.retrieve(rows, k=k, n_threads=1, show_progress=False, weight_mask=weights)

    def by_text(self, texts: list[str], language: str, k: int) -> None:
        """The best k for queries as text."""
        self.retriever.retrieve(self.tokenized(texts, language), k=k, n_threads=1, show_progress=False)


class Tantivy:
    """tantivy: one segment, term frequencies without positions, block-max pruning as it comes."""

    name = "tantivy"

    def __init__(self, index: tantivy.Index, analyser: tantivy.TextAnalyzer) -> None:
        """Search an index; queries are cut by the analyser."""
        index.register_tokenizer("bench", analyser)
        index.reload()
        self._schema = index.schema
        self._searcher = index.searcher()
        self._analyser = analyser

    @classmethod
    def written(cls, folder: Path, analyser: tantivy.TextAnalyzer, texts: Sequence[str], kept: Bools | None = None) -> Self:
        """Index texts with one writing thread; `kept` marks documents for a filter."""
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="bench", index_option="freq")
        builder.add_text_field("kept", tokenizer_name="raw", index_option="basic")
        folder.mkdir(parents=True)
        index = tantivy.Index(builder.build(), str(folder))
        index.register_tokenizer("bench", analyser)
        writer = index.writer(1_000_000_000, 1)
        for at, text in enumerate(texts):
            document = tantivy.Document()
            document.add_text("text", text)
            document.add_text("kept", "yes" if kept is not None and kept[at] else "no")
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        return cls(index, analyser)

    @classmethod
    def from_terms(cls, folder: Path, texts: Sequence[str], kept: Bools | None = None) -> Self:
        """Index the terms that all engines share, joined by spaces."""
        return cls.written(folder, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build(), texts, kept)

    @classmethod
    def from_texts(cls, texts: Sequence[str], language: str, folder: Path) -> Self:
        """Index texts with its own analysis."""
        return cls.written(folder, cls.analyser(language), texts)

    @classmethod
    def load(cls, folder: Path, language: str) -> Self:
        """A saved index of texts."""
        return cls(tantivy.Index.open(str(folder)), cls.analyser(language))

    @staticmethod
    def analyser(language: str) -> tantivy.TextAnalyzer:
        """Its own analysis: words, small letters, stop words, Snowball stems."""
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
        name = STEMMERS[language]
        return builder.filter(tantivy.Filter.stopword(name)).filter(tantivy.Filter.stemmer(name)).build()

    def query(self, terms: Sequence[str], *, kept: bool = False) -> tantivy.Query:
        """Any of the terms, repeated ones weighted; with `kept`, only among marked documents."""
        parts = []
        for term, count in Counter(terms).items():
            part = tantivy.Query.term_query(self._schema, "text", term, index_option="freq")
            parts.append((tantivy.Occur.Should, part if count == 1 else tantivy.Query.boost_query(part, float(count))))
        if not parts:
            return tantivy.Query.empty_query()
        query = tantivy.Query.boolean_query(parts)
        if not kept:
            return query
        marked = tantivy.Query.const_score_query(tantivy.Query.term_query(self._schema, "kept", "yes", index_option="basic"), 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, marked)])

    def by_query(self, queries: list[tantivy.Query], k: int) -> list[Any]:
        """The best k for ready queries."""
        return [self._searcher.search(query, k, count=False).hits for query in queries]

    def by_text(self, texts: list[str], k: int) -> None:
        """The best k for queries as text."""
        self.by_query([self.query(self._analyser.analyze(text)) for text in texts], k)
