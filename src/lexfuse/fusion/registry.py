"""Fusions and normalisers by name, and as plain values for profiles. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any

from pydantic import Field

from lexfuse.data.validation import Model, Numbers, Texts
from lexfuse.errors import ConfigError
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.normalisation import Identity, MinMax, Normaliser, Percentile, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.union import Missing

FUSIONS: dict[str, type[Fusion]] = {
    kind.name: kind for kind in (TM2C2, Convex, ReciprocalRank, SmoothReciprocalRank, Borda, CombMNZ, CombMax)
}
NORMALISERS: dict[str, Normaliser] = {
    one.name: one for one in (MinMax(), TheoreticalMinMax(), ZScore(), Percentile(), Identity())
}


class _Options(Model):
    """What the fields of fusions are as plain values."""

    weights: Numbers = ()
    alpha: float = 0.0
    eta: Numbers = ()
    beta: float = 0.0
    normalisers: Texts = ()
    missing: Annotated[Missing, Field(strict=False)] = Missing.RESCORE


def fusion_of(given: str | Mapping[str, Any] | Fusion) -> Fusion:
    """A fusion by its name, by the values of a table with its method and options, or as it is.

    >>> fusion_of({"method": "rrf", "eta": 5})
    ReciprocalRank(eta=5.0, weights=1.0, missing=<Missing.RESCORE: 'rescore'>)
    >>> fusion_of("mean")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no fusion 'mean'; there are tm2c2, convex, rrf, srrf, borda, combmnz, combmax
    """
    if isinstance(given, Fusion):
        return given
    known = ", ".join(FUSIONS)
    if isinstance(given, str):
        if given not in FUSIONS:
            raise ConfigError(f"no fusion {given!r}; there are {known}")
        return FUSIONS[given]()
    if not isinstance(given, Mapping):
        raise ConfigError(f"a table was expected, got {given!r}; it has the key method, one of {known}")
    if "method" not in given:
        raise ConfigError(f"method is missing: one of {known}")
    name = given["method"]
    if not isinstance(name, str) or name not in FUSIONS:
        raise ConfigError(f"method must be one of {known}; got {name!r}")
    options = {key: value for key, value in given.items() if key != "method"}
    unused = sorted(set(options) - set(_options(FUSIONS[name])))
    if unused:
        taken = sorted(set(_options(FUSIONS[name])) - {"missing"})
        raise ConfigError(f"the fusion {name} has no {' and no '.join(unused)}; it takes {', '.join(taken) or 'nothing'}")
    typed = _Options(**options)
    read = {option: getattr(typed, option) for option in options}
    if "normalisers" in read:
        read["normalisers"] = normalisers_of(read["normalisers"])
    if isinstance(eta := read.get("eta"), tuple) and len(eta) == 1:
        read["eta"] = eta[0]
    return FUSIONS[name](**read)


def fusion_values(fusion: Fusion) -> dict[str, Any]:
    """A fusion as the values of a table, which `fusion_of` reads back: its method, its normalisers and what is not as usual.

    >>> fusion_values(Convex((0.4, 0.6)))
    {'method': 'convex', 'weights': [0.4, 0.6], 'normalisers': 'min-max'}
    """
    usual = FUSIONS[fusion.name]()
    values: dict[str, Any] = {"method": fusion.name}
    for option in _options(type(fusion)):
        value = getattr(fusion, option)
        if option == "normalisers":
            values[option] = [one.name for one in value] if isinstance(value, tuple) else value.name
        elif value != getattr(usual, option):
            values[option] = list(value) if isinstance(value, tuple) else value
    return values | ({"missing": fusion.missing.value} if "missing" in values else {})


def default_fusions() -> list[Fusion]:
    """One fusion of every method, with its default parameters, to compare with.

    >>> [fusion.name for fusion in default_fusions()]
    ['tm2c2', 'convex', 'rrf', 'srrf', 'borda', 'combmnz', 'combmax']
    """
    return [kind() for kind in FUSIONS.values()]


def normalisers_of(names: Sequence[str]) -> Normaliser | tuple[Normaliser, ...]:
    """One normaliser for all sources, or one each, by their names.

    >>> normalisers_of(["z-score"])
    ZScore()
    """
    for name in names:
        if name not in NORMALISERS:
            raise ConfigError(f"no normaliser {name!r}; there are {', '.join(NORMALISERS)}")
    found = tuple(NORMALISERS[name] for name in names)
    return found[0] if len(found) == 1 else found


def _options(kind: type[Fusion]) -> list[str]:
    """The fields of a fusion that are options; which sources are lexical is a matter of the channels that are fused."""
    return [field.name for field in fields(kind) if field.name != "lexical"]  # type: ignore[arg-type]
