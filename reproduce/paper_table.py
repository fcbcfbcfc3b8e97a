"""A table or figure of a paper as its TOML file describes it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from lexfuse.errors import DataError, NotFoundError

HOME = Path(__file__).parent
PAPERS = {
    "FUSE": "Louis, van Dijck, Spanakis: Know When to Fuse (2025)",
    "RPRS": "Askari, Verberne, Abolghasemi, Kraaij, Pasi: Retrieval for Extremely Long Queries and Documents with RPRS (2023)",
    "BRUCH": "Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval (2023)",
    "BSARD": "Louis, Spanakis: A Statutory Article Retrieval Dataset in French (2022)",
    "CJEU": "Mori et al.: Assessing the Performance Gap Between Lexical and Semantic Models (2025)",
}
_KEYS = {"title", "datasets", "others", "minutes", "slow", "claim", "settings", "paper", "why", "tolerance"}
_FIGURE = re.compile(r"(?P<number>[-+]?[\d,]*\.?\d+)\s*(?P<mark>[^\d\s]*)")


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One number as the paper prints it, with the marks of its significance tests.

    >>> PaperFigure.read("0.900 ‡*")
    PaperFigure(number=0.9, decimals=3, mark='‡*', grouped=False)
    """

    number: float
    decimals: int
    mark: str = ""
    grouped: bool = False  # whether thousands are set apart by commas

    @classmethod
    def read(cls, value: str | float) -> PaperFigure:
        """From the value in a file: a number, or text such as ``"0.900 ‡*"`` or ``"83,503"``."""
        match = _FIGURE.fullmatch(str(value).strip())
        if match is None:
            raise DataError(f"{value!r} is no figure; expected a number and marks, such as '0.900 ‡*'")
        digits = match["number"]
        return cls(float(digits.replace(",", "")), len(digits.partition(".")[2]), match["mark"], "," in digits)

    def __str__(self) -> str:
        """As printed."""
        return f"{self.number:{',' if self.grouped else ''}.{self.decimals}f}{' ' if self.mark else ''}{self.mark}"


Rows = Mapping[str, Mapping[str, PaperFigure]]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """What the paper says, and what is needed to measure it."""

    number: str  # BRUCH-1, BRUCH-FIG3
    title: str
    datasets: tuple[str, ...]  # of the paper; those at hand are measured
    minutes: float  # on two cores, with the indexes that it shares with others at hand
    others: tuple[str, ...] = ()  # collections that the paper does not have; those at hand are measured as well
    slow: str = ""  # why it is not run with all others: what it needs first
    claim: str = ""  # what the paper concludes from it
    settings: str = ""  # how ours is measured
    paper: Mapping[str, Rows] = field(default_factory=dict)  # by dataset
    why: Mapping[str, str] = field(default_factory=dict)  # "row, column" -> why ours differs
    tolerance: float = 0.01

    @property
    def paper_name(self) -> str:
        """The short name of the paper."""
        return self.number.partition("-")[0]

    @property
    def module(self) -> str:
        """The module that measures it."""
        return f"reproduce.{self.paper_name.lower()}.{_stem(self.number)}"

    @property
    def measure(self) -> Callable[..., Any]:
        """The function that measures it, given an `Experiment`."""
        return cast("Callable[..., Any]", import_module(self.module).measure)

    def rows(self, dataset: str) -> Rows:
        """The figures that the paper reports for a dataset."""
        return self.paper.get(dataset, {})


def read_table(path: Path) -> PaperTable:
    """Read the TOML file of a table; its number comes from its place: ``bruch/figure_3.toml`` is BRUCH-FIG3."""
    try:
        values = tomllib.loads(path.read_text("utf-8"), parse_float=str)  # digits as the paper prints them
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"is no TOML: {error}", path=path) from None
    if unknown := sorted(set(values) - _KEYS):
        raise DataError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}", path=path)
    if missing := sorted({"title", "datasets", "minutes"} - set(values)):
        raise DataError(f"no {missing[0]!r}", path=path)
    figures = {
        dataset: {row: {column: PaperFigure.read(value) for column, value in cells.items()} for row, cells in rows.items()}
        for dataset, rows in values.get("paper", {}).items()
    }
    kind, _, place = path.stem.partition("_")
    number = f"{path.parent.name.upper()}-{'FIG' if kind == 'figure' else ''}{place}"
    values |= {name: float(values[name]) for name in ("minutes", "tolerance") if name in values}
    values |= {
        "number": number,
        "datasets": tuple(values["datasets"]),
        "others": tuple(values.get("others", ())),
        "paper": figures,
    }
    return PaperTable(**values)


@cache
def all_tables() -> dict[str, PaperTable]:
    """Every table and figure by its number: papers in the order of `PAPERS`, tables before figures."""
    found = [read_table(path) for path in HOME.glob("*/*_*.toml")]
    papers = list(PAPERS)
    return {one.number: one for one in sorted(found, key=lambda one: (papers.index(one.paper_name), *_place(one.number)))}


def find_table(number: str) -> PaperTable:
    """A table by its number, in any case; `NotFoundError` for an unknown one."""
    tables = all_tables()
    if found := tables.get(number.upper()):
        return found
    near = get_close_matches(number.upper(), tables, n=3) or list(tables)[:3]
    raise NotFoundError(f"no table or figure {number!r}; did you mean {', '.join(near)}? python -m reproduce lists all")


def _stem(number: str) -> str:
    place = number.partition("-")[2]
    return f"figure_{place.removeprefix('FIG')}" if place.startswith("FIG") else f"table_{place}"


def _place(number: str) -> tuple[bool, int]:
    place = number.partition("-")[2]
    return place.startswith("FIG"), int(place.removeprefix("FIG"))
