"""Flags that describe a search, and the search that they describe."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.lexical import bm25
from lexfuse.cli.options.flag_group import FlagGroup, names_in, numbers_in
from lexfuse.data.dates import parse_date
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.registry import fusion_of
from lexfuse.fusion.union import Missing
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.spec.channel_spec import channel_options
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.text.kli import TermChoice

IndexArgument = Annotated[str, typer.Argument(metavar="INDEX", help="The index folder, or a postgresql:// address.")]
BeforeQueryDate = Annotated[bool, typer.Option("--before-query-date", help="Only documents dated before the query.")]
QueriesArgument = Annotated[
    Path, typer.Argument(metavar="QUERIES", help="Queries: a BEIR folder or a .jsonl, .csv or .parquet file.")
]
FusionName = Annotated[
    str, typer.Option("--fusion", help="The fusion of several sources: tm2c2, convex, rrf, srrf, borda, combmnz or combmax.")
]
Normaliser = Annotated[
    str,
    typer.Option(
        "--normaliser", help="min-max, theoretical-min-max, z-score, percentile or identity: one, or one for each source."
    ),
]
MissingScores = Annotated[Missing | None, typer.Option("--missing", help="The score of a document that a source did not rank.")]
CHANNELS = (
    "Channels that rank: bm25, tfidf, citation, tfidf-1gram, tfidf-2gram, tfidf-bigram, one of the index, or several: bm25,dense"
)
ChannelNames = Annotated[str, typer.Option("--channels", "-c", help=CHANNELS)]
K1 = Annotated[float, typer.Option("--k1", help="BM25: how fast repeated words saturate.")]
B = Annotated[float, typer.Option("--b", help="BM25: how much long documents are penalised, 0 to 1.")]
Idf = Annotated[
    bm25.IdfForm,
    typer.Option("--idf", help="BM25: ln(1 + odds), always positive, or ln(odds) of the papers, negative for frequent words."),
]


@dataclass(frozen=True, kw_only=True)
class FusionFlags(FlagGroup):
    """A fusion and its parameters."""

    fusion: FusionName = "tm2c2"
    weights: Annotated[str, typer.Option("--weights", help="Weights of the sources, in their order: 0.2,0.8")] = ""
    alpha: Annotated[float | None, typer.Option("--alpha", help="tm2c2: the share of all sources but the lexical ones.")] = None
    eta: Annotated[str, typer.Option("--eta", help="rrf, srrf: the constant, or one for each source: 10,4")] = ""
    beta: Annotated[float | None, typer.Option("--beta", help="srrf: the slope of the sigmoid.")] = None
    normaliser: Normaliser = ""
    missing: MissingScores = None

    def method(self) -> Fusion:
        """The fusion."""
        options = {
            "weights": tuple(numbers_in(self.weights, "--weights")),
            "alpha": self.alpha,
            "eta": tuple(numbers_in(self.eta, "--eta")),
            "beta": self.beta,
            "normalisers": tuple(part.strip() for part in self.normaliser.split(",") if part.strip()),
            "missing": self.missing,
        }
        given = {option: value for option, value in options.items() if value not in (None, ())}
        return fusion_of({"method": fusion_of(self.fusion).name} | given)


@dataclass(frozen=True, kw_only=True)
class TermFlags(FlagGroup):
    """How bm25 chooses the terms of long queries."""

    kli: Annotated[
        float | None,
        typer.Option("--kli", help="bm25 by the most informative terms of long queries: 0.1 is a tenth, 50 is fifty."),
    ] = None

    def choice(self) -> TermChoice | None:
        """The choice of terms; None takes all."""
        return None if self.kli is None else TermChoice(self.kli)


@dataclass(frozen=True, kw_only=True)
class SearchFlags(FlagGroup):
    """Channels, their parameters and their fusion; or a profile."""

    channels: ChannelNames = "bm25"
    fusing: FusionFlags = FusionFlags()
    k1: K1 = bm25.K1
    b: B = bm25.B
    idf: Idf = bm25.IdfForm.LUCENE
    fields: Annotated[
        str, typer.Option("--fields", help="BM25F: fields with a weight and a b each, title=2:0.5,headings=1:0.3,text=1:0.75.")
    ] = ""
    exact: Annotated[bool, typer.Option("--exact", help="Score every document, also where a channel searches clusters.")] = False
    cosine: Annotated[
        bool | None,
        typer.Option("--cosine/--dot", help="Similarity of learned sparse vectors [default: that of the model's training]."),
    ] = None
    pool: Annotated[
        str, typer.Option("--pool", help="Dense: the passages of a document that count: the best N (their mean), or all.")
    ] = "1"
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="bm25: a lexicon of everyday words (TOML) that extends the usual one.")
    ] = None
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="A profile instead of these flags: its name in the index (hybrid), or a TOML file."),
    ] = None

    def spec(self, index: IndexReader, *, depth: int | None = None, terms: TermFlags | None = None) -> SearchSpec:
        """The search of the profile, which the index or a file has, or of the flags; both at once are refused."""
        given = [flag for flag in (*self.given, *(terms.given if terms else ())) if flag != "profile"]
        if self.profile is not None:
            if given:
                flags = ", ".join(map(_flag, given))
                raise ConfigError(f"--profile says how to rank, and so does {flags}; leave one out, or change the profile")
            return _profile(index, self.profile)
        channels = names_in(self.channels) or ["bm25"]
        if self.fusing.given and len(channels) < 2:
            raise ConfigError(f"{_flag(self.fusing.given[0])} needs several channels to fuse; add --channels bm25,dense")
        if terms is not None and terms.given and "bm25" not in channels:
            raise ConfigError(f"{_flag(terms.given[0])} chooses words for bm25; add --channels bm25")
        fusion = self.fusing.method() if len(channels) > 1 else None
        choice = terms.choice() if terms is not None else None
        values: dict[str, Any] = {
            "k1": self.k1,
            "b": self.b,
            "idf": self.idf if "idf" in given else None,
            "fields": names_in(self.fields) or None,
            "exact": self.exact or None,
            "cosine": self.cosine,
            "pool": (int(self.pool) if self.pool.isdecimal() else self.pool) if "pool" in given else None,
            "terms": choice,
        }
        known = {option for name in channels for option in channel_options(name)}
        options = {name: value for name, value in values.items() if value is not None and (name in known or name in given)}
        if self.lexicon is not None and "bm25" not in channels:
            raise ConfigError("--lexicon adds words to bm25; add --channels bm25")
        lexicon = None if self.lexicon is None else {"file": str(self.lexicon)}
        return SearchSpec.of(channels, fusion=fusion, depth=depth or DEPTH, lexicon=lexicon, **options)


def _profile(index: IndexReader, name: str) -> SearchSpec:
    """A profile of the index, else of a file."""
    specs = index.version.specs
    if name in specs:
        return specs[name]
    if not Path(name).exists():
        raise NotFoundError(f"no profile {name!r}: the index has {', '.join(specs)}, and there is no such file; check the name")
    return SearchSpec.read(name)


@dataclass(frozen=True, kw_only=True)
class FilterFlags(FlagGroup):
    """Which documents may be found."""

    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="field=value, field=a,b, date>=2020-01-01, headings^=A > B, court!=X. May be repeated."),
    ] = None
    as_of: Annotated[str | None, typer.Option("--as-of", help="Only documents in force on this day.")] = None

    def day(self) -> datetime.date | None:
        """The day of ``--as-of``."""
        try:
            return parse_date(self.as_of)
        except DataError as error:
            raise ConfigError(f"--as-of: {error}") from None


@dataclass(frozen=True, kw_only=True)
class QueryFilterFlags(FilterFlags):
    """Which documents may be found by which queries."""

    before_query_date: BeforeQueryDate = False


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
