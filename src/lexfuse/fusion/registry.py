"""Fusions and normalisers by name, for the command line and for profiles. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lexfuse.errors import ConfigError
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.normalisation import Identity, MinMax, Normaliser, Percentile, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.tm2c2 import TM2C2
from lexfuse.fusion.union import Missing

NORMALISERS: dict[str, Normaliser] = {
    one.name: one for one in (MinMax(), TheoreticalMinMax(), ZScore(), Percentile(), Identity())
}


@dataclass(frozen=True, slots=True)
class FusionOptions:
    """What can be said about a fusion; each method takes what it knows, and refuses the rest.

    >>> make_fusion("rrf", FusionOptions(eta=(5.0,))).eta
    5.0
    """

    weights: tuple[float, ...] = ()
    alpha: float | None = None
    eta: tuple[float, ...] = ()
    beta: float | None = None
    normalisers: tuple[str, ...] = ()
    missing: Missing | None = None


def make_fusion(name: str, options: FusionOptions | None = None) -> Fusion:
    """A fusion by its name.

    >>> make_fusion("tm2c2", FusionOptions(alpha=0.6))
    TM2C2(alpha=0.6, lexical=1, missing=<Missing.RESCORE: 'rescore'>)
    >>> make_fusion("mean")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no fusion 'mean'; there are tm2c2, convex, rrf, srrf, borda, combmnz, combmax
    """
    if name not in METHODS:
        raise ConfigError(f"no fusion {name!r}; there are {', '.join(METHODS)}")
    kind, taken = METHODS[name]
    options = options or FusionOptions()
    given = {field: value for field in FusionOptions.__slots__ if (value := getattr(options, field)) not in ((), None)}
    unused = sorted(set(given) - taken - {"missing"})
    if unused:
        raise ConfigError(f"the fusion {name} has no {' and no '.join(unused)}; it takes {', '.join(sorted(taken)) or 'nothing'}")
    return kind(**dict(_argument(field, value) for field, value in given.items()))


def default_fusions() -> list[Fusion]:
    """One fusion of every method, as it usually is, to compare with.

    >>> [fusion.name for fusion in default_fusions()]
    ['tm2c2', 'convex', 'rrf', 'srrf', 'borda', 'combmnz', 'combmax']
    """
    return [kind() for kind, _ in METHODS.values()]


def _argument(field: str, value: Any) -> tuple[str, Any]:
    """The field of a fusion, and its value, that an option stands for."""
    if field == "normalisers":
        return "normaliser", normalisers_of(value)
    if field == "weights":
        return "weight", value
    return field, value[0] if field == "eta" and len(value) == 1 else value


def normalisers_of(names: Sequence[str]) -> Normaliser | list[Normaliser]:
    """One normaliser for all sources, or one each, by their names.

    >>> normalisers_of(["z-score"])
    ZScore()
    """
    for name in names:
        if name not in NORMALISERS:
            raise ConfigError(f"no normaliser {name!r}; there are {', '.join(NORMALISERS)}")
    found = [NORMALISERS[name] for name in names]
    return found[0] if len(found) == 1 else found


METHODS: dict[str, tuple[Callable[..., Fusion], set[str]]] = {
    "tm2c2": (TM2C2, {"alpha"}),
    "convex": (Convex, {"weights", "normalisers"}),
    "rrf": (ReciprocalRank, {"eta", "weights"}),
    "srrf": (SmoothReciprocalRank, {"eta", "beta", "weights"}),
    "borda": (Borda, set()),
    "combmnz": (CombMNZ, {"normalisers"}),
    "combmax": (CombMax, {"normalisers"}),
}
