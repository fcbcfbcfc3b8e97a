"""The kinds of channels there are, and what is done by the name of a channel: planning it, filling it, opening its retriever.

A new kind is a folder with a `ChannelKind` and one entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lexfuse.channels.channel_kind import ChannelKind
from lexfuse.channels.channel_plan import ChannelPlan, _lasting
from lexfuse.channels.citation.kind import CitationKind
from lexfuse.channels.dense.builder import load_dense_encoder
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.channels.late.builder import load_late_encoder
from lexfuse.channels.late.kind import LateKind
from lexfuse.channels.lexical.kinds import BM25Kind, NgramKind, TfIdfKind
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.channels.sparse.builder import load_sparse_encoder
from lexfuse.channels.sparse.kind import SparseKind
from lexfuse.errors import ConfigError, DataError, UnknownChannelError
from lexfuse.storage.channel_data.channel_settings import ChannelSettings, Option
from lexfuse.storage.channel_data.stored_part import StoredPart
from lexfuse.storage.snapshot import Snapshot

_KINDS: dict[str, ChannelKind] = {}


def register(kind: ChannelKind) -> None:
    """Make a kind known; its name and the names of its channels must be new."""
    taken = {channel for other in _KINDS.values() for channel in other.channels}
    for name in (kind.name, *kind.channels):
        if name in taken or kind.name in _KINDS:
            raise ConfigError(f"there is a kind of channel {name!r} already; choose another name")
    _KINDS[kind.name] = kind


def unregister(kind: ChannelKind) -> None:
    """Forget a kind; an index with such a channel cannot be opened until it is registered again."""
    del _KINDS[kind.name]


for _kind in (BM25Kind(), TfIdfKind(), CitationKind(), NgramKind(), DenseKind(), SparseKind(), LateKind()):
    register(_kind)


def channel_kinds() -> tuple[ChannelKind, ...]:
    """All kinds that are registered."""
    return tuple(_KINDS.values())


def builtin_channels(*, on_demand: bool = True) -> tuple[str, ...]:
    """Names of the channels that every index has, as nothing is stored for them; those made on demand may be left out.

    >>> builtin_channels(on_demand=False)
    ('bm25', 'tfidf', 'citation')
    """
    kinds = [kind for kind in _KINDS.values() if kind.part_class is None and (on_demand or not kind.on_demand)]
    return tuple(channel for kind in kinds for channel in kind.channels)


def channel_kind(channel: str) -> ChannelKind:
    """The kind of a channel by its name: that of a channel which every index has, or the part before the first hyphen.

    >>> channel_kind("dense-e5").name
    'dense'
    >>> channel_kind("fast")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no kind of channel 'fast'; there are bm25, ..., splade, colbert, and names like dense-mine
    """
    for kind in _KINDS.values():
        if channel in kind.channels or (kind.part_class is not None and channel.split("-")[0] in kind.channels):
            return kind
    known = ", ".join(name for kind in _KINDS.values() for name in kind.channels)
    raise ConfigError(f"no kind of channel {channel!r}; there are {known}, and names like dense-mine")


def kind_in(snapshot: Snapshot, channel: str) -> ChannelKind:
    """The kind of a channel of an index; `UnknownChannelError` lists the channels that the index has."""
    if channel in snapshot.channels:
        return _stored_kind(snapshot.channel(channel).named.settings.kind)
    if channel in builtin_channels():
        return channel_kind(channel)
    known = ", ".join((*builtin_channels(), *snapshot.channels))
    raise UnknownChannelError(f"no channel {channel!r} in the index; it has {known}; add one with lexfuse index --channels")


def open_retriever(
    snapshot: Snapshot, channel: str, *, name: str | None = None, threads: int | None = None, **options: Any
) -> Retriever:
    """The retriever of a channel, called by its name or another one.

    The model that it needs is loaded, and must be the one that the channel was made by. The options are those of the
    channel's kind (`ChannelKind.search_options`); another one is a `ConfigError`.

    >>> open_retriever(snapshot, "bm25", k1=0.9).k1
    0.9
    >>> open_retriever(snapshot, "dense")
    Traceback (most recent call last):
    ...
    lexfuse.errors.UnknownChannelError: no channel 'dense' in the index; it has bm25, tfidf, citation, ...
    """
    kind = kind_in(snapshot, channel)
    return kind.open(snapshot, channel, kind.search_options.of(channel, options), name=name or channel, threads=threads)


def applicable_options(snapshot: Snapshot, channel: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some options, given for several channels, that a channel of an index has."""
    fields = kind_in(snapshot, channel).search_options.model_fields
    return {option: value for option, value in options.items() if option in fields}


def part_class(kind: str) -> type[StoredPart]:
    """The class of what a kind stores; `lexfuse.storage` finds it here."""
    found = _stored_kind(kind).part_class
    if found is None:
        raise DataError(f"a channel of the kind {kind!r} stores nothing, but the index names one; drop the channel")
    return found


def _stored_kind(kind: str) -> ChannelKind:
    try:
        return _KINDS[kind]
    except KeyError:
        reason = f"the index has a channel of the kind {kind!r}, which is not registered; there are {', '.join(_KINDS)}"
        raise DataError(f"{reason}; register the kind, or drop the channel and make it again") from None


def plan_channel(name: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
    """The settings of a new channel; loads the models to know their fingerprints.

    >>> plan_channel("dense", ChannelPlan("fr-legal-dense")).options["storage"]
    'fp16'
    """
    kind, passages = channel_kind(name).name, plan.passages
    options: dict[str, Option] = {"int8": plan.int8, "headings": passages.headings}
    if kind == "dense":
        options |= {"storage": plan.storage, "approximate": plan.approximate}
        options |= {"scheme": passages.scheme.value, "size": passages.size, "overlap": passages.overlap}
    elif kind == "sparse":
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
    if settings.kind == "dense":
        return load_dense_encoder(model, settings, threads).fingerprint
    if settings.kind == "sparse":
        return load_sparse_encoder(model, settings, threads).fingerprint
    return load_late_encoder(model, settings, threads).fingerprint


def _check_towers(settings: ChannelSettings, threads: int | None) -> None:
    """Refuse towers whose vectors cannot be compared; terms of sparse ones are compared by how they are spelled."""
    from lexfuse.encode.dense_encoder import TwoTowerEncoder

    if settings.kind == "dense":
        TwoTowerEncoder(
            load_dense_encoder(settings.query_model, settings, threads), load_dense_encoder(settings.model, settings, threads)
        )
    elif settings.kind == "late":
        queries, passages = (
            load_late_encoder(model, settings, threads).dimension for model in (settings.query_model, settings.model)
        )
        if queries != passages:
            told = f"the encoder of queries gives vectors of {queries} numbers, that of passages of {passages}"
            raise ConfigError(f"{told}; two towers need the same")
