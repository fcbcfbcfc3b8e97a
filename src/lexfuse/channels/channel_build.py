"""Channels of an index folder, planned by name, made, and filled with what they lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import builtin_channels, channel_kind, default_model, fill_channel, plan_channel
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.model_folder.locator import fetch_model, local_path
from lexfuse.storage.channel_store import Encode
from lexfuse.storage.index_folder import IndexFolder

Channels = str | Sequence[str] | Mapping[str, str | ChannelPlan]  # names, or names with models or plans


@dataclass(frozen=True, slots=True)
class ChannelFilled:
    """What filling a channel did."""

    model: str
    encoded: int  # documents, by this call
    passages: int
    cut: int  # documents whose end is beyond the model's window
    seconds: float


def plans_by_name(channels: Channels) -> dict[str, ChannelPlan]:
    """Channels with their plans; those that every index has need none, and unknown kinds are refused.

    >>> plans_by_name("bm25, dense")
    {'dense': ChannelPlan(model='', query_model='', options={})}
    """
    names = [part.strip() for part in channels.split(",") if part.strip()] if isinstance(channels, str) else channels
    plans = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, "")
    return {
        name: ChannelPlan(plan) if isinstance(plan, str) else plan
        for name, plan in plans.items()
        if channel_kind(name) and name not in builtin_channels()
    }


def make_channel(files: IndexFolder, name: str, plan: ChannelPlan, language: str, *, threads: int | None = None) -> None:
    """Make an empty channel; a model that is not at hand is fetched, the default for the language if the plan names none."""
    plan = plan.with_model(plan.model or default_model(name, language))
    for model in (plan.model, plan.query_model):
        if model and local_path(model) is None:
            fetch_model(model)
    files.channels.make(name, plan_channel(name, plan, threads=threads))


def complete_channel(
    files: IndexFolder,
    name: str,
    *,
    threads: int | None = None,
    cache: EmbeddingCache | None = None,
    kept: Callable[[Encode], Encode] = lambda encode: encode,
    progress: ProgressBar = no_progress_bar,
) -> ChannelFilled:
    """Encode the documents that a channel lacks; a call that was interrupted is resumed by the next."""
    pending, settings = len(files.channels.pending(name)), files.channels.named(name).settings
    if pending:
        with progress(f"encoding {name} by {settings.model}", pending) as done:
            fill_channel(files, name, threads=threads, cache=cache, kept=kept, progress=done)
        files.channels.unite(name, pending)
    channel = files.channels.named(name)
    return ChannelFilled(settings.model, pending, channel.passages, channel.cut, channel.seconds)
