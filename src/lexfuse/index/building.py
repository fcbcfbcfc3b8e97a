"""Build segments: from documents, or from older segments by merging what is alive in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lexfuse.data.arrays import F32, I32, Bools, frozen, offsets_of
from lexfuse.data.document import Document
from lexfuse.index.inverted import InvertedFile
from lexfuse.index.segment import Segment
from lexfuse.index.settings import IndexSettings
from lexfuse.index.strings import StringList
from lexfuse.text.vocabulary import TermEncoder, Vocabulary

LEXICAL = "bm25"


def segment_of(
    documents: Sequence[Document], settings: IndexSettings, *, progress: Callable[[int], None] = lambda _: None
) -> Segment:
    """A segment of documents, which must come sorted by id.

    >>> segment_of([Document("a", text="la loi")], IndexSettings()).channels["bm25"].terms[0]
    'la'
    """
    vocabulary = Vocabulary()
    encoders: dict[str, TermEncoder] = {}
    rows: list[I32] = []
    weights: list[F32] = []
    for done, document in enumerate(documents, start=1):
        if document.language not in encoders:
            encoders[document.language] = TermEncoder(settings.analyser(document.language), vocabulary)
        parts = [(encoders[document.language].encode(text), weight) for text, weight in settings.texts(document)]
        rows.append(np.concatenate([terms for terms, _ in parts]) if parts else np.empty(0, dtype=np.int32))
        weights.append(np.repeat(np.array([w for _, w in parts], dtype=np.float32), [len(terms) for terms, _ in parts]))
        progress(done)
    inverted = InvertedFile.from_rows(rows, vocabulary, weights)
    return Segment(StringList.of(document.id for document in documents), {LEXICAL: inverted})


def merged(segments: Sequence[Segment], alive: Sequence[Bools]) -> Segment:
    """One segment of all documents that are alive, the same as if it had been built from them.

    >>> old = [segment_of([Document(name, text="loi")], IndexSettings()) for name in "ba"]
    >>> list(merged(old, [np.array([True])] * 2).ids)
    ['a', 'b']
    """
    names = [
        (id, number, at) for number, segment in enumerate(segments) for at, id in enumerate(segment.ids) if alive[number][at]
    ]
    names.sort()
    places = [np.full(len(segment.ids), -1, dtype=np.int32) for segment in segments]
    for new, (_, number, at) in enumerate(names):
        places[number][at] = new
    channels = {
        channel: merged_inverted([segment.channels[channel] for segment in segments], places, len(names))
        for channel in segments[0].channels
    }
    return Segment(StringList.of(id for id, _, _ in names), channels)


def merged_inverted(files: Sequence[InvertedFile], places: Sequence[I32], documents: int) -> InvertedFile:
    """Posting lists of several files as one; `places` gives each document's new ordinal, -1 for the dead.

    >>> files = [InvertedFile.of([["a"], ["b"]]), InvertedFile.of([["b"]])]
    >>> merged_inverted(files, [np.array([-1, 1], np.int32), np.array([0], np.int32)], 2).postings("b")[0].tolist()
    [0, 1]
    """
    vocabulary = sorted({term for file in files for term in file.terms})
    number = {term: at for at, term in enumerate(vocabulary)}
    terms, docs, weights = [], [], []
    lengths = np.zeros(documents, dtype=np.float32)
    for file, place in zip(files, places, strict=True):
        new = place[file.docs]
        kept = new >= 0
        ids = np.array([number[term] for term in file.terms], dtype=np.int32)
        terms.append(np.repeat(ids, file.document_frequency)[kept])
        docs.append(new[kept])
        weights.append(file.weights[kept])
        lengths[place[place >= 0]] = file.lengths[place >= 0]
    term, doc, weight = np.concatenate(terms), np.concatenate(docs), np.concatenate(weights)
    order = np.argsort(term.astype(np.int64) * max(documents, 1) + doc, kind="stable")
    frequency = np.bincount(term, minlength=len(vocabulary))
    used = np.flatnonzero(frequency)
    return InvertedFile(
        StringList.of(vocabulary[at] for at in used),
        frozen(offsets_of(frequency[used])),
        frozen(doc[order].astype(np.int32)),
        frozen(weight[order].astype(np.float32)),
        frozen(lengths),
    )
