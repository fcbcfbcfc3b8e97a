"""CIFF, the Common Index File Format, by which search engines exchange posting lists: an index written, and a file read.

A file has terms, not texts. A document that is read from one has its terms as its text, in the order of the file.
"""

from __future__ import annotations

import datetime
import gzip
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexfuse import __version__
from lexfuse.bridges.ciff_messages import CiffDocument, CiffHeader, CiffPostings
from lexfuse.bridges.protobuf_wire import delimited, read_delimited
from lexfuse.data.arrays import I64
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import open_bytes, written_file
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError
from lexfuse.index import Index
from lexfuse.search.similar import known_day
from lexfuse.storage.index_settings import FALLBACK_LANGUAGE, IndexSettings
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.analyser import Folding

# For an index of documents that were read from CIFF: their words are terms already.
CIFF_SETTINGS = IndexSettings(fields={"text": 1.0}, stems=False, stop_words=False, citations=False, folding=Folding.KEEP)


def write_ciff(index: Index, path: str | Path, *, as_of: str | datetime.date | None = None) -> CiffHeader:
    """Write the words of an index as a CIFF file, gzipped if its name ends with ``.gz``; the header says what it has.

    Terms are those of the index: stemmed, folded, with citations among them. Of documents with versions, those in force on a day
    are written, today by default. Weights of fields that are no whole numbers are a `ConfigError`.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     header = write_ciff(index, folder / "law.ciff.gz")
    >>> header.documents, header.total_terms, len(read_ciff(folder / "law.ciff.gz"))
    (6, 113, 6)
    """
    version = index.version.on(known_day(as_of, "as_of"))
    snapshot = version.snapshot
    columns = _columns(snapshot)
    lengths = np.bincount(columns.document, columns.frequency, len(snapshot)).astype(np.int64)
    used = np.flatnonzero(np.diff(columns.offsets))
    total, documents = int(lengths.sum()), len(snapshot)
    header = CiffHeader(
        lists=len(used),
        documents=documents,
        total_lists=len(used),
        total_documents=documents,
        total_terms=total,
        mean_length=total / documents if documents else 0.0,
        description=f"{index.name}, analysis {snapshot.settings.fingerprint}, LexFuse {__version__}",
    )
    with written_file(path) as out:
        out.write(delimited(header.encoded()))
        for at in used.tolist():
            span = slice(int(columns.offsets[at]), int(columns.offsets[at + 1]))
            out.write(delimited(CiffPostings(columns.terms[at], columns.document[span], columns.frequency[span]).encoded()))
        for number, (id, length) in enumerate(zip(snapshot.ids, lengths.tolist(), strict=True)):
            out.write(delimited(CiffDocument(number, id, length).encoded()))
    return header


class _Columns(NamedTuple):
    """All postings by term, then by document."""

    terms: list[str]  # sorted by their bytes
    offsets: I64
    document: I64
    frequency: I64


def _columns(snapshot: Snapshot) -> _Columns:
    postings, places = snapshot.postings(LEXICAL), snapshot.numbering.places
    stretches = list(postings.stretches())
    empty = np.empty(0, dtype=np.int64)
    term = np.concatenate([empty, *(one.terms for one in stretches)])
    document = places[np.concatenate([empty, *(one.docs for one in stretches)])].astype(np.int64)
    weight = np.concatenate([empty.astype(np.float32), *(one.weights for one in stretches)])
    live = document >= 0
    frequency = np.rint(weight[live]).astype(np.int64)
    if not np.array_equal(frequency, weight[live]):
        weights = dict(snapshot.settings.fields)
        raise ConfigError(f"CIFF has whole frequencies, and the fields of the index have the weights {weights}; build it with 1")
    names = [postings.vocabulary[at] for at in range(len(postings.vocabulary))]
    by_bytes = sorted(range(len(names)), key=lambda at: names[at].encode())
    rank = np.empty(len(names), dtype=np.int64)
    rank[by_bytes] = np.arange(len(names))
    ranked, document = rank[term[live]], document[live]
    order = np.lexsort((document, ranked))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(ranked, minlength=len(names)))]).astype(np.int64)
    return _Columns([names[at] for at in by_bytes], offsets, document[order], frequency[order])


def read_ciff(path: str | Path, report: ReadReport | None = None, *, language: str = FALLBACK_LANGUAGE) -> Corpus:
    """Read a CIFF file, plain or gzipped; the text of a document is its terms, each as often as it occurs.

    Build an index of it with `CIFF_SETTINGS`, which takes the terms as they are. A term that this analysis would change or
    leave out, such as ``u.s`` or a single letter, is a `DataError`; a report with ``skip_bad`` skips and counts it.
    Lengths that differ from the sum of the frequencies are counted too; the sum is used.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", [Document("a", text="le prêt et le retard", language="fr")]) as index:
    ...     _ = write_ciff(index, folder / "law.ciff")
    >>> read_ciff(folder / "law.ciff").text
    ('pret retard',)
    """
    report = report or ReadReport()
    with open_bytes(path) as stream, _located(path):
        header = CiffHeader.decoded(read_delimited(stream))
        lists = (CiffPostings.decoded(read_delimited(stream)) for _ in range(header.lists))
        words = _words(lists, header.documents, report, language, path)
        documents = [CiffDocument.decoded(read_delimited(stream)) for _ in range(header.documents)]
        if stream.read(1):
            raise DataError("more data follows the last document; the file is damaged")
    if [one.number for one in documents] != list(range(header.documents)):
        raise DataError(f"the documents are not numbered from 0 to {header.documents - 1:,} in order", path=path)
    for one in documents:
        if len(words[one.number]) != one.length:
            report.note("the length of a document is not the sum of its frequencies; the sum is used", path=path)
    report.kept += len(documents)
    return Corpus.of(Document(one.id, text=" ".join(words[one.number]), language=language) for one in documents)


def _words(
    lists: Iterator[CiffPostings], documents: int, report: ReadReport, language: str, path: str | Path
) -> defaultdict[int, list[str]]:
    """The terms of every document by its number."""
    analyser, words = CIFF_SETTINGS.analyser(language), defaultdict[int, list[str]](list)
    for one in lists:
        if len(one.documents) and one.documents[-1] >= documents:
            raise DataError(f"term {one.term!r} is in document {one.documents[-1]:,}, and the file has {documents:,}")
        if analyser.terms(one.term) != [one.term]:
            report.bad(DataError(f"the term {one.term!r} is not one word of LexFuse; skip it with skip_bad", path=path))
            continue
        for number, frequency in zip(one.documents.tolist(), one.frequencies.tolist(), strict=True):
            words[number] += [one.term] * frequency
    return words


@contextmanager
def _located(path: str | Path) -> Iterator[None]:
    """Say which file is damaged."""
    try:
        yield
    except DataError as error:
        raise DataError(error.reason, path=error.path or path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"the gzip data is truncated or damaged ({error}); fetch the file again", path=path) from None
