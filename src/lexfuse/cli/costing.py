"""``lexfuse info INDEX --cost``: what every channel costs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lexfuse.cli.output import line, print_json, table, working

if TYPE_CHECKING:
    from lexfuse.data.queries import Queries
    from lexfuse.index.snapshot import Snapshot
    from lexfuse.retrieve.costs import Cost

DRAWN = 50  # queries where none are given


def show_costs(folder: Path, queries: Path | None, json: bool) -> None:
    """Time every channel of an index on queries, and show what it costs."""
    from lexfuse.data.formats import read_queries
    from lexfuse.index.snapshot import open_snapshot
    from lexfuse.retrieve.costs import costs_of

    with open_snapshot(folder) as snapshot, working("timing every channel"):
        asked = read_queries(queries) if queries else _drawn(snapshot)
        costs = costs_of(snapshot, asked)
    if json:
        print_json({"queries": len(asked), "channels": [asdict(cost) for cost in costs]})
        return
    names = [
        "channel",
        "on disk",
        "of text",
        "vectors",
        "passages/s",
        "FLOPs/query",
        "read p50",
        "p95",
        "search p50",
        "p95",
        "memory",
    ]
    table(f"costs of {folder}, {len(asked):,} queries one by one", names, [_row(cost) for cost in costs])
    line(
        "Times in milliseconds for the 100 best; vectors of bm25 and splade are postings; memory is the peak so far.", style="dim"
    )


def _row(cost: Cost) -> list[object]:
    speed = None if cost.passages_per_second is None else f"{cost.passages_per_second:.1f}"
    times = [f"{value:.1f}" for value in (cost.read_p50, cost.read_p95, cost.search_p50, cost.search_p95)]
    return [
        cost.channel, _mega(cost.bytes), f"{cost.ratio:.2f}x", cost.vectors, speed, f"{cost.flops:.1e}", *times,
        _mega(cost.peak_memory),
    ]  # fmt: skip


def _mega(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _drawn(snapshot: Snapshot) -> Queries:
    """Queries for an index that has none."""
    from lexfuse.errors import DataError
    from lexfuse.retrieve.distribution import drawn_queries

    if not len(snapshot):
        raise DataError("the index is empty, so there is nothing to time; add documents first")
    return drawn_queries(snapshot, DRAWN)
