"""Build a segment from documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lexfuse.data.arrays import F32, I32
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.segment import Segment
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

LEXICAL = "bm25"


def build_segment(
    documents: Sequence[Document], settings: IndexSettings, *, progress: Callable[[int], None] = lambda _: None
) -> Segment:
    """A segment of documents, which must be sorted by id.

    >>> build_segment([Document("a", text="la loi", language="fr")], IndexSettings()).channels["bm25"].terms[0]
    'loi'
    """
    vocabulary = Vocabulary()
    encoders: dict[str, TermEncoder] = {}
    rows: list[I32] = []
    weights: list[F32] = []
    for done, document in enumerate(documents, start=1):
        if document.language not in encoders:
            encoders[document.language] = TermEncoder(_analyser(document, settings), vocabulary)
        parts = [(encoders[document.language].encode(text), weight) for text, weight in settings.texts(document)]
        rows.append(np.concatenate([terms for terms, _ in parts]) if parts else np.empty(0, dtype=np.int32))
        weights.append(np.repeat(np.array([w for _, w in parts], dtype=np.float32), [len(terms) for terms, _ in parts]))
        progress(done)
    inverted = InvertedFile.from_rows(rows, vocabulary, weights)
    return Segment(StringList.of(document.id for document in documents), {LEXICAL: inverted})


def _analyser(document: Document, settings: IndexSettings) -> Analyser:
    try:
        return settings.analyser(document.language)
    except ConfigError as error:
        raise DataError(f"document {document.id!r}: {error}") from None
