"""An index as a retriever of LangChain."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any

from lexfuse.bridges.bound_search import BoundSearch, hit_metadata
from lexfuse.dependencies import Extra
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.spec.spec import SearchSpec

Extra.LANGCHAIN.require("lexfuse.bridges.langchain")

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun  # noqa: E402
from langchain_core.documents import Document as LangChainDocument  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402
from pydantic import Field, PrivateAttr  # noqa: E402


class LangChainRetriever(BaseRetriever):
    """Documents in the order of `Index.search`, with their metadata and scores.

    Arguments of a call replace those of the retriever: ``retriever.invoke(question, k=3, as_of="2024-01-01")``.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     found = LangChainRetriever(index=index, k=2).invoke("retard de prêt")
    >>> [(one.id, one.metadata["rank"], one.metadata["number"]) for one in found]
    [('lib-4', 1, 'L4'), ('lib-3', 2, 'L3')]
    """

    index: IndexReader = Field(exclude=True, repr=False)
    k: int = 10
    profile: str | SearchSpec = ""
    filters: Sequence[str] = ()
    as_of: str | datetime.date | None = None
    options: Mapping[str, Any] = Field(default_factory=dict)
    _search: BoundSearch = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Check the options."""
        super().model_post_init(context)
        self._search = BoundSearch(self.index, self.k, self.profile, self.filters, self.as_of, self.options)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None, **changed: Any
    ) -> list[LangChainDocument]:
        hits = self._search.hits(query, **changed)
        return [
            LangChainDocument(id=hit.id, page_content=hit.document.text, metadata=hit_metadata(hit, hits.profile)) for hit in hits
        ]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun | None = None, **changed: Any
    ) -> list[LangChainDocument]:
        """The same in a thread; the one of the base class would leave the arguments of the call out."""
        call = partial(copy_context().run, self._get_relevant_documents, query, **changed)
        return await asyncio.get_running_loop().run_in_executor(None, call)
