"""A search as data: what flags, a TOML profile, a JSON body and keyword arguments all become.

    version = 1
    name = "labour law"
    depth = 1000                  # candidates of every channel

    [[channel]]
    name = "bm25"
    k1 = 0.9
    b = 0.4
    kli = 0.1                     # for whole judgments: the most informative tenth of the terms

    [[channel]]
    name = "dense"

    [[channel]]                   # a cross-encoder as one more source, which ranks the candidates of another channel
    method = "cross-encoder"
    model = "models/monobert"
    over = "bm25"
    depth = 100

    [fusion]                      # tm2c2 if not given
    method = "convex"
    weights = [0.3, 0.4, 0.3]
    normalisers = "theoretical-min-max"

    [[rerank]]                    # rerankers, one after the other
    channel = "colbert"           # by the scores of a channel, or method = "cross-encoder", "rprs", "sdr", "birch"
    depth = 100

    [[rerank]]                    # the options of a method are the fields of its model in `lexfuse.search.spec.reranker_specs`
    method = "rprs"
    channel = "sentences"
    depth = 50
    n = 4

    [[class.citation.channel]]    # other channels, fusion or rerankers for a class of queries
    name = "bm25"

    [lexicon]                     # everyday words in the lexical channel, see `lexfuse.search.spec.lexicon_spec`
    weight = 0.7
    file = "our-words.toml"

    [confidence]                  # when the best result is an answer, see `lexfuse.search.spec.confidence_spec`
    …

    [evidence]                    # what supports it: texts and numbers
    measure = "nDCG@10"
    value = 0.43

At the top, ``filters = ["code=Code du travail"]`` and ``as_of = "2024-01-01"`` limit the search to some documents.

A class takes what it does not say from the rest of the profile; with its own channels, it has its own fusion too.
``rerank = []`` switches reranking off for a class.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator

from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.dates import parse_date
from lexfuse.data.files import written_file
from lexfuse.data.formats.toml_text import read_settings, to_toml, toml_values
from lexfuse.data.validation import Model, Tables, Texts, expect, refuse, refusing
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.registry import fusion_of, fusion_values
from lexfuse.search.pipeline import DEPTH, RoutedRetriever
from lexfuse.search.spec.channel_spec import ChannelChoice, channel_options, check_pipeline, open_pipeline
from lexfuse.search.spec.confidence_spec import ConfidenceSpec
from lexfuse.search.spec.lexicon_spec import LexiconSpec
from lexfuse.search.spec.reranker_specs import RerankerChoice, RerankerSpec
from lexfuse.storage.filters import Condition, within
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.query_class import QueryClass

VERSION: Literal[1] = 1
Evidence = str | int | float


def _day(value: Any) -> datetime.date:
    if not isinstance(value, str | datetime.date):
        expect("a date such as 2024-01-31")
    try:
        day = parse_date(value)
    except DataError as error:
        raise ConfigError(str(error)) from None
    if day is None:
        raise ConfigError(f"a known day was expected, got {value!r}")
    return day


def _classes(value: Any) -> dict[QueryClass, Any]:
    if not isinstance(value, Mapping):
        expect("a table")
    for name in value:
        if name not in set(QueryClass):
            raise ConfigError(f"there is no class of queries {name!r}; there are {', '.join(QueryClass)}")
    return {QueryClass(name): value[name] for name in sorted(value)}


def _evidence(value: Any) -> Any:
    if not isinstance(value, Mapping):
        expect("a table")
    for key, one in value.items():
        if not isinstance(one, str | int | float) or (isinstance(one, float) and not math.isfinite(one)):
            refuse(f"{key} must be a text or a finite number, got {one!r}")
    return dict(value)


Channels = Annotated[tuple[ChannelChoice, ...], Tables]
Rerankers = Annotated[tuple[RerankerChoice, ...], Tables]
FusionValue = Annotated[Fusion, PlainValidator(refusing(fusion_of)), PlainSerializer(fusion_values)]


class ClassSpec(Model):
    """What is different for queries of a class; None is as in general."""

    channels: Channels | None = Field(default=None, validation_alias="channel", serialization_alias="channel")
    fusion: FusionValue | None = None
    rerank: Rerankers | None = None


class SearchSpec(Model):
    """A search as data: channels, their fusion, rerankers, filters, and what is different for some classes of queries.

    >>> spec = SearchSpec.of("bm25,tfidf", fusion="rrf", k1=0.9)
    >>> SearchSpec.parse(spec.text()) == spec
    True
    """

    version: Literal[1] = VERSION
    name: str = ""
    description: str = ""
    depth: int = DEPTH
    channels: Channels = Field(default=(), validation_alias="channel", serialization_alias="channel")
    fusion: FusionValue | None = None  # TM2C2 where there are several channels
    rerank: Rerankers = ()
    filters: Texts = ()  # conditions on metadata, as `lexfuse.storage.filters` reads them
    as_of: Annotated[datetime.date, BeforeValidator(refusing(_day))] | None = None
    lexicon: LexiconSpec | None = None  # everyday words; without one, `search` has the usual lexicon and `run` has none
    confidence: ConfidenceSpec | None = None  # when the best result is an answer, by `lexfuse tune confidence`
    classes: Annotated[dict[QueryClass, ClassSpec], BeforeValidator(refusing(_classes))] = Field(
        default={}, validation_alias="class", serialization_alias="class"
    )
    evidence: Annotated[dict[str, Evidence], PlainValidator(_evidence)] = Field(default={})

    def check(self) -> None:
        """Refuse parts that do not fit together, in general and for every class of queries."""
        if self.depth < 1:
            raise ConfigError(f"depth must be at least 1, got {self.depth}")
        _ = self.conditions
        check_pipeline(self)
        for name in self.classes:
            try:
                check_pipeline(self.of_class(name))
            except ConfigError as error:
                raise ConfigError(f"class.{name}: {error}") from None

    @classmethod
    def of(
        cls,
        channels: str | Iterable[str | ChannelChoice | Mapping[str, Any]] = "bm25",
        *,
        fusion: str | Fusion | Mapping[str, Any] | None = None,
        rerank: Sequence[RerankerSpec | Mapping[str, Any]] = (),
        depth: int = DEPTH,
        filters: Sequence[str] = (),
        as_of: datetime.date | str | None = None,
        name: str = "",
        lexicon: LexiconSpec | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """A search from keyword arguments; options of channels, such as `k1`, are for those that are given by name.

        >>> [channel.options for channel in SearchSpec.of(["bm25", "tfidf"], k1=0.9).channels]
        [{'k1': 0.9}, {}]
        >>> SearchSpec.of("tfidf", k1=0.9)
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: k1 applies to no selected channel (tfidf)
        """
        every = [part.strip() for part in channels.split(",") if part.strip()] if isinstance(channels, str) else list(channels)
        named = [one for one in every if isinstance(one, str)]
        for option in options:
            if not any(option in channel_options(one) for one in named):
                raise ConfigError(f"{option} applies to no selected channel ({', '.join(named) or 'none is given by name'})")
        tables = [
            {"name": one} | {key: options[key] for key in channel_options(one) if key in options} if isinstance(one, str) else one
            for one in every
        ]
        values: dict[str, Any] = {"channels": tables, "rerank": rerank, "depth": depth, "filters": filters, "name": name}
        values |= {
            key: value for key, value in {"fusion": fusion, "as_of": as_of, "lexicon": lexicon}.items() if value is not None
        }
        return cls(**values)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The profile in a file; an error names the file.

        >>> SearchSpec.read("nowhere.toml")
        Traceback (most recent call last):
        ...
        lexfuse.errors.NotFoundError: no file or folder 'nowhere.toml'; check the path
        """
        return read_settings(path, cls.parse)

    @classmethod
    def parse(cls, text: str) -> Self:
        r"""The profile that a TOML text describes; what it cannot say is a `ConfigError` that lists what it can.

        >>> SearchSpec.parse("version = 1\nchanel = 1")
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: there is no 'chanel'; there are version, name, description, depth, channel, fusion, ...
        """
        values = toml_values(text)
        if "version" not in values:
            raise ConfigError(f"there is no version; write version = {VERSION} at the top")
        return cls.from_json(values)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The search that plain values describe, with the keys of a profile.

        >>> SearchSpec.from_json({"channel": [{"name": "bm25"}]}).channels[0].name
        'bm25'
        >>> SearchSpec.from_json({"version": 2})
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: the profile has version 2, this LexFuse reads 1; use a newer LexFuse
        """
        version = values.get("version", VERSION)
        if type(version) is not int or version != VERSION:
            advice = "use a newer LexFuse" if type(version) is int and version > VERSION else f"write version = {VERSION}"
            raise ConfigError(f"the profile has version {version!r}, this LexFuse reads {VERSION}; {advice}")
        return cls(**values)

    def as_json(self) -> dict[str, Any]:
        """Plain values, which `from_json` reads back; most defaults are left out.

        >>> SearchSpec.of("bm25", b=0.4).as_json()
        {'version': 1, 'depth': 1000, 'channel': [{'name': 'bm25', 'b': 0.4}]}
        """
        values = self.model_dump(mode="json", exclude_defaults=True)
        head = {"version": self.version, "name": self.name, "description": self.description, "depth": self.depth}
        return {key: value for key, value in (head | values).items() if value != ""}

    def text(self) -> str:
        """The search as TOML, which `parse` reads back.

        >>> print(SearchSpec.of("bm25").text())
        version = 1
        depth = 1000
        <BLANKLINE>
        [[channel]]
        name = "bm25"
        <BLANKLINE>
        """
        return to_toml(self.as_json())

    def save(self, path: str | Path) -> None:
        """Write the search to a TOML file, which `read` reads back."""
        content = self.text().encode("utf-8")
        with written_file(path) as out:
            out.write(content)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The filters."""
        return tuple(map(Condition.parse, self.filters))

    def of_class(self, query_class: QueryClass) -> SearchSpec:
        """The search of queries of a class.

        >>> spec = SearchSpec.of("bm25,dense", fusion="rrf").replace(classes={"citation": ClassSpec(channels=[{"name": "bm25"}])})
        >>> len(spec.of_class(QueryClass.CITATION).channels), spec.of_class(QueryClass.QUESTION).fusion.name
        (1, 'rrf')
        """
        own = self.classes.get(query_class, ClassSpec())
        changes: dict[str, Any] = {"classes": {}}
        if own.channels:
            changes |= {"channels": own.channels, "fusion": own.fusion}
        elif own.fusion:
            changes["fusion"] = own.fusion
        if own.rerank is not None:
            changes["rerank"] = own.rerank
        return self.model_copy(update=changes)

    def open(self, snapshot: Snapshot, *, name: str | None = None) -> Retriever:
        """The retriever on a snapshot of an index; it ranks the documents that `within` allows where that mask is given to it.

        A channel that the index lacks is a `NotFoundError` that lists those it has.

        >>> SearchSpec.of("bm25,tfidf").open(snapshot).name
        'bm25+tfidf'
        """
        general = open_pipeline(self, snapshot, name)
        if not self.classes:
            return general
        routes = {one: open_pipeline(self.of_class(one), snapshot, name) for one in self.classes}
        return RoutedRetriever(general, routes, name=name or general.name)

    def within(self, snapshot: Snapshot) -> Mask | None:
        """The documents that the filters and the day allow; None for all."""
        return within(snapshot, self.conditions, as_of=self.as_of)
