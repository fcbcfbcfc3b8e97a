"""``lexfuse index INDEX --distributions``: how the scores of every channel are distributed, for percentile normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.distribution import ChannelDistribution, described

Distributions = Annotated[
    bool,
    typer.Option("--distributions", help="Estimate the score distribution of every channel (for --normaliser percentile)."),
]
DistributionQueries = Annotated[
    Path | None, typer.Option("--distribution-queries", help="Queries for --distributions [default: first words of documents].")
]


def distribution_figures(kept: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each distribution that an index keeps rests on, and its quartiles."""
    figures = {}
    for found in map(ChannelDistribution.from_json, kept.values()):
        name = f"{found.channel} ({described(found.parameters)})" if found.parameters else found.channel
        figures[name] = {
            "scores": found.scores,
            "queries": found.queries,
            "from": found.origin.value,
            "documents then": found.documents,
            "quartiles": [round(found.levels[at], 4) for at in (250, 500, 750)],
        }
    return figures
