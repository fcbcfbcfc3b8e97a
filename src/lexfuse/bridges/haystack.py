"""An index as a retriever component of Haystack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexfuse.bridges.bound_search import BoundSearch, hit_metadata
from lexfuse.dependencies import Extra
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.search.index_reader import IndexReader
from lexfuse.storage.index_source import index_source

Extra.HAYSTACK.require("lexfuse.bridges.haystack")

from haystack import Document as HaystackDocument  # noqa: E402
from haystack import component, default_from_dict, default_to_dict  # noqa: E402


@component
class HaystackRetriever:
    """Documents in the order of `Index.search`, with their metadata and scores.

    The index is open, or the place of one, which is opened by `warm_up`; only the place is written by `to_dict`. Inputs of `run`
    replace the options of the retriever.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     found = HaystackRetriever(index, top_k=2).run("retard de prêt")["documents"]
    >>> [(one.id, one.meta["rank"], one.meta["number"]) for one in found]
    [('lib-4', 1, 'L4'), ('lib-3', 2, 'L3')]
    """

    def __init__(
        self,
        index: IndexReader | str | Path,
        top_k: int = 10,
        profile: str = "",
        filters: list[str] | None = None,
        as_of: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Search an index with these options; `filters` are those of LexFuse, such as ``["code=Code civil"]``."""
        self._place: str | Path | None = None if isinstance(index, IndexReader) else index
        self._arguments: dict[str, Any] = {"profile": profile, "filters": filters or [], "as_of": as_of, "options": options or {}}
        self._top_k = top_k
        self._search = BoundSearch(index, top_k, **self._arguments) if isinstance(index, IndexReader) else None

    def warm_up(self) -> None:
        """Open the index, if its place was given."""
        if self._search is None and self._place is not None:
            self._search = BoundSearch(Index.open(self._place), self._top_k, **self._arguments)

    def close(self) -> None:
        """Close the index, if `warm_up` opened it."""
        if self._place is not None and self._search is not None and isinstance(self._search.index, Index):
            self._search.index.close()
            self._search = None

    @component.output_types(documents=list[HaystackDocument])
    def run(
        self,
        query: str,
        top_k: int | None = None,
        profile: str | None = None,
        filters: list[str] | None = None,
        as_of: str | None = None,
    ) -> dict[str, list[HaystackDocument]]:
        """The best documents."""
        self.warm_up()
        given = {"k": top_k, "profile": profile, "filters": filters, "as_of": as_of}
        changed = {name: value for name, value in given.items() if value is not None}
        hits = self._bound.hits(query, **changed)
        documents = [
            HaystackDocument(id=hit.id, content=hit.document.text, meta=hit_metadata(hit, hits.profile), score=float(hit.score))
            for hit in hits
        ]
        return {"documents": documents}

    @property
    def _bound(self) -> BoundSearch:
        if self._search is None:
            raise ConfigError("the retriever has no index; give it an open index or the place of one")
        return self._search

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values: the place of the index, without a password, and the options."""
        index = self._search.index if self._search else None
        source = index_source(self._place) if self._place is not None else index.source if isinstance(index, Index) else None
        if source is None:
            raise ConfigError("an index of a cluster cannot be written; make the component in the program that runs it")
        check_plain(self._arguments)
        written: dict[str, Any] = default_to_dict(self, index=str(source), top_k=self._top_k, **self._arguments)
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> HaystackRetriever:
        """The component of plain values; the index is opened by `warm_up`."""
        made: HaystackRetriever = default_from_dict(cls, data)
        return made


def check_plain(arguments: Mapping[str, Any]) -> None:
    """Refuse options that are no JSON values.

    >>> check_plain({"options": {"channels": ["bm25"], "fusion": "rrf"}})
    """
    try:
        json.dumps(arguments)  # refuses what another library would write as an object: the value of a fusion, for example
    except TypeError as error:
        raise ConfigError(f"a pipeline is written with plain options only ({error}); use names, or a profile") from None
