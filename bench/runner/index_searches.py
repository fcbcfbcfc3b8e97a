"""Every search that an index allows: its channels, fusions, filters, a day, and rerankers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lexfuse.channels.registry import builtin_channels
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import Percentile
from lexfuse.fusion.registry import default_fusions
from lexfuse.storage.snapshot import Snapshot

FILTERED = ("code", "court", "kind", "language", "status")
SHORT = 10  # documents that are reranked

Search = dict[str, Any]


def searches(snapshot: Snapshot) -> dict[str, Search]:
    """Every channel, every fusion of all, and filters and days by words and by a fusion."""
    alone = [*builtin_channels(), *snapshot.channels]
    found: dict[str, Search] = {name: {"channels": [name]} for name in alone}
    fused = {"channels": ["bm25", "tfidf", *snapshot.channels]}
    for fusion in [*default_fusions(), Convex(None, Percentile())]:
        name = f"{fusion.name} by percentiles" if fusion == Convex(None, Percentile()) else fusion.name
        found[f"{name} of {len(fused['channels'])} channels"] = fused | {"fusion": fusion}
    limited: dict[str, Search] = {"bm25": {"channels": ["bm25"]}, "rrf": fused | {"fusion": "rrf"}}
    for limit, options in limits(snapshot).items():
        found |= {f"{name}, {limit}": search | options for name, search in limited.items()}
    return found


def limits(snapshot: Snapshot) -> dict[str, Search]:
    """A filter on each field by which documents differ, and the middle of the days on which they come into force."""
    found: dict[str, Search] = {}
    for field in FILTERED:
        counts = Counter(value for value in snapshot.column(field) if value)
        if len(counts) > 1:
            value = counts.most_common(1)[0][0].replace(",", "\\,")
            found[f"filter on {field}"] = {"filters": [f"{field}={value}"]}
    for field, limit in (("date", "filter on date"), ("valid_from", "as of a day")):
        if days := sorted(str(day) for day in snapshot.column(field) if day):
            day = days[len(days) // 2]
            found[limit] = {"as_of": day} if field == "valid_from" else {"filters": [f"date>={day}"]}
    return found


def rerankers(snapshot: Snapshot, cross_encoder: str) -> dict[str, Search]:
    """Every reranker that the channels of an index allow, of the first documents by words."""
    dense = next((name for name in snapshot.channels if snapshot.channel(name).named.settings.kind == "dense"), "")
    methods: dict[str, Search] = {f"rescored by {name}": {"method": "rescore", "channel": name} for name in snapshot.channels}
    if dense:
        methods |= {f"{method} over {dense}": {"method": method, "channel": dense} for method in ("rprs", "sdr", "birch")}
    if cross_encoder:
        methods["cross-encoder"] = {"method": "cross-encoder", "model": cross_encoder}
    return {name: {"channels": ["bm25"], "rerank": [{**method, "depth": SHORT}]} for name, method in methods.items()}
