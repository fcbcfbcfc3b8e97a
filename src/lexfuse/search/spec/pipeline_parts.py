"""The parts of a search that rank: whether channels, a fusion and rerankers fit together, and the retriever that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lexfuse.channels.registry import kind_in
from lexfuse.channels.retriever import Retriever
from lexfuse.errors import ConfigError
from lexfuse.fusion.tm2c2 import TM2C2
from lexfuse.search.pipeline import fuse_retrievers
from lexfuse.search.spec.channel_spec import ChannelChoice, ChannelSpec, CrossEncoderChannel
from lexfuse.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from lexfuse.search.spec.spec import SearchSpec


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
        if isinstance(channel, CrossEncoderChannel) and channel.name in [rerank.method for rerank in spec.rerank]:
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
