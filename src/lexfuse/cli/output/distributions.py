"""``lexfuse index INDEX --distributions``: how the scores of every channel are distributed, for percentile normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.distribution import ChannelDistribution, SampleOrigin, described, drawn_queries, estimate
from lexfuse.channels.registry import applicable_options, builtin_channels, open_retriever
from lexfuse.cli.output.console import progress_bar
from lexfuse.data.formats.file_format import read_queries
from lexfuse.storage.index_folder import IndexFolder

Distributions = Annotated[
    bool,
    typer.Option("--distributions", help="Estimate how the scores of every channel are distributed (--normaliser percentile)."),
]
DistributionQueries = Annotated[
    Path | None, typer.Option("--distribution-queries", help="Queries for it; the first words of documents if not given.")
]


def estimate_distributions(folder: Path, queries: Path | None, k1: float, b: float, cosine: bool | None) -> dict[str, Any]:
    """Estimate the distributions of all channels of an index, keep them with it, and tell what they rest on."""
    asked = read_queries(queries) if queries else None
    kept = {}
    with IndexFolder(folder) as index:
        with index.snapshot() as snapshot:
            names = (*builtin_channels(on_demand=False), *snapshot.channels)
            used, origin = (asked, SampleOrigin.GIVEN) if asked is not None else (drawn_queries(snapshot), SampleOrigin.DOCUMENTS)
            with progress_bar("estimating distributions", len(names)) as progress:
                for done, name in enumerate(names, start=1):
                    options = applicable_options(snapshot, name, {"k1": k1, "b": b, "exact": True, "cosine": cosine})
                    found = estimate(open_retriever(snapshot, name, **options), used, origin)
                    kept[found.key] = found.as_json()
                    progress(done)
        index.keep_distributions(kept)
    return distribution_figures(kept)


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
