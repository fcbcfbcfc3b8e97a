"""The choices that make a search pipeline: channels, a fusion, rerankers (`reranks`); each checked as soon as it is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.errors import ConfigError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.registry import FusionOptions, make_fusion
from lexfuse.fusion.tm2c2 import TM2C2
from lexfuse.search.pipeline import fuse_retrievers
from lexfuse.search.spec.reranker_specs import CrossEncoderSourceSpec, RerankChoice
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice

K1, B = 1.2, 0.75  # of BM25, where none are given


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """A channel of the index and how it is searched; None is the usual value.

    >>> ChannelSpec("dense", k1=0.9)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: channel 'dense' has no k1 and no b; only bm25 has
    """

    method: ClassVar[str] = "search"
    name: str
    k1: float | None = None
    b: float | None = None
    exact: bool = False
    cosine: bool | None = None  # of learned sparse vectors; None compares them as their model was trained
    kli: float | None = None  # how many of a query's terms bm25 asks for, most informative first: a share, or above 1 a number

    def __post_init__(self) -> None:
        """Refuse parameters that the channel cannot have."""
        if self.name != "bm25" and (self.k1, self.b) != (None, None):
            raise ConfigError(f"channel {self.name!r} has no k1 and no b; only bm25 has")
        if self.name != "bm25" and self.kli is not None:
            raise ConfigError(f"channel {self.name!r} has no choice of terms (kli); only bm25 has")
        if self.kli is not None:
            TermChoice(self.kli)  # refuses what is no amount
        if self.k1 is not None and not 0 <= self.k1 < float("inf"):
            raise ConfigError(f"k1 must be 0 or more, got {self.k1}; 1.2 is usual")
        if self.b is not None and not 0 <= self.b <= 1:
            raise ConfigError(f"b must lie between 0 and 1, got {self.b}; 0.75 is usual")

    def open(self, snapshot: Snapshot, name: str | None = None) -> Retriever:
        """The retriever; a channel that the index lacks is a `NotFoundError` that lists those it has."""
        given: dict[str, Any] = {"k1": self.k1, "b": self.b, "exact": self.exact, "cosine": self.cosine, "kli": self.kli}
        options = {option: value for option, value in given.items() if value is not None}
        return open_retriever(snapshot, self.name, name=name, **options)


SourceChoice = ChannelSpec | CrossEncoderSourceSpec
SOURCES: dict[str, type[SourceChoice]] = {kind.method: kind for kind in (ChannelSpec, CrossEncoderSourceSpec)}


@dataclass(frozen=True, slots=True)
class FusionSpec:
    """A fusion by its name, with its options.

    >>> FusionSpec("convex", FusionOptions(weights=(0.4, 0.6))).fusion.weights(2).tolist()
    [0.4, 0.6]
    """

    method: str = TM2C2.name
    options: FusionOptions = field(default_factory=FusionOptions)

    def __post_init__(self) -> None:
        """Refuse what is no fusion."""
        make_fusion(self.method, self.options)

    @property
    def fusion(self) -> Fusion:
        """The fusion itself."""
        return make_fusion(self.method, self.options)

    def check(self, channels: int) -> None:
        """Refuse a fusion that does not fit so many channels.

        >>> FusionSpec("convex", FusionOptions(weights=(0.4, 0.6))).check(3)
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: the fusion convex has 2 weights for 3 channels; give one each
        """
        for what in ("weights", "eta", "normalisers"):
            given = len(getattr(self.options, what))
            if given not in (0, channels) and (given > 1 or what == "weights"):
                raise ConfigError(f"the fusion {self.method} has {given} {what} for {channels} channels; give one each")


@dataclass(frozen=True, slots=True)
class PipelineSpec:
    """Channels, how they become one ranking, and what reranks it.

    >>> PipelineSpec((ChannelSpec("bm25"), ChannelSpec("bm25")))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: channel 'bm25' is given twice; give each channel once
    """

    channels: tuple[SourceChoice, ...]
    fusion: FusionSpec | None = None  # TM2C2 where there are several channels
    reranks: tuple[RerankChoice, ...] = ()

    def __post_init__(self) -> None:
        """Refuse channels and a fusion that do not fit."""
        names = [channel.name for channel in self.channels]
        if not names:
            raise ConfigError('there is no channel; give at least one: [[channel]] with name = "bm25"')
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"channel {name!r} is given twice; give each channel once")
        for channel in self.channels:
            self._way_down(channel)
            if isinstance(channel, CrossEncoderSourceSpec) and channel.name in (rerank.method for rerank in self.reranks):
                raise ConfigError(f"a channel and a reranker are both called {channel.name!r}; give the channel another name")
        if self.fusion and len(names) == 1:
            raise ConfigError("a fusion needs two channels or more; leave [fusion] out, or add a channel")
        if self.fusion:
            self.fusion.check(len(names))

    def open(self, snapshot: Snapshot, depth: int, name: str | None = None) -> Retriever:
        """The retriever on a snapshot of an index."""
        last = None if self.reranks else name  # before it is reranked, a ranking has the names of its channels
        opened: dict[str, Retriever] = {}
        for channel in sorted(self.channels, key=lambda one: len(self._way_down(one))):
            if isinstance(channel, CrossEncoderSourceSpec):
                opened[channel.name] = channel.open(snapshot, opened[channel.over])
            else:
                opened[channel.name] = channel.open(snapshot, last if len(self.channels) == 1 else None)
        channels = [opened[channel.name] for channel in self.channels]
        found = fuse_retrievers(channels, self.fusion.fusion if self.fusion else None, depth, name=last)
        for rerank in self.reranks:
            reranked = found >> rerank.open(snapshot)
            found = replace(reranked, name=name or reranked.name)
        return found

    def _way_down(self, channel: SourceChoice) -> list[str]:
        """The channel, the one whose candidates it ranks, the one below that … down to one that searches the index."""
        every, way = {one.name: one for one in self.channels}, [channel.name]
        while isinstance(channel, CrossEncoderSourceSpec):
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
