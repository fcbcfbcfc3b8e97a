"""What RPRS compared in a pipeline: its stage is found wherever it stands, and tells why documents have the scores they have."""

from __future__ import annotations

from collections.abc import Sequence

from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.queries import Queries, Query
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sentence_alignment import ProportionalRelevance


def rprs_stage(retriever: Retriever, query: Query) -> tuple[Retriever, Rprs] | None:
    """The retriever whose first documents RPRS compares, and RPRS itself, wherever they stand in a pipeline.

    >>> import tempfile
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.search.similar import open_similar
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     print(rprs_stage(open_similar(snapshot), Query("q", "loi")))  # without a channel of sentences
    None
    """
    stages = ((first, reranker) for first, reranker in retriever.rerankings(query) if isinstance(reranker, Rprs))
    return next(stages, None)


def proportional_relevance(
    retriever: Retriever, query: Query, docs: Sequence[str], *, within: Mask | None = None
) -> dict[str, ProportionalRelevance]:
    """Which sentences and paragraphs met, for those of the documents that RPRS compared; none where it has no part in a pipeline.

    The query is read once for all documents. Of a pipeline with several stages of RPRS the last one tells.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.channels.registry import fill_channel, plan_channel
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.search.similar import open_similar
    >>> documents = [Document("a", text="Le bail est nul. Le loyer est dû.", language="fr"), Document("b", text="Il pleut.")]
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     index.channels.make("sentences", plan_channel("sentences", language="fr"))
    ...     _ = fill_channel(index, "sentences")
    ...     with index.snapshot() as snapshot:
    ...         why = proportional_relevance(open_similar(snapshot), Query("q", "Le loyer est dû.", "fr"), ["a", "b"])
    >>> {doc: len(one.meetings) for doc, one in why.items()}  # bm25 did not find b, so that it was not compared
    {'a': 2}
    """
    stage = rprs_stage(retriever, query)
    if stage is None:
        return {}
    first, rprs = stage
    ranking = first.retrieve(Queries.of([query]), rprs.depth, within=within)
    compared = [hit.doc for hit in ranking.hits(query.id)]
    among = set(compared)
    return {one.doc: one for one in rprs.explanations(query, compared, [doc for doc in docs if doc in among])}
