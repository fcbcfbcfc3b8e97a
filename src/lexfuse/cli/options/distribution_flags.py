"""Flags that estimate how the scores of every channel are distributed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.lexical import bm25
from lexfuse.cli.options.flag_group import FlagGroup
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.queries import Queries
from lexfuse.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class DistributionFlags(FlagGroup):
    """Whether distributions are estimated, with which queries, and of which parameters."""

    distributions: Annotated[
        bool,
        typer.Option("--distributions", help="Estimate the score distribution of every channel (for --normaliser percentile)."),
    ] = False
    distribution_queries: Annotated[
        Path | None,
        typer.Option("--distribution-queries", help="Queries for --distributions [default: first words of documents]."),
    ] = None
    k1: Annotated[float, typer.Option("--k1", help="--distributions: k1 of BM25.")] = bm25.K1
    b: Annotated[float, typer.Option("--b", help="--distributions: b of BM25.")] = bm25.B
    cosine: Annotated[
        bool | None,
        typer.Option(
            "--cosine/--dot",
            help="--distributions: similarity of learned sparse vectors [default: that of the model's training].",
        ),
    ] = None

    def check(self) -> None:
        """Refuse queries that nothing is estimated with."""
        if self.distribution_queries is not None and not self.distributions:
            raise ConfigError("--distribution-queries are for --distributions; give both")

    @property
    def queries(self) -> Queries | None:
        """The queries of the file; None where documents are drawn instead."""
        return None if self.distribution_queries is None else read_queries(self.distribution_queries)

    @property
    def search_options(self) -> dict[str, Any]:
        """The parameters of the scores."""
        return {"k1": self.k1, "b": self.b, "cosine": self.cosine}
