"""An index written as a BEIR folder: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/SPLIT.tsv``."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.similar import known_day


def write_beir(
    index: IndexReader,
    folder: str | Path,
    *,
    queries: Queries | None = None,
    qrels: Mapping[str, Qrels] | None = None,
    as_of: str | datetime.date | None = None,
    replace: bool = False,
    gzipped: bool = False,
) -> Collection:
    """Write the documents of an index, and queries and judgements by split if there are any, complete or not at all.

    Of documents with versions, those in force on a day are written, today by default. Legal metadata is in further fields,
    which tools for BEIR ignore and LexFuse reads again.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     written = write_beir(index, folder / "beir", queries=lexfuse.read_queries("examples/questions.csv"))
    >>> len(written.corpus), sorted(path.name for path in (folder / "beir").iterdir())
    (6, ['corpus.jsonl', 'queries.jsonl'])
    """
    snapshot = index.version.on(known_day(as_of, "as_of")).snapshot
    collection = Collection(Corpus.of(snapshot.documents(list(snapshot.ids))), queries, dict(qrels or {}))
    write_collection(collection, folder, replace=replace, gzipped=gzipped)
    return collection
