"""What a kind of channel is: which options it has, what it stores, how it is built and how it is searched.

Each kind has a folder in this package and one entry in `lexfuse.channels.registry`. Nothing else knows which kinds there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.data.validation import Model
from lexfuse.errors import ConfigError
from lexfuse.storage.channel_data.stored_part import StoredPart
from lexfuse.storage.snapshot import Snapshot


class KindOptions(Model):
    """Options of a kind; a subclass has a field for each."""

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
                raise ConfigError(f"channel {channel!r} has no option {option!r}; it has {', '.join(cls.model_fields)}")
        return cls(**options)


class SearchOptions(KindOptions):
    """How a channel is searched."""

    exact: bool = False  # look at every document, where the channel could be searched approximately


class ChannelKind(ABC):
    """A kind of channel. `lexfuse.channels.registry.register` makes it known."""

    name: ClassVar[str]  # as the index stores it
    channels: ClassVar[tuple[str, ...]]  # names of its channels; what is stored may have a suffix: dense-mine
    part_class: ClassVar[type[StoredPart] | None] = None  # what it stores of a block of documents; None stores nothing
    search_options: ClassVar[type[SearchOptions]] = SearchOptions
    lexical: ClassVar[bool] = False  # whether it matches words: what TM2C2 weighs against the rest
    on_demand: ClassVar[bool] = False  # whether it is searched only if it is named: opening it reads every document

    @abstractmethod
    def open(self, snapshot: Snapshot, channel: str, options: Any, *, name: str, threads: int | None) -> Retriever:
        """The retriever of a channel, with its model loaded; ``options`` are an instance of `search_options`."""
