"""A retriever by its name: those that every index has, and one for each of its channels."""

from __future__ import annotations

from lexfuse.encode.sides import Side
from lexfuse.errors import NotFoundError
from lexfuse.index.channel import ON_DEMAND, WORDS, ChannelKind
from lexfuse.index.flat import Pool
from lexfuse.index.late import Mode
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.retriever import Retriever
from lexfuse.text.kli import TermChoice


def open_retriever(
    snapshot: Snapshot,
    channel: str,
    *,
    k1: float = 1.2,
    b: float = 0.75,
    pool: Pool = Pool.BEST,
    exact: bool = False,
    cosine: bool | None = None,
    threads: int | None = None,
    terms: TermChoice | None = None,
    name: str | None = None,
) -> Retriever:
    """The retriever of a channel; the model that it needs is loaded, and must be the one that the channel was made by.

    A channel that was made to be searched approximately is, unless ``exact``. Learned sparse vectors are compared by their
    ``cosine`` or by their dot product; None compares them as their model was trained. With a choice of ``terms``, bm25 asks only
    for the most informative ones of a query.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     open_retriever(snapshot, "dense")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no channel 'dense' in the index; it has bm25, tfidf, citation, ...
    """
    called = name or channel
    if channel == "bm25" and terms is not None:
        from lexfuse.retrieve.informative import InformativeBM25

        return InformativeBM25(snapshot, k1=k1, b=b, choice=terms, name=called)
    if channel == "bm25":
        from lexfuse.retrieve.bm25 import BM25

        return BM25(snapshot, k1=k1, b=b, name=called)
    if channel == "tfidf":
        from lexfuse.retrieve.tfidf import TfIdf

        return TfIdf(snapshot, name=called)
    if channel in ON_DEMAND:
        from lexfuse.retrieve.ngrams import NGRAM_CHANNELS, NgramTfIdf

        return NgramTfIdf.fit(snapshot, NGRAM_CHANNELS[channel], name=called)
    if channel == "citation":
        from lexfuse.retrieve.citation import CitationLookup

        return CitationLookup(snapshot, name=called)
    if channel not in snapshot.channels:
        known = ", ".join((*WORDS, *snapshot.channels))
        raise NotFoundError(f"no channel {channel!r} in the index; it has {known}; add one with lexfuse index --channels")
    from lexfuse.encode import channels

    settings = snapshot.channel(channel).named.settings
    if settings.kind is ChannelKind.SPARSE:
        from lexfuse.retrieve.splade import Splade

        sparse = channels.sparse_encoder(settings, Side.QUERY, threads=threads)
        by_cosine = sparse.cosine if cosine is None else cosine
        return Splade(snapshot, encoder=sparse, channel=channel, cosine=by_cosine, name=called)
    if settings.kind is ChannelKind.LATE:
        from lexfuse.retrieve.colbert import Colbert

        late = channels.late_encoder(settings, Side.QUERY, threads=threads)
        return Colbert(snapshot, late, channel, Mode.BRUTE_FORCE if exact else Mode.PLAID, name=called)
    from lexfuse.retrieve.dense import Dense

    dense = channels.dense_encoder(settings, Side.QUERY, threads=threads)
    return Dense(snapshot, dense, channel, pool, exact or not settings.options.get("approximate"), name=called)
