"""LexFuse finds the law: hybrid retrieval for statutes and case law, and honest evaluation of it.

Names load on first use, so that ``import lexfuse`` stays fast:

>>> import lexfuse
>>> lexfuse.Corpus.of([lexfuse.Document("L1", text="…")]).ids
Ids(['L1'], n=1)
"""

from __future__ import annotations

from lexfuse.lazy import lazy

TYPE_CHECKING = False  # as in `typing`, whose import would take most of the time; type checkers know the name
if TYPE_CHECKING:
    from lexfuse.data.beir import Collection, read_collection
    from lexfuse.data.corpus import Corpus
    from lexfuse.data.document import Document
    from lexfuse.data.formats import read_corpus, read_queries
    from lexfuse.data.judgements import read_qrels
    from lexfuse.data.qrels import Qrels
    from lexfuse.data.queries import Queries, Query
    from lexfuse.data.run import Run
    from lexfuse.data.trec import read_run
    from lexfuse.text.analyser import Analyser

__version__ = "0.1.0"

_HOMES = {
    "Collection": "lexfuse.data.beir",
    "read_collection": "lexfuse.data.beir",
    "Corpus": "lexfuse.data.corpus",
    "Document": "lexfuse.data.document",
    "read_corpus": "lexfuse.data.formats",
    "read_queries": "lexfuse.data.formats",
    "read_qrels": "lexfuse.data.judgements",
    "Qrels": "lexfuse.data.qrels",
    "Queries": "lexfuse.data.queries",
    "Query": "lexfuse.data.queries",
    "Run": "lexfuse.data.run",
    "read_run": "lexfuse.data.trec",
    "Analyser": "lexfuse.text.analyser",
}
__all__ = [
    "Analyser",
    "Collection",
    "Corpus",
    "Document",
    "Qrels",
    "Queries",
    "Query",
    "Run",
    "read_collection",
    "read_corpus",
    "read_qrels",
    "read_queries",
    "read_run",
]
__getattr__ = lazy("lexfuse", _HOMES)
