"""Queries as rows of term numbers: what the posting lists of a channel are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.index.postings import Postings
from lexfuse.index.settings import IndexSettings
from lexfuse.text.languages import detect
from lexfuse.text.vocabulary import TermEncoder


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQueries:
    """Queries as rows (CSR) of distinct vocabulary numbers, each with its weight: how often it occurs, or any other.

    >>> EncodedQueries(np.array([0, 1]), np.array([3]), np.array([2.0])).starts.tolist()
    [0, 1]
    """

    starts: I64
    terms: I32
    weights: F32


class QueryReader:
    """Reads queries of any language and any length into the terms of one channel.

    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.index.inverted import InvertedFile
    >>> postings = Postings([InvertedFile.of([["loi"]])], np.array([0, 1]), np.array([True]))
    >>> QueryReader(postings, IndexSettings()).read(Queries.of([Query("q", "la loi, la loi", "fr")])).weights.tolist()
    [2.0]
    """

    def __init__(self, postings: Postings, settings: IndexSettings) -> None:
        """Take the postings and the settings of the index."""
        self._postings = postings
        self._settings = settings
        self._encoders: dict[str, TermEncoder] = {}

    def read(self, queries: Queries) -> EncodedQueries:
        """Distinct terms of each query that the index knows; the language is detected where it is not given."""
        languages = (given or detect(text) for text, given in zip(queries.text, queries.language, strict=True))
        return encoded(
            [self._encoder(language).encode(text) for text, language in zip(queries.text, languages, strict=True)],
            len(self._postings.vocabulary),
        )

    def _encoder(self, language: str) -> TermEncoder:
        if language not in self._encoders:
            analyser = self._settings.analyser(language)
            self._encoders[language] = TermEncoder(analyser, self._postings.vocabulary, grows=False)
        return self._encoders[language]


def encoded(rows: list[I32], term_count: int) -> EncodedQueries:
    """Distinct terms of every row in order of first occurrence, with how often each occurs.

    >>> encoded([np.array([4, 1, 4], dtype=np.int32)], 5).terms.tolist()
    [4, 1]
    """
    from lexfuse.index.kernels import distinct

    starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
    flat = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    return EncodedQueries(*distinct(starts, flat.astype(np.int32, copy=False), term_count))
