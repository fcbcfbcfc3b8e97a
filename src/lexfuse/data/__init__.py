"""Values: corpora, queries, judgements and runs, and every file format they come in.

>>> from lexfuse.data import Corpus, Document
>>> corpus = Corpus.of([Document("L1237-19", text="L'employeur et le salarié peuvent convenir…", language="fr")])
>>> corpus.document("L1237-19").language
'fr'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.lazy import lazy

if TYPE_CHECKING:
    from lexfuse.data.beir import Collection, read_collection, write_collection
    from lexfuse.data.corpus import Corpus
    from lexfuse.data.document import Document, Kind, Status
    from lexfuse.data.formats import read_corpus, read_queries, write_corpus, write_queries
    from lexfuse.data.ids import Ids
    from lexfuse.data.judgements import read_qrels, write_qrels
    from lexfuse.data.qrels import Qrels
    from lexfuse.data.queries import Queries, Query
    from lexfuse.data.report import Report
    from lexfuse.data.run import Hit, Run
    from lexfuse.data.trec import read_run, write_run

_HOMES = {
    "Collection": "lexfuse.data.beir",
    "read_collection": "lexfuse.data.beir",
    "write_collection": "lexfuse.data.beir",
    "Corpus": "lexfuse.data.corpus",
    "Document": "lexfuse.data.document",
    "Kind": "lexfuse.data.document",
    "Status": "lexfuse.data.document",
    "read_corpus": "lexfuse.data.formats",
    "read_queries": "lexfuse.data.formats",
    "write_corpus": "lexfuse.data.formats",
    "write_queries": "lexfuse.data.formats",
    "Ids": "lexfuse.data.ids",
    "read_qrels": "lexfuse.data.judgements",
    "write_qrels": "lexfuse.data.judgements",
    "Qrels": "lexfuse.data.qrels",
    "Queries": "lexfuse.data.queries",
    "Query": "lexfuse.data.queries",
    "Report": "lexfuse.data.report",
    "Hit": "lexfuse.data.run",
    "Run": "lexfuse.data.run",
    "read_run": "lexfuse.data.trec",
    "write_run": "lexfuse.data.trec",
}
__all__ = [
    "Collection",
    "Corpus",
    "Document",
    "Hit",
    "Ids",
    "Kind",
    "Qrels",
    "Queries",
    "Query",
    "Report",
    "Run",
    "Status",
    "read_collection",
    "read_corpus",
    "read_qrels",
    "read_queries",
    "read_run",
    "write_collection",
    "write_corpus",
    "write_qrels",
    "write_queries",
    "write_run",
]
__getattr__ = lazy("lexfuse.data", _HOMES)
