"""Values: corpora, queries, judgements and runs, and every file format they come in.

>>> corpus = Corpus.of([Document("L1237-19", text="L'employeur et le salarié peuvent convenir…", language="fr")])
>>> corpus.document("L1237-19").language
'fr'
"""

from __future__ import annotations

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
