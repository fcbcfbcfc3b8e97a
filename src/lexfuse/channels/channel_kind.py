"""What a kind of channel is: which options it has, what it stores, how it is built and how it is searched.

Each kind has a folder in this package and one entry in `lexfuse.channels.registry`. Nothing else knows which kinds there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.data.document import Document
from lexfuse.data.validation import Model
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.errors import ConfigError
from lexfuse.storage.channel_store import Encode
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import ChannelSettings, StoredPart

DrawnDocuments = Callable[[Sequence[int]], Sequence[Document]]


class KindOptions(Model):
    """Options of a kind; a subclass has a field for each."""

    stored_names: ClassVar[Mapping[str, str]] = {}  # of options that the settings of a channel call otherwise

    @classmethod
    def of(cls, channel: str, options: Mapping[str, Any]) -> Self:
        """The options of a channel from plain values; a `ConfigError` names the one that is unknown or has a wrong value.

        >>> SearchOptions.of("tfidf", {"k1": 0.9})
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: channel 'tfidf' has no option 'k1'; it has exact
        """
        for option in options:
            if option not in cls.model_fields:
                known = ", ".join(cls.model_fields) or "none"
                raise ConfigError(f"channel {channel!r} has no option {option!r}; it has {known}")
        return cls(**options)


class SearchOptions(KindOptions):
    """How a channel is searched."""

    exact: bool = False  # look at every document, where the channel could be searched approximately


@dataclass(frozen=True, slots=True, init=False)
class ChannelPlan:
    """A model, perhaps another one for queries, and options; the kind of the channel checks them.

    >>> ChannelPlan("fr-legal-dense", storage="int8").options
    {'storage': 'int8'}
    """

    model: str  # the default of the channel if it is empty
    query_model: str  # for two towers; empty where one model encodes both sides
    options: Mapping[str, Any]  # fields of the kind's `build_options`

    def __init__(self, model: str = "", query_model: str = "", **options: Any) -> None:
        """Keep the options as they are given."""
        for name, value in {"model": model, "query_model": query_model, "options": options}.items():
            object.__setattr__(self, name, value)

    def with_model(self, model: str) -> ChannelPlan:
        """The same plan with another model."""
        return ChannelPlan(model, self.query_model, **self.options)


class ChannelKind(ABC):
    """A kind of channel that stores nothing: every index has it. `lexfuse.channels.registry.register` makes it known."""

    name: ClassVar[str]  # as the index stores it
    channels: ClassVar[tuple[str, ...]]  # names of its channels
    search_options: ClassVar[type[SearchOptions]] = SearchOptions
    lexical: ClassVar[bool] = False  # whether it matches words: what TM2C2 weighs against the rest
    # Channels that the default hybrid may fuse with words; it takes all that have the lowest number.
    hybrid_places: ClassVar[Mapping[str, int]] = {}
    on_demand: ClassVar[bool] = False  # whether it is searched only if it is named: opening it reads every document

    @abstractmethod
    def open(self, snapshot: Snapshot, channel: str, options: Any, *, name: str, threads: int | None = None) -> ChannelRetriever:
        """The retriever of a channel, with its model loaded; ``options`` are an instance of `search_options`."""


class StoredKind(ChannelKind):
    """A kind of channel that is stored in the index; its channels are called as it names them, or like dense-mine."""

    build_options: ClassVar[type[KindOptions]] = KindOptions
    part_class: ClassVar[type[StoredPart]]  # what it stores of a block of documents
    shares: ClassVar[bool] = False  # whether the indexes of a divided collection have something in common: see `shared_part`

    @abstractmethod
    def default_model(self, channel: str, language: str) -> str:
        """The model for documents of a language where none is named; empty for a kind without models."""

    @abstractmethod
    def check(self, channel: str, plan: ChannelPlan) -> None:
        """Refuse a plan that no channel can be built by, with a `ConfigError`; loads no model."""

    @abstractmethod
    def settings(self, channel: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
        """What a channel that is built by this plan stores about itself."""

    @abstractmethod
    def encoding(
        self, index: IndexFolder, channel: str, *, threads: int | None = None, cache: EmbeddingCache | None = None
    ) -> Encode:
        """What encodes a block of documents for a channel of an index; not asked where no document is pending."""

    def shared_part(
        self, settings: ChannelSettings, documents: int, drawn: DrawnDocuments, *, threads: int | None = None
    ) -> StoredPart | None:
        """What a channel has in common in all indexes of a divided collection, as a part without documents; often nothing.

        `documents` is their number in all indexes, and `drawn` gives those at some places in the order of their ids.
        """
        return None
