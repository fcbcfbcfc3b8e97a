"""LexFuse finds the law: hybrid retrieval for statutes and case law, and honest evaluation of it.

Names load on first use, so that ``import lexfuse`` stays fast:

>>> import lexfuse
>>> lexfuse.Corpus.of([lexfuse.Document("L1", text="…")]).ids
Ids(['L1'], n=1)
"""

from __future__ import annotations

from lexfuse.lazy import lazy_exports

TYPE_CHECKING = False  # as in `typing`, whose import would take most of the time; type checkers know the name
if TYPE_CHECKING:
    from lexfuse.data.corpus import Corpus
    from lexfuse.data.document import Document
    from lexfuse.data.formats.beir import Collection, read_collection
    from lexfuse.data.formats.file_format import read_corpus, read_queries
    from lexfuse.data.formats.trec_qrels import read_qrels
    from lexfuse.data.formats.trec_run import read_run
    from lexfuse.data.qrels import Qrels
    from lexfuse.data.queries import Queries, Query
    from lexfuse.data.run import Run
    from lexfuse.text.analysis.analyser import Analyser

__version__ = "0.1.0"

_HOMES = {
    "Collection": "lexfuse.data.formats.beir",
    "read_collection": "lexfuse.data.formats.beir",
    "Corpus": "lexfuse.data.corpus",
    "Document": "lexfuse.data.document",
    "read_corpus": "lexfuse.data.formats.file_format",
    "read_queries": "lexfuse.data.formats.file_format",
    "read_qrels": "lexfuse.data.formats.trec_qrels",
    "Qrels": "lexfuse.data.qrels",
    "Queries": "lexfuse.data.queries",
    "Query": "lexfuse.data.queries",
    "Run": "lexfuse.data.run",
    "read_run": "lexfuse.data.formats.trec_run",
    "Analyser": "lexfuse.text.analysis.analyser",
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
__getattr__ = lazy_exports("lexfuse", _HOMES)
