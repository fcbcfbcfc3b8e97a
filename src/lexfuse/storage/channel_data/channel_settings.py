"""The settings of a stored channel. They do not change as long as the channel exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.channel_data.stored_part import Option, kind_registry
from lexfuse.storage.folder_names import CHANNEL_NAME


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Choices that documents and queries of a channel must share, with the fingerprints of the models they were encoded by."""

    kind: str  # of what is stored: the name of a kind that `lexfuse.channels.registry` knows
    model: str  # as the user named it: a folder, a hub id, a registry package or a model of this package
    fingerprint: str
    query_model: str = ""  # where queries have another model
    query_fingerprint: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)  # those of the encoder and of the storage

    @property
    def two_towers(self) -> bool:
        """Whether queries have another model than documents."""
        return bool(self.query_model)

    def as_json(self) -> dict[str, Any]:
        """Plain values.

        >>> settings = ChannelSettings("late", "model", "00", options={"bits": 2})
        >>> ChannelSettings.from_json(settings.as_json()) == settings
        True
        """
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return values | {"options": dict(self.options)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ChannelSettings:
        """Settings from plain values; a `DataError` if they are damaged.

        >>> ChannelSettings.from_json({})
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: the settings of a channel are damaged ('kind'); drop the channel and make it again
        """
        try:
            if not isinstance(values["kind"], str):
                raise TypeError(f"kind is {values['kind']!r}")
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the settings of a channel are damaged ({error}); drop the channel and make it again") from None


def checked_name(name: str) -> str:
    """A name that a channel may have; it is the name of a folder too.

    >>> checked_name("bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a channel cannot be called 'bm25'; take small letters, digits and hyphens, not bm25, ...
    """
    reserved = kind_registry().builtin_channels()
    if not CHANNEL_NAME.fullmatch(name) or name in reserved:
        expected = f"take small letters, digits and hyphens, not {', '.join(reserved)}"
        raise ConfigError(f"a channel cannot be called {name!r}; {expected}")
    return name
