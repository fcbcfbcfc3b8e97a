"""Options of channels, and filling them with a progress bar; `lexfuse index` and `lexfuse demo` use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.channel_plan import ChannelPlan
from lexfuse.channels.registry import builtin_channels, channels_with, stored_kind
from lexfuse.cli.output.console import note, progress_bar
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.errors import ConfigError
from lexfuse.index import Index

Channels = Annotated[
    str,
    typer.Option(
        "--channels", help="Besides words: dense, splade, colbert, static, sentences, or names like dense-mine; commas between."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="dense=MODEL: a folder, a hub id, a registry package or a model of LexFuse. May be repeated."),
]
QueryModels = Annotated[
    list[str] | None, typer.Option("--query-model", help="dense=MODEL: another model for queries (two towers). May be repeated.")
]
Passages = Annotated[
    str | None,
    typer.Option(
        "--passages",
        help="What gets a vector: whole (documents, divided only where the model must), windows, paragraphs, sentences, words or "
        "beginning; whole if not given, sentences for a channel of that name.",
    ),
]
Size = Annotated[
    int | None,
    typer.Option("--size", help="Tokens of a window, 200 if not given; words of a sentence at most, or of a unit: 25."),
]
Overlap = Annotated[
    int | None, typer.Option("--overlap", help="Tokens that a window shares with the one before, 20 if not given.")
]
Headings = Annotated[bool, typer.Option("--headings/--no-headings", help="Read the heading path with every passage.")]
StorageName = Annotated[str, typer.Option("--storage", help="Numbers of dense vectors: fp32, fp16 or int8.")]
Int8 = Annotated[bool, typer.Option("--int8", help="Run the model on bytes: faster, a little less exact.")]
Approximate = Annotated[
    bool,
    typer.Option("--approximate", help="Search dense vectors in their nearest clusters only: for millions of passages."),
]
Threads = Annotated[int | None, typer.Option("--threads", help="Processors that encode; all of them if not given.")]
CacheFile = Annotated[
    Path | None,
    typer.Option("--embedding-cache", help="A file that keeps dense vectors, so that no text is encoded twice."),
]
Terms = Annotated[int, typer.Option("--terms", help="Keep the heaviest so many terms of a sparse vector; 0 keeps all.")]
Bits = Annotated[int, typer.Option("--bits", help="Bits of a number in the token vectors of colbert: 1 to 8.")]


@dataclass(frozen=True, slots=True)
class ChannelOptions:
    """What was said about channels on the command line."""

    names: tuple[str, ...] = ()
    models: Sequence[str] = ()
    query_models: Sequence[str] = ()
    passages: str | None = None
    size: int | None = None
    overlap: int | None = None
    headings: bool = True
    storage: str = "fp16"
    int8: bool = False
    approximate: bool = False
    terms: int = 0
    bits: int = 3
    threads: int | None = None
    cache: Path | None = None

    def check(self) -> None:
        """Refuse what no channel can be made with, before anything is built."""
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"--threads must be at least 1, got {self.threads}; leave it out to use every processor")
        self.model("")
        for name in self.names:
            stored_kind(name).check(name, self._plan(name, ""))
        for option in self._given:
            if not any(option in stored_kind(name).build_options.model_fields for name in self.names):
                raise ConfigError(f"--{option} is for channels of {', '.join(channels_with(option))}, and --channels names none")

    def model(self, name: str) -> str:
        """The model that was named for a channel, if one was."""
        return _named(self.models, "--model", self.names).get(name, "")

    def query_model(self, name: str) -> str:
        """The model for the queries of a channel, if one was named."""
        return _named(self.query_models, "--query-model", self.names).get(name, "")

    def plan_for(self, index: Index, name: str) -> ChannelPlan | str:
        """How to make one of the channels; empty to resume one that is there, whose options must not be others."""
        if name in index.channels and not (self.model(name) or self.query_model(name)):
            self.refuse_others(name, index.snapshot.channel(name).named.settings.options)
            return ""
        return self._plan(name, self.model(name))

    def refuse_others(self, name: str, made: Mapping[str, Any]) -> None:
        """Refuse options that a channel which is there was not made with; those that were not given do not count."""
        kind = stored_kind(name)
        for option, value in self._plan(name, "").options.items():
            stored = made.get(kind.build_options.stored_names.get(option, option))
            if value != stored:
                raise ConfigError(
                    f"the channel {name!r} was made with {option} {stored}, not {value}; drop it first, or choose another name"
                )

    @property
    def _given(self) -> dict[str, Any]:
        """The options of channels that are not as usual."""
        usual, others = ChannelOptions(), {"names", "models", "query_models", "threads", "cache"}
        options = [one.name for one in fields(self) if one.name not in others]
        return {option: getattr(self, option) for option in options if getattr(self, option) != getattr(usual, option)}

    def _plan(self, name: str, model: str) -> ChannelPlan:
        known = stored_kind(name).build_options.model_fields
        options = {option: value for option, value in self._given.items() if option in known}
        return ChannelPlan(model, self.query_model(name), **options)


def names_of(channels: str) -> tuple[str, ...]:
    """The names of an option, each once, without the words that every index has.

    >>> names_of("bm25, dense")
    ('dense',)
    """
    words = builtin_channels()
    names = tuple(dict.fromkeys(name for part in channels.split(",") if (name := part.strip()) and name not in words))
    for name in names:
        stored_kind(name)
    return names


def fill_channels(index: Index, options: ChannelOptions) -> dict[str, Any]:
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
