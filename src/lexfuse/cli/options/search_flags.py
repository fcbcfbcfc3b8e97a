"""Flags that several commands share to describe a search, and the search that they describe."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.data.arrays import Bools
from lexfuse.data.dates import parse_date
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.registry import fusion_of
from lexfuse.fusion.union import Missing
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.spec.channel_spec import channel_options
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.filters import Condition, within
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice


def fusion_from_flags(
    method: str, weights: str, alpha: float | None, eta: str, beta: float | None, normaliser: str, missing: str
) -> Fusion:
    """The fusion that the options describe."""
    if missing and missing not in set(Missing):
        raise ConfigError(f"--missing must be one of {', '.join(Missing)}; got {missing!r}")
    options = {
        "weights": _numbers(weights, "--weights"),
        "alpha": alpha,
        "eta": _numbers(eta, "--eta"),
        "beta": beta,
        "normalisers": tuple(part.strip() for part in normaliser.split(",") if part.strip()),
        "missing": missing,
    }
    given = {option: value for option, value in options.items() if value not in (None, (), "")}
    return fusion_of({"method": fusion_of(method).name} | given)


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise ConfigError(f"{option} takes numbers with commas between, got {text!r}") from None


K1 = Annotated[float, typer.Option("--k1", help="BM25: how soon more occurrences of a word stop counting.")]
B = Annotated[float, typer.Option("--b", help="BM25: how much long documents are held back, 0 to 1.")]
SEARCH_FLAGS = (
    "channel", "fusion", "weights", "alpha", "eta", "beta", "normaliser", "missing", "k1", "b", "exact", "cosine",
    "kli", "term_weights", "terms", "add_term", "drop_term",
)  # fmt: skip


def spec_from_flags(
    context: typer.Context,
    profile: Path | None,
    channel: str,
    method: Callable[[], Fusion],
    k1: float,
    b: float,
    exact: bool,
    cosine: bool | None,
    *,
    depth: int | None = None,
    terms: TermChoice | None = None,
    name: str | None = None,
) -> Callable[[Snapshot], Retriever]:
    """What opens the pipeline of a profile or of the options; both at once are refused before anything is opened."""
    given = [option for option in SEARCH_FLAGS if is_given(context, option)]
    if profile is not None:
        if given:
            options = ", ".join(f"--{option.replace('_', '-')}" for option in given)
            raise ConfigError(f"--profile says how to rank, and so does {options}; leave one out, or change the profile")
        read = SearchSpec.read(profile)
        return lambda snapshot: read.open(snapshot, name=name)
    channels = [one.strip() for one in channel.split(",") if one.strip()]
    alone = [option for option in given if option in SEARCH_FLAGS[1:8]]
    if alone and len(set(channels)) < 2:
        raise ConfigError(f"--{alone[0]} is about fusing several channels; give them too: --channel bm25,dense")
    reading = [option for option in given if option in SEARCH_FLAGS[12:]]
    if reading and "bm25" not in channels:
        raise ConfigError(f"--{reading[0].replace('_', '-')} chooses words for bm25; give that channel too: --channel bm25")
    fusion = method() if len(set(channels)) > 1 else None
    values: dict[str, Any] = {"k1": k1, "b": b, "exact": exact or None, "cosine": cosine, "terms": terms}
    known = {option for one in channels for option in channel_options(one)}
    wanted = {option: value for option, value in values.items() if value is not None and (option in known or option in given)}
    spec = SearchSpec.of(dict.fromkeys(channels or ["bm25"]), fusion=fusion, depth=depth or DEPTH, **wanted)
    return lambda snapshot: spec.open(snapshot, name=name)


def is_given(context: typer.Context, option: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def masked(snapshot: Snapshot, filters: list[str] | None, as_of: str | None) -> Bools | None:
    """The mask of the filters given on the command line."""
    return within(snapshot, [Condition.parse(text) for text in filters or []], as_of=parsed_day(as_of))


def parsed_day(as_of: str | None) -> datetime.date | None:
    """The day of ``--as-of``."""
    try:
        return parse_date(as_of)
    except DataError as error:
        raise ConfigError(f"--as-of: {error}") from None


def values_of(text: str | None, name: str) -> list[float] | None:
    """The numbers of an option; None if it was not given."""
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"--{name} takes numbers with commas between, got {text!r}") from None
