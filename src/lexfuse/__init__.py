"""LexFuse finds the law: hybrid retrieval for statutes and case law, and honest evaluation of it.

    import lexfuse as lf

    index = lf.Index.build("law.index", lf.read_corpus("library"), channels=["dense"])
    for hit in index.search("rendre un livre trop tard", k=10):
        print(hit.rank, hit.title, hit.score, hit.snippet)

    run = index.run(lf.read_queries("library"), profile="hybrid")
    print(lf.evaluate(lf.read_qrels("test.tsv"), run, "nDCG@10 R@100"))

Names load on first use, so that ``import lexfuse`` stays fast.
"""

from __future__ import annotations

from lexfuse.lazy import lazy_exports

TYPE_CHECKING = False  # as in `typing`, whose import would take most of the time; type checkers know the name
if TYPE_CHECKING:
    from lexfuse.advice.advisor import advise as advise
    from lexfuse.data.corpus import Corpus as Corpus
    from lexfuse.data.document import Document as Document
    from lexfuse.data.formats.beir import Collection as Collection
    from lexfuse.data.formats.beir import read_collection as read_collection
    from lexfuse.data.formats.file_format import read_corpus as read_corpus
    from lexfuse.data.formats.file_format import read_queries as read_queries
    from lexfuse.data.formats.text_file import read_text as read_text
    from lexfuse.data.formats.trec_qrels import read_qrels as read_qrels
    from lexfuse.data.formats.trec_run import read_run as read_run
    from lexfuse.data.qrels import Qrels as Qrels
    from lexfuse.data.queries import Queries as Queries
    from lexfuse.data.queries import Query as Query
    from lexfuse.data.run import Run as Run
    from lexfuse.errors import LexFuseError as LexFuseError
    from lexfuse.evaluation.comparison import compare as compare
    from lexfuse.evaluation.evaluation import evaluate as evaluate
    from lexfuse.fusion.convex import TM2C2 as TM2C2
    from lexfuse.fusion.convex import Convex as Convex
    from lexfuse.fusion.reciprocal_rank import ReciprocalRank as RRF  # noqa: F401, N814 -- the name everybody knows it by
    from lexfuse.fusion.run_fusion import fuse as fuse
    from lexfuse.index import Index as Index
    from lexfuse.optimisation.tuned_search import tune as tune
    from lexfuse.public_collection import collect as collect
    from lexfuse.search.spec.spec import SearchSpec as SearchSpec
    from lexfuse.text.analysis.analyser import Analyser as Analyser

__version__ = "0.1.0"

_HOMES = {  # the same names as above, for the interpreter; a test compares both
    "Index": "lexfuse.index",
    "SearchSpec": "lexfuse.search.spec.spec",
    "Document": "lexfuse.data.document",
    "Corpus": "lexfuse.data.corpus",
    "Query": "lexfuse.data.queries",
    "Queries": "lexfuse.data.queries",
    "Qrels": "lexfuse.data.qrels",
    "Run": "lexfuse.data.run",
    "Collection": "lexfuse.data.formats.beir",
    "read_corpus": "lexfuse.data.formats.file_format",
    "read_queries": "lexfuse.data.formats.file_format",
    "read_qrels": "lexfuse.data.formats.trec_qrels",
    "read_run": "lexfuse.data.formats.trec_run",
    "read_text": "lexfuse.data.formats.text_file",
    "read_collection": "lexfuse.data.formats.beir",
    "collect": "lexfuse.public_collection",
    "TM2C2": "lexfuse.fusion.convex",
    "RRF": "lexfuse.fusion.reciprocal_rank:ReciprocalRank",
    "Convex": "lexfuse.fusion.convex",
    "fuse": "lexfuse.fusion.run_fusion",
    "tune": "lexfuse.optimisation.tuned_search",
    "advise": "lexfuse.advice.advisor",
    "evaluate": "lexfuse.evaluation.evaluation",
    "compare": "lexfuse.evaluation.comparison",
    "Analyser": "lexfuse.text.analysis.analyser",
    "LexFuseError": "lexfuse.errors",
}
__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_exports("lexfuse", _HOMES)
