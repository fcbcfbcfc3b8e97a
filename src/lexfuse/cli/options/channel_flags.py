"""Flags that say which channels to build and how, and building them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import builtin_channels, channels_with, stored_kind
from lexfuse.cli.options.flag_group import FlagGroup, names_in
from lexfuse.cli.output.console import note, progress_bar
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.errors import ConfigError
from lexfuse.index import Index

NO_BUILD_OPTIONS = {"channels", "models", "query_models", "threads", "cache"}  # flags that say which and where, not how
Channels = Annotated[
    str,
    typer.Option("--channels", help="Besides words: dense, splade, colbert, static, sentences, or names like dense-mine."),
]


@dataclass(frozen=True, kw_only=True)
class ChannelFlags(FlagGroup):
    """Channels to build, and how."""

    channels: Channels = ""
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="dense=MODEL: a folder, a hub id, a registry package, a LexFuse model, or computed vectors of documents (.npz). "
            "May be repeated.",
        ),
    ] = None
    query_models: Annotated[
        list[str] | None,
        typer.Option(
            "--query-model",
            help="dense=MODEL: another model for queries (two towers), computed vectors of queries (.npz), or for splade a query "
            "table. May be repeated.",
        ),
    ] = None
    dot_product: Annotated[
        bool, typer.Option("--dot-product", help="Compare computed vectors by dot product, with their lengths [default: cosine].")
    ] = False
    passages: Annotated[
        str | None,
        typer.Option(
            "--passages",
            help="The unit of a vector: whole, windows, paragraphs, sentences, words or beginning [default: whole; "
            "sentences for a channel of that name; one vector per document for splade].",
        ),
    ] = None
    size: Annotated[
        int | None, typer.Option("--size", help="Tokens of a window [default: 200], or words of a sentence [default: 25].")
    ] = None
    overlap: Annotated[int | None, typer.Option("--overlap", help="Tokens shared by consecutive windows [default: 20].")] = None
    headings: Annotated[bool, typer.Option("--headings/--no-headings", help="Encode the heading path with every passage.")] = True
    storage: Annotated[str, typer.Option("--storage", help="Numbers of dense vectors: fp32, fp16 or int8.")] = "fp16"
    int8: Annotated[bool, typer.Option("--int8", help="Run the model in int8: faster, slightly less exact.")] = False
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="Search only the nearest clusters of dense vectors, or the heaviest terms of splade: for millions of passages.",
        ),
    ] = False
    terms: Annotated[int, typer.Option("--terms", help="Keep the N highest-weighted terms of a sparse vector; 0 keeps all.")] = 0
    bits: Annotated[int, typer.Option("--bits", help="Bits per number in the token vectors of colbert, 1 to 8.")] = 4
    threads: Annotated[int | None, typer.Option("--threads", min=1, help="Processors that encode [default: all of them].")] = None
    cache: Annotated[
        Path | None, typer.Option("--embedding-cache", help="A file that keeps dense vectors, so that no text is encoded twice.")
    ] = None

    @property
    def names(self) -> tuple[str, ...]:
        """The channels to build, without the words that every index has."""
        return names_of(self.channels)

    def check(self) -> None:
        """Refuse impossible flags before anything is built."""
        self.model("")
        for name in self.names:
            stored_kind(name).check(name, self._plan(name, ""))
        for option in self._build_options:
            if not any(option in stored_kind(name).build_options.model_fields for name in self.names):
                flag = option.replace("_", "-")
                raise ConfigError(f"--{flag} is for channels of {', '.join(channels_with(option))}, and --channels names none")

    def model(self, name: str) -> str:
        """The model that --model names for a channel, or empty."""
        return _named(self.models or (), "--model", self.names).get(name, "")

    def query_model(self, name: str) -> str:
        """The model that --query-model names for a channel, or empty."""
        return _named(self.query_models or (), "--query-model", self.names).get(name, "")

    def plan_for(self, index: Index, name: str) -> ChannelPlan | str:
        """How to build a channel; empty to resume an existing one, whose options must be the same."""
        if name in index.channels and not (self.model(name) or self.query_model(name)):
            self.refuse_others(name, index.snapshot.channel(name).named.settings.options)
            return ""
        return self._plan(name, self.model(name))

    def plans(self) -> dict[str, ChannelPlan]:
        """How to build the channels of a new index."""
        return {name: self._plan(name, self.model(name)) for name in self.names}

    def refuse_others(self, name: str, made: Mapping[str, Any]) -> None:
        """Refuse flags that contradict the options of an existing channel."""
        kind = stored_kind(name)
        for option, value in self._plan(name, "").options.items():
            stored = made.get(kind.build_options.stored_names.get(option, option))
            if value != stored:
                raise ConfigError(
                    f"the channel {name!r} was made with {option} {stored}, not {value}; drop it first, or choose another name"
                )

    @property
    def _build_options(self) -> dict[str, Any]:
        """The options of channels on the command line."""
        return {flag: getattr(self, flag) for flag in self.given if flag not in NO_BUILD_OPTIONS}

    def _plan(self, name: str, model: str) -> ChannelPlan:
        known = stored_kind(name).build_options.model_fields
        options = {option: value for option, value in self._build_options.items() if option in known}
        return ChannelPlan(model, self.query_model(name), **options)


def names_of(channels: str) -> tuple[str, ...]:
    """The names in a value, each once, without the words that every index has.

    >>> names_of("bm25, dense")
    ('dense',)
    """
    words = builtin_channels()
    names = tuple(name for name in names_in(channels) if name not in words)
    for name in names:
        stored_kind(name)
    return names


def fill_channels(index: Index, options: ChannelFlags) -> dict[str, Any]:
    """Make the channels that are asked for, and fill these and the existing ones; returns what was encoded."""
    plans = {name: options.plan_for(index, name) for name in options.names}
    if any(plans.values()) and len(index.languages) > 1:
        shown = ", ".join(f"{count:,} in {language}" for language, count in index.languages.items())
        note(f"documents are in several languages ({shown}); a model for one language reads the others badly")
    with EmbeddingCache(options.cache) if options.cache else nullcontext() as cache:
        filled = index.add_channels(plans, threads=options.threads, cache=cache, progress=progress_bar)
    for name, one in filled.items():
        if one.cut:
            note(
                f"{name}: the ends of {one.cut:,} documents are beyond the model's window and not encoded; --passages whole does"
            )
    return {name: asdict(one) | {"seconds": round(one.seconds, 1)} for name, one in filled.items()}


def _named(values: Sequence[str], option: str, names: Sequence[str]) -> dict[str, str]:
    """Values of the form channel=model; a bare model belongs to the only channel."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, model = value.partition("=")
        if not equals and len(names) == 1:
            name, model = names[0], value
        if name not in names or not model:
            raise ConfigError(f"{option} takes channel=MODEL for one of {', '.join(names) or 'the --channels'}; got {value!r}")
        found[name] = model
    return found
