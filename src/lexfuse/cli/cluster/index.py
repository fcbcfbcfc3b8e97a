"""``lexfuse cluster index``: build a cluster, and change one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.options.analysis_flags import AnalysisFlags
from lexfuse.cli.options.channel_flags import ChannelFlags
from lexfuse.cli.options.distribution_flags import DistributionFlags
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar
from lexfuse.cli.output.summaries import distribution_figures
from lexfuse.cluster.build.cluster_build import ClusterBuilder, ClusterChange, work_folder
from lexfuse.cluster.build.division import is_index
from lexfuse.cluster.build.task_runner import RayTasks, gpu_device, processors_per_task, ray_cluster
from lexfuse.cluster.store import ClusterStore
from lexfuse.errors import ConfigError

Address = Annotated[
    str, typer.Option("--address", help="The Ray cluster to use, like 10.0.0.5:6379 [default: start one on this machine].")
]


def index(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[CORPUS|INDEX] URI",
            help="The corpus to read, or an index folder to divide with its channels (neither for --delete); and the cluster: a "
            "folder, or an address like s3://bucket/law.",
        ),
    ],
    channels: ChannelFlags,
    analysis: AnalysisFlags,
    estimates: DistributionFlags,
    shards: Annotated[int | None, typer.Option("--shards", min=1, help="How many shards a new cluster has.")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Add the corpus to the cluster, and replace documents with the same id.")
    ] = False,
    delete: Annotated[list[str] | None, typer.Option("--delete", help="Delete this document. May be repeated.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing cluster.")] = False,
    address: Address = "",
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Shards built at the same time [default: as many as processors allow].")
    ] = None,
    gpus: Annotated[
        float, typer.Option("--gpus", min=0, help="GPUs that each task reserves and encodes with; 0.5 lets two tasks share one.")
    ] = 0,
    work: Annotated[
        Path | None, typer.Option("--work", help="Where workers keep unfinished shards, on each machine [default: in the cache].")
    ] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Build a cluster of a corpus or index, or change one.

    Ray tasks build the shards; an index is divided with what its channels store. A new generation is published when all of them
    are complete; services take it over while they run. The next call of an interrupted command resumes it.

        lexfuse cluster index data/legi legi.cluster --shards 4

        lexfuse cluster index data/legi s3://law/legi --shards 16 --channels dense --address 10.0.0.5:6379

        lexfuse cluster index legi.index legi.cluster --shards 4

        lexfuse cluster index new-articles.jsonl legi.cluster --update

        lexfuse cluster index legi.cluster --delete LEGIARTI000018764571
    """
    corpus, uri = _checked(paths, channels, analysis, estimates, shards, update, delete or [], force)
    store = ClusterStore(uri)
    if not store.is_shared:
        raise ConfigError(f"{uri!r} is visible to one process only; workers need a folder or an object store")
    count, asked = shards or len(store.manifest().shards), estimates.queries
    device = gpu_device() if gpus else ""
    changes = []
    with ray_cluster(address):
        threads = channels.threads or processors_per_task(min(count, workers or count))
        builder = ClusterBuilder(
            store=store,
            tasks=RayTasks(workers or count, threads, gpus, device),
            work=(work or work_folder()).absolute(),
            threads=threads,
            cache=channels.cache.absolute() if channels.cache else None,
            progress=progress_bar,
        )
        if delete:
            changes.append(builder.delete(delete))
        elif update:
            changes.append(builder.update(Path(corpus), skip_bad=skip_bad))
        elif corpus:
            change = builder.build(
                Path(corpus),
                shards=count,
                channels=channels.plans(),
                settings=analysis.settings() if analysis.given or not is_index(corpus) else None,
                replace_old=force,
                skip_bad=skip_bad,
            )
            changes.append(change)
        if estimates.distributions:
            changes.append(builder.estimate_distributions(asked, **estimates.search_options))
    for remark in changes[0].notes:
        note(remark)
    _show(uri, changes[0], changes[-1], json)


def _checked(
    paths: list[str],
    channels: ChannelFlags,
    analysis: AnalysisFlags,
    estimates: DistributionFlags,
    shards: int | None,
    update: bool,
    delete: list[str],
    force: bool,
) -> tuple[str, str]:
    """The corpus and the URI; flags that do not fit together are refused."""
    if update and delete:
        raise ConfigError("choose one of --update and --delete")
    estimates.check()
    alone = bool(delete) or (estimates.distributions and len(paths) == 1 and not update)
    expected = "one argument was expected, the URI" if delete else "two arguments were expected, the corpus and the URI"
    if len(paths) != (1 if alone else 2):
        raise ConfigError(f"{expected}; got {len(paths)}")
    if update or alone:
        if shards is not None or channels.names or force:
            raise ConfigError("--shards, --channels and --force are for a new cluster; a cluster keeps its shards and channels")
        analysis.refuse_given()
    elif shards is None:
        raise ConfigError("a new cluster needs --shards N; 1 to 5 million passages fit a shard")
    channels.check()
    return ("", paths[0]) if alone else (paths[0], paths[1])


def _show(uri: str, change: ClusterChange, last: ClusterChange, json: bool) -> None:
    """What changed, and the generation that was published last."""
    manifest = last.manifest
    result: dict[str, Any] = {
        "cluster": uri,
        "generation": manifest.generation,
        "shards": len(manifest.shards),
        "documents": manifest.documents,
        **asdict(change.counts),
        "skipped": change.skipped,
        "channels": {name: asdict(one) | {"seconds": round(one.seconds, 1)} for name, one in change.channels.items()},
        "distributions": distribution_figures(last.distributions),
    }
    if json:
        print_json(result)
        return
    for name, value in result.items():
        if name == "channels":
            for channel, figures in value.items():
                line(f"{channel}: {figures['encoded']:,} documents encoded by {figures['model']}")
        elif name == "distributions":
            for channel, figures in value.items():
                line(f"{channel}: distribution of {figures['scores']:,} scores, {figures['queries']:,} queries")
        elif name == "missing":
            if value:
                line(f"missing: {', '.join(value)}")
        elif value or name == "documents":
            line(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")
