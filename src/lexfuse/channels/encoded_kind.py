"""Kinds of channels whose documents and queries a model encodes.

The settings of a channel hold the model's name and fingerprint. Opening a channel loads the model of that name and refuses
one that gives other vectors: a query must be encoded as the documents were.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

from pydantic import ValidationError

from lexfuse.channels.channel_kind import ChannelPlan, KindOptions, StoredKind
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import local_path
from lexfuse.encode.shared_encoders import shared_or_loaded
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.stored_channel import ChannelSettings, Option


class EncoderOptions(KindOptions):
    """Options of every channel that a model encodes."""

    int8: bool = False  # whether the model runs on bytes
    headings: bool = True  # whether the heading path of a document is read with its text

    def stored(self, channel: str) -> dict[str, Option]:
        """The options as the settings of a channel hold them."""
        return self.model_dump(mode="json")

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self:
        """The options from what the settings of a channel hold."""
        names = {stored: option for option, stored in cls.stored_names.items()}
        return cls.model_validate({names.get(option, option): value for option, value in stored.items()})


class LoadedEncoder(Protocol):
    """What a model becomes once it is loaded."""

    @property
    def fingerprint(self) -> str:
        """The same for two encoders exactly when they give the same vectors."""


Loaded = TypeVar("Loaded", bound=LoadedEncoder)
Options = TypeVar("Options", bound=EncoderOptions)


class EncodedKind(StoredKind, Generic[Loaded, Options]):
    """A kind of channel with an encoder; a subclass says how it is loaded."""

    build_options: ClassVar[type[EncoderOptions]]
    default_models: ClassVar[Mapping[tuple[str, str], str]] = {}  # by channel and language; "" for every other language
    query_models: ClassVar[Mapping[str, str]] = {}  # by a model that encodes documents alone, the one for queries

    @abstractmethod
    def load_encoder(self, model: str, options: Options, threads: int | None) -> Loaded:
        """Load a model."""

    @abstractmethod
    def check_towers(self, queries: Loaded, passages: Loaded) -> None:
        """Refuse two encoders whose vectors cannot be compared."""

    def default_model(self, channel: str, language: str) -> str:
        """The model for documents of a language that needs no folder and no hub; `ConfigError` if there is no such model."""
        kind = channel.split("-")[0]
        model = self.default_models.get((kind, language)) or self.default_models.get((kind, ""))
        if model is None:
            reason = f"no model for the channel {channel!r} in {language!r} comes with LexFuse"
            raise ConfigError(f"{reason}; name one: a folder or a hub id")
        return model

    def check(self, channel: str, plan: ChannelPlan) -> None:
        """Refuse options that the kind does not have, or that do not fit together."""
        self._options(channel, plan).stored(channel)

    def settings(self, channel: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
        """The options, and the fingerprints of the models, which are loaded for it."""
        options, model = self._options(channel, plan), _lasting(plan.model)
        query_model, stored = _lasting(plan.query_model or self.query_models.get(plan.model, "")), options.stored(channel)
        passages = self._loaded(model, options, threads)
        if not query_model:
            return ChannelSettings(self.name, model, passages.fingerprint, options=stored)
        queries = self._loaded(query_model, options, threads)
        self.check_towers(queries, passages)
        return ChannelSettings(self.name, model, passages.fingerprint, query_model, queries.fingerprint, stored)

    def _loaded(self, model: str, options: Options, threads: int | None) -> Loaded:
        """A newly loaded model; while encoders are shared, the next reader gets the same one."""
        encoder = self.load_encoder(model, options, threads)
        return shared_or_loaded(self._key(model, encoder.fingerprint, options), lambda: encoder)

    def _key(self, model: str, fingerprint: str, options: Options) -> tuple[Hashable, ...]:
        return (self.name, model, fingerprint, *self.encoder_key(options))

    def encoder(self, settings: ChannelSettings, side: Side, *, threads: int | None = None) -> Loaded:
        """The encoder of a channel for one side; a `DataError` if the model of that name gives other vectors now."""
        options = self.options(settings)
        towers = (settings.query_model, settings.query_fingerprint), (settings.model, settings.fingerprint)
        model, fingerprint = towers[not (side is Side.QUERY and settings.two_towers)]

        def load() -> Loaded:
            encoder = self.load_encoder(model, options, threads)
            if encoder.fingerprint != fingerprint:
                raise DataError(
                    f"the channel was made by another version of the model {model!r} (fingerprint {fingerprint}, now "
                    f"{encoder.fingerprint}); put the old one back, or drop the channel and make it again"
                )
            return encoder

        return shared_or_loaded(self._key(model, fingerprint, options), load)

    def encoder_key(self, options: Options) -> tuple[Hashable, ...]:
        """Options that change what the encoder gives: channels with equal ones share it."""
        return (options.int8,)

    def options(self, settings: ChannelSettings) -> Options:
        """The options that a channel was built with; the catalog may be damaged or come from another program."""
        stored = settings.options
        try:
            found = self.build_options.restored(stored)
            # What the oldest indexes do not say is False.
            wrong = next((option for option, value in found.stored("").items() if (stored.get(option) or False) != value), None)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            option = str(first["loc"][0]) if first["loc"] else ""
            wrong = self.build_options.stored_names.get(option, option)
            reason = f"{wrong} is {stored.get(wrong)!r}" if wrong else first["msg"]
        except ConfigError as error:
            reason = str(error)
        else:
            if wrong is None:
                return cast(Options, found)
            reason = f"{wrong} is {stored.get(wrong)!r}"
        raise DataError(f"the settings of a channel are damaged: {reason}; drop the channel and make it again")

    def _options(self, channel: str, plan: ChannelPlan) -> Options:
        return cast(Options, self.build_options.of(channel, plan.options))


def check_same_dimension(queries: int, passages: int) -> None:
    """Refuse two towers whose vectors cannot be compared.

    >>> check_same_dimension(384, 8)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the encoder of queries gives vectors of 384 numbers, that of passages of 8; two towers need ...
    """
    if queries != passages:
        lengths = f"the encoder of queries gives vectors of {queries} numbers, that of passages of {passages}"
        raise ConfigError(f"{lengths}; two towers need the same")


def _lasting(model: str) -> str:
    """A name under which the model is found from any folder."""
    path = local_path(model) if model else None
    return model if path is None else str(path.resolve())
