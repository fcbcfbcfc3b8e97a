"""The channels that a search can name, whether they fit together with a fusion and rerankers, and the retriever that they make.

A channel is one of the index, a cross-encoder that ranks the candidates of another one, or SDR over all documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.registry import applicable_options, builtin_channels, channel_kind, channel_kinds, kind_in, open_retriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.validation import Model, Name, by_method
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.rerank.cross_encoder import CrossEncoderRetriever
from lexfuse.rerank.sdr_retriever import SdrRetriever
from lexfuse.search.pipeline import fuse_retrievers
from lexfuse.search.similar import SENTENCES
from lexfuse.search.spec.reranker_specs import CrossEncoderSpec, open_sentence_retriever
from lexfuse.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from lexfuse.search.spec.spec import SearchSpec


class ChannelSpec(Model):
    """A channel of the index and how it is searched: the options are those of its kind.

    >>> ChannelSpec.of("bm25", k1=0.9).options
    {'k1': 0.9}
    >>> ChannelSpec.of("dense", k1=0.9)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: there is no 'k1'; there are method, name, exact, pool; k1 is for bm25
    """

    model_config = ConfigDict(extra="allow")

    method: Literal["search"] = "search"
    name: Name = Field(description="a text, the name of a channel of the index")

    @classmethod
    def of(cls, name: str, **options: Any) -> Self:
        """A channel by its name, with options of its kind."""
        values: dict[str, Any] = {"name": name, **options}
        return cls(**values)

    @classmethod
    def keys_for(cls, values: Mapping[str, Any]) -> list[str]:
        """The options of the kind that the name implies; those of every kind if it implies none."""
        found = _kind(values.get("name", ""))
        kinds = channel_kinds() if found is None else (found,)
        return list(
            dict.fromkeys([*cls.table_keys(), *(option for kind in kinds for option in kind.search_options.model_fields)])
        )

    @classmethod
    def owners(cls, key: str) -> str:
        """The channels that have an option."""
        return " or ".join(name for kind in channel_kinds() if key in kind.search_options.model_fields for name in kind.channels)

    @property
    def options(self) -> dict[str, Any]:
        """The options that are given."""
        return dict(self.model_extra or {})

    def check(self) -> None:
        """Refuse values that the kind does not allow; a kind that the name does not tell is asked when the channel is opened."""
        kind = _kind(self.name)
        if kind is not None and self.model_extra:
            typed = kind.search_options(**self.model_extra)
            self.model_extra.update({option: getattr(typed, option) for option in self.model_extra})

    def open(self, snapshot: Snapshot, name: str | None = None) -> Retriever:
        """The retriever; a channel that the index lacks is an `UnknownChannelError` that lists those it has."""
        return open_retriever(snapshot, self.name, name=name, **self.options)

    @model_serializer
    def _values(self) -> dict[str, Any]:
        kind = _kind(self.name)
        if kind is None:
            return {"name": self.name, **self.options}
        return {"name": self.name, **kind.search_options(**self.options).model_dump(mode="json", include=set(self.options))}


def specs_of(snapshot: Snapshot, channels: Sequence[str], options: Mapping[str, Any]) -> list[ChannelSpec]:
    """Some channels of an index, each with those of the options that it has; one that none has is a `ConfigError`.

    >>> specs_of(snapshot, ["tfidf", "bm25"], {"k1": 0.9})[1].options
    {'k1': 0.9}
    """
    specs = [ChannelSpec.of(name, **applicable_options(snapshot, name, options)) for name in channels]
    unused = [option for option in options if not any(option in spec.options for spec in specs)]
    if unused:
        raise ConfigError(f"{unused[0]} applies to no selected channel ({', '.join(channels)})")
    return specs


def _kind(channel: Any) -> ChannelKind | None:
    """The kind that the name of a channel implies, or None; an index may have a channel of any name."""
    try:
        return channel_kind(str(channel))
    except ConfigError:
        return None


def channel_options(channel: str) -> list[str]:
    """The options of a channel by its name; where that does not tell the kind, those that every kind has.

    >>> channel_options("splade-mine")
    ['exact', 'cosine']
    """
    kind = _kind(channel)
    return list((SearchOptions if kind is None else kind.search_options).model_fields)


class CrossEncoderChannel(CrossEncoderSpec):
    """A cross-encoder (a folder, or a hub id) as one more source: it ranks the first `depth` documents of another channel.

    >>> CrossEncoderChannel(model="models/monobert", over="bm25").name
    'cross-encoder'
    >>> CrossEncoderChannel(model="models/monobert", over="bm25", name="tfidf")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: every index has a channel 'tfidf'; give the cross-encoder another name
    """

    over: Name = Field(description="a text, the name of the channel whose candidates the cross-encoder ranks")
    name: str = CrossEncoderSpec.model_fields["method"].default

    def check(self) -> None:
        """Refuse a name that it cannot have."""
        super().check()
        _check_name(self.name, self.method, "the cross-encoder")

    def open_over(self, snapshot: Snapshot, candidates: Retriever) -> Retriever:
        """The retriever over that of its candidates, with its model loaded."""
        return CrossEncoderRetriever(candidates, replace(self.open(snapshot), name=self.name))


class SdrChannel(Model):
    """SDR inference over all documents of a channel of sentences, as a first stage or as one source among others.

    >>> SdrChannel().channel
    'sentences'
    >>> SdrChannel(name="bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: every index has a channel 'bm25'; give SDR another name
    """

    method: Literal["sdr"] = "sdr"
    channel: Name = SENTENCES
    name: str = "sdr"

    def check(self) -> None:
        """Refuse a name that it cannot have."""
        _check_name(self.name, self.method, "SDR")

    def open(self, snapshot: Snapshot, name: str | None = None) -> Retriever:
        """The retriever, with the model of its channel loaded."""
        return SdrRetriever(open_sentence_retriever(snapshot, self.channel), name=name or self.name)

    @model_serializer(mode="wrap")
    def _values(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The method is always written: without it, a table is a channel of the index."""
        return {"method": self.method, **handler(self)}


def _check_name(name: str, method: str, what: str) -> None:
    """Refuse a name that a channel by a method cannot have."""
    if not name:
        raise ConfigError(f"name must be a text, got {name!r}; leave it out for {method!r}")
    if name in builtin_channels():
        raise ConfigError(f"every index has a channel {name!r}; give {what} another name")


ChannelChoice = Annotated[
    ChannelSpec | CrossEncoderChannel | SdrChannel,
    Field(discriminator="method"),
    BeforeValidator(by_method((ChannelSpec, CrossEncoderChannel, SdrChannel))),
]


def check_pipeline(spec: SearchSpec) -> None:
    """Refuse channels, a fusion and rerankers that do not fit together."""
    names = [channel.name for channel in spec.channels]
    if not names:
        raise ConfigError('there is no channel; give at least one: [[channel]] with name = "bm25"')
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"channel {name!r} is given twice; give each channel once")
    for channel in spec.channels:
        _candidate_channels(spec, channel)
        if not isinstance(channel, ChannelSpec) and channel.name in [rerank.method for rerank in spec.rerank]:
            raise ConfigError(f"a channel and a reranker are both called {channel.name!r}; give the channel another name")
    if spec.fusion and len(names) == 1:
        raise ConfigError("a fusion needs two channels or more; leave [fusion] out, or add a channel")
    if isinstance(spec.fusion, TM2C2) and spec.fusion.lexical != TM2C2().lexical:
        raise ConfigError("fusion: a search counts its lexical channels itself; leave lexical out of TM2C2")
    for option in ("weights", "eta", "normalisers"):
        given = getattr(spec.fusion, option, None)
        if spec.fusion and isinstance(given, Sequence) and len(given) != len(names):
            raise ConfigError(f"the fusion {spec.fusion.name} has {len(given)} {option} for {len(names)} channels; give one each")


def _candidate_channels(spec: SearchSpec, channel: ChannelChoice) -> list[str]:
    """The channel, the one whose candidates it ranks, the one below that … down to one that searches the index."""
    every, way = {one.name: one for one in spec.channels}, [channel.name]
    while isinstance(channel, CrossEncoderChannel):
        if channel.over not in every:
            known = ", ".join(name for name in every if name != channel.name) or "none"
            advice = f'others here: {known}; add [[channel]] with name = "{channel.over}"'
            raise ConfigError(f"channel {channel.name!r} is over {channel.over!r}, which is no channel here; {advice}")
        channel = every[channel.over]
        way.append(channel.name)
        if channel.name in way[:-1]:
            circle = " over ".join(map(repr, way[way.index(channel.name) :]))
            raise ConfigError(f"channels go round in a circle: {circle}; put the last one over a channel of the index")
    return way


def open_pipeline(spec: SearchSpec, snapshot: Snapshot, name: str | None) -> Retriever:
    """The channels of a search, fused and reranked, without regard to classes of queries."""
    last = None if spec.rerank else name  # before it is reranked, a ranking has the names of its channels
    opened: dict[str, Retriever] = {}
    for channel in sorted(spec.channels, key=lambda one: len(_candidate_channels(spec, one))):
        if isinstance(channel, CrossEncoderChannel):
            opened[channel.name] = channel.open_over(snapshot, opened[channel.over])
        else:
            opened[channel.name] = channel.open(snapshot, last if len(spec.channels) == 1 else None)
    lexical = [one.name for one in spec.channels if isinstance(one, ChannelSpec) and kind_in(snapshot, one.name).lexical]
    channels = [opened[channel.name] for channel in spec.channels]
    found = fuse_retrievers(channels, spec.fusion, spec.depth, lexical=lexical, name=last)
    for rerank in spec.rerank:
        reranked = found >> rerank.open(snapshot)
        found = replace(reranked, name=name or reranked.name)
    return found
