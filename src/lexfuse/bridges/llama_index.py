"""An index as a retriever of LlamaIndex."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from lexfuse.bridges.bound_search import RANKING_KEYS, BoundSearch, hit_metadata
from lexfuse.dependencies import Extra
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.spec.spec import SearchSpec

Extra.LLAMA_INDEX.require("lexfuse.bridges.llama_index")

from llama_index.core.base.base_retriever import BaseRetriever  # noqa: E402
from llama_index.core.callbacks import CallbackManager  # noqa: E402
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode  # noqa: E402


class LlamaIndexRetriever(BaseRetriever):
    """Nodes in the order of `Index.search`, with their metadata and scores.

    Metadata of the search, such as rank and snippet, is not shown to language and embedding models.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     found = LlamaIndexRetriever(index, k=2).retrieve("retard de prêt")
    >>> [(one.node_id, one.metadata["rank"], one.metadata["number"]) for one in found]
    [('lib-4', 1, 'L4'), ('lib-3', 2, 'L3')]
    """

    def __init__(
        self,
        index: IndexReader,
        k: int = 10,
        *,
        profile: str | SearchSpec = "",
        filters: Sequence[str] = (),
        as_of: str | datetime.date | None = None,
        options: Mapping[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Search an open index with these options."""
        self._search = BoundSearch(index, k, profile, filters, as_of, options or {})
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._search.hits(query_bundle.query_str)
        hidden = list(RANKING_KEYS)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=hit.document.text,
                    metadata=hit_metadata(hit, hits.profile),
                    excluded_llm_metadata_keys=hidden,
                    excluded_embed_metadata_keys=hidden,
                ),
                score=float(hit.score),
            )
            for hit in hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same in a thread, so that the loop is not blocked."""
        return await asyncio.to_thread(self._retrieve, query_bundle)
