"""A retriever by its name: those that every index has, and one for each of its channels."""

from __future__ import annotations

from dataclasses import replace

from lexfuse.channels.channel_plan import ChannelPlan, _lasting, kind_of
from lexfuse.channels.dense.builder import load_dense_encoder
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.late.builder import load_late_encoder
from lexfuse.channels.late.late_search import LateMode
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.channels.sparse.builder import load_sparse_encoder
from lexfuse.encode.encoder import Side
from lexfuse.errors import ConfigError, UnknownChannelError
from lexfuse.storage.channel_data.channel_settings import ON_DEMAND, WORDS, ChannelKind, ChannelSettings, Option
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice


def open_retriever(
    snapshot: Snapshot,
    channel: str,
    *,
    k1: float = 1.2,
    b: float = 0.75,
    pool: PassagePooling = PassagePooling.BEST,
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
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     open_retriever(snapshot, "dense")
    Traceback (most recent call last):
    ...
    lexfuse.errors.UnknownChannelError: no channel 'dense' in the index; it has bm25, tfidf, citation, ...
    """
    called = name or channel
    if channel == "bm25" and terms is not None:
        from lexfuse.channels.lexical.bm25_kli import BM25Kli

        return BM25Kli(snapshot, k1=k1, b=b, choice=terms, name=called)
    if channel == "bm25":
        from lexfuse.channels.lexical.bm25 import BM25

        return BM25(snapshot, k1=k1, b=b, name=called)
    if channel == "tfidf":
        from lexfuse.channels.lexical.tfidf import TfIdf

        return TfIdf(snapshot, name=called)
    if channel in ON_DEMAND:
        from lexfuse.channels.lexical.ngram_tfidf import NGRAM_CHANNELS, NgramTfIdf

        return NgramTfIdf.fit(snapshot, NGRAM_CHANNELS[channel], name=called)
    if channel == "citation":
        from lexfuse.channels.citation.lookup import CitationLookup

        return CitationLookup(snapshot, name=called)
    if channel not in snapshot.channels:
        known = ", ".join((*WORDS, *snapshot.channels))
        raise UnknownChannelError(f"no channel {channel!r} in the index; it has {known}; add one with lexfuse index --channels")
    from lexfuse.channels.dense.builder import dense_encoder
    from lexfuse.channels.late.builder import late_encoder
    from lexfuse.channels.sparse.builder import sparse_encoder

    settings = snapshot.channel(channel).named.settings
    if settings.kind is ChannelKind.SPARSE:
        from lexfuse.channels.sparse.retriever import SparseRetriever

        sparse = sparse_encoder(settings, Side.QUERY, threads=threads)
        by_cosine = sparse.cosine if cosine is None else cosine
        return SparseRetriever(snapshot, encoder=sparse, channel=channel, cosine=by_cosine, name=called)
    if settings.kind is ChannelKind.LATE:
        from lexfuse.channels.late.retriever import LateRetriever

        late = late_encoder(settings, Side.QUERY, threads=threads)
        return LateRetriever(snapshot, late, channel, LateMode.BRUTE_FORCE if exact else LateMode.PLAID, name=called)
    from lexfuse.channels.dense.retriever import DenseRetriever

    dense = dense_encoder(settings, Side.QUERY, threads=threads)
    return DenseRetriever(snapshot, dense, channel, pool, exact or not settings.options.get("approximate"), name=called)


def plan_channel(name: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
    """The settings of a new channel; loads the models to know their fingerprints.

    >>> plan_channel("dense", ChannelPlan("fr-legal-dense")).options["storage"]
    'fp16'
    """
    kind, passages = kind_of(name), plan.passages
    options: dict[str, Option] = {"int8": plan.int8, "headings": passages.headings}
    if kind is ChannelKind.DENSE:
        options |= {"storage": plan.storage, "approximate": plan.approximate}
        options |= {"scheme": passages.scheme.value, "size": passages.size, "overlap": passages.overlap}
    elif kind is ChannelKind.SPARSE:
        options |= {"terms": plan.terms}
    else:
        options |= {"bits": plan.bits}
    settings = ChannelSettings(kind, _lasting(plan.model), "", _lasting(plan.query_model), "", options)
    documents = _fingerprint(settings, settings.model, threads)
    queries = _fingerprint(settings, settings.query_model, threads) if settings.two_towers else ""
    if settings.two_towers:
        _check_towers(settings, threads)
    return replace(settings, fingerprint=documents, query_fingerprint=queries)


def _fingerprint(settings: ChannelSettings, model: str, threads: int | None) -> str:
    if settings.kind is ChannelKind.DENSE:
        return load_dense_encoder(model, settings, threads).fingerprint
    if settings.kind is ChannelKind.SPARSE:
        return load_sparse_encoder(model, settings, threads).fingerprint
    return load_late_encoder(model, settings, threads).fingerprint


def _check_towers(settings: ChannelSettings, threads: int | None) -> None:
    """Refuse towers whose vectors cannot be compared; terms of sparse ones are compared by how they are spelled."""
    from lexfuse.encode.dense_encoder import TwoTowerEncoder

    if settings.kind is ChannelKind.DENSE:
        TwoTowerEncoder(
            load_dense_encoder(settings.query_model, settings, threads), load_dense_encoder(settings.model, settings, threads)
        )
    elif settings.kind is ChannelKind.LATE:
        queries, passages = (
            load_late_encoder(model, settings, threads).dimension for model in (settings.query_model, settings.model)
        )
        if queries != passages:
            told = f"the encoder of queries gives vectors of {queries} numbers, that of passages of {passages}"
            raise ConfigError(f"{told}; two towers need the same")
