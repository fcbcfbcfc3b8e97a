"""An index as a transformer of PyTerrier: queries in, a ranking out. It needs no Java."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from lexfuse.bridges.bound_search import BoundSearch
from lexfuse.data.queries import Queries, Query
from lexfuse.dependencies import Extra
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.spec.spec import SearchSpec

Extra.PYTERRIER.require("lexfuse.bridges.pyterrier")

import pandas  # noqa: E402
import pyterrier  # noqa: E402
from pyterrier.model import query_columns  # noqa: E402


class PyTerrierRetriever(pyterrier.Transformer):  # type: ignore[misc, unused-ignore]
    """Ranks the documents of an index for a frame of queries, as `Index.run` does, with the text of each document.

    Queries are plain text. ``%`` is pushed into the search: ``retriever % 10`` ranks ten documents.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     found = PyTerrierRetriever(index, 2).search("retard de prêt")
    >>> found[["docno", "rank"]].values.tolist()
    [['lib-4', 0], ['lib-3', 1]]
    """

    def __init__(
        self,
        index: IndexReader,
        num_results: int = 1000,
        *,
        profile: str | SearchSpec = "",
        filters: Sequence[str] = (),
        as_of: str | datetime.date | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Search an open index with these options, which are those of `Index.run`."""
        super().__init__()
        self._search = BoundSearch(index, num_results, profile, filters, as_of, options or {})

    def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
        """Rows of qid, docno, rank from 0, score and text, with the columns of the queries."""
        pyterrier.validate.query_frame(inp, ["query"])
        asked, search = inp[query_columns(inp)].drop_duplicates("qid"), self._search
        queries = Queries.of(Query(id, text) for id, text in zip(asked["qid"], asked["query"], strict=True))
        run = search.index.run(
            queries, depth=search.k, profile=search.profile, filters=search.filters, as_of=search.as_of, **search.options
        )
        rows = [
            {"qid": query.id, "docno": hit.doc, "rank": hit.rank - 1, "score": float(hit.score)}
            for query in queries
            for hit in run.hits(query.id)
        ]
        ranked = pandas.DataFrame(rows, columns=["qid", "docno", "rank", "score"])
        docs = list(dict.fromkeys(ranked["docno"]))
        found = search.index.version.search_by(search.profile, as_of=search.as_of).version.snapshot.documents(docs)
        texts = dict(zip(docs, (document.text for document in found), strict=True))
        ranked["text"] = ranked["docno"].map(texts)
        return asked.merge(ranked.astype({"rank": int, "score": float}), on="qid")

    def fuse_rank_cutoff(self, k: int) -> PyTerrierRetriever:
        """The same search with at most `k` results, for ``retriever % k``."""
        if k >= self._search.k:
            return self
        fewer = PyTerrierRetriever(self._search.index)
        fewer._search = dataclasses.replace(self._search, k=k)
        return fewer
