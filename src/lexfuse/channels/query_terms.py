"""Queries as rows of term numbers: what is looked up in the posting lists of a channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.channels.query_context import read_once
from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.storage.index_settings import FALLBACK_LANGUAGE
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.languages import detect_language
from lexfuse.text.analysis.vocabulary import TermEncoder
from lexfuse.text.short_text_cache import cached_if_short


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQueries:
    """Queries as rows (CSR) of distinct vocabulary numbers, each with its weight: how often it occurs, or any other."""

    starts: I64
    terms: I32
    weights: F32


class QueryLanguages:
    """Tells in which language queries are to be read against the documents of a snapshot.

    As given; where none is given, as detected if documents are in that language, else that of most documents: a short
    query shows little ("mise a pied", "CDI"), and a language that no document is in finds nothing.

    >>> languages = QueryLanguages(snapshot)
    >>> languages.of("CDI", ""), languages.of("the contract", ""), languages.of("the contract", "en")
    ('fr', 'fr', 'en')
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Take the snapshot; its documents are counted when a query comes without a language."""
        self._snapshot = snapshot

    def of(self, text: str, given: str) -> str:
        """The language to read a query in."""
        if given:
            return given
        found = _detected(text, self._among)
        return found if found or not self._counts else self._most

    @cached_property
    def _counts(self) -> Counter[str]:
        """How many documents are read in each language."""
        return Counter(language or FALLBACK_LANGUAGE for language in self._snapshot.column("language"))

    @cached_property
    def _among(self) -> tuple[str, ...]:
        return tuple(sorted(self._counts))

    @cached_property
    def _most(self) -> str:
        return min(self._counts, key=lambda language: (-self._counts[language], language))


@cached_if_short
def _detected(text: str, among: tuple[str, ...]) -> str:
    """The language of a question, which several readers ask for."""
    return detect_language(text, among)


class QueryTermReader:
    """Reads queries of any language and any length into the terms of one channel.

    >>> reader = QueryTermReader(snapshot, snapshot.postings("bm25"))
    >>> reader.read(Queries.of([Query("q", "le lecteur, les lecteurs", "fr")])).weights.tolist()
    [2.0]
    """

    def __init__(self, snapshot: Snapshot, postings: Postings) -> None:
        """Take the snapshot and the posting lists that are asked for."""
        self._settings = snapshot.settings
        self._postings = postings
        self._languages = QueryLanguages(snapshot)
        self._encoders: dict[str, TermEncoder] = {}

    def read(self, queries: Queries) -> EncodedQueries:
        """Distinct terms of each query that the index knows."""
        asked = list(zip(queries.text, queries.language, strict=True))
        return encoded(read_once(self._postings, "terms", asked, self._terms), len(self._postings.vocabulary))

    def _terms(self, asked: list[tuple[str, str]]) -> list[I32]:
        """The terms of texts, each given with its language, if that is known."""
        return [self._encoder(self._languages.of(text, given)).encode(text) for text, given in asked]

    def _encoder(self, language: str) -> TermEncoder:
        if language not in self._encoders:
            analyser = self._settings.analyser(language)
            self._encoders[language] = TermEncoder(analyser, self._postings.vocabulary, grows=False)
        return self._encoders[language]


def encoded(rows: Sequence[I32], term_count: int) -> EncodedQueries:
    """Distinct terms of every row in order of first occurrence, with how often each occurs.

    >>> encoded([np.array([4, 1, 4], dtype=np.int32)], 5).terms.tolist()
    [4, 1]
    """
    from lexfuse.kernels.postings import distinct

    starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
    flat = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    return EncodedQueries(*distinct(starts, flat.astype(np.int32, copy=False), term_count))
