"""Build, update and shrink a cluster: divide documents among shards, do the work on every shard, publish one generation.

The tasks of shards are independent of each other. All of it is resumed by the next call with the same arguments.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from lexfuse import __version__
from lexfuse.channels.channel_build import ChannelFilled, Channels, plans_by_name
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import default_model, stored_kind
from lexfuse.cluster.build.division import CorpusDivider, Division, IndexDivider, divided, is_index
from lexfuse.cluster.build.shard_task import ShardOutcome, ShardTask, complete_shard, count_languages
from lexfuse.cluster.build.shared_part import SharedPartTask, make_shared_part
from lexfuse.cluster.build.task_runner import LocalTasks, TaskRunner
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.cluster_manifest import ClusterManifest, StoredFile, StoredShard, generation_number
from lexfuse.cluster.partition import checked_shards, owner
from lexfuse.cluster.shard_client import TaskShards
from lexfuse.cluster.statistics import (
    has_changes,
    load_distributions,
    load_statistics,
    merged_statistics,
    save_distributions,
    save_statistics,
)
from lexfuse.cluster.store import BUILDS, CURRENT, ClusterStore, shard_statistics_folder, statistics_folder
from lexfuse.cluster.stored_files import fetch_files, upload_files
from lexfuse.data.downloads import cache_folder
from lexfuse.data.files import checksum
from lexfuse.data.formats.file_format import corpus_file
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.storage.index_folder import ChangeCounts
from lexfuse.storage.index_settings import FALLBACK_LANGUAGE, IndexSettings

NOTHING_DIVIDED = Division(())


def work_folder() -> Path:
    """Where unfinished shards are kept on a machine where nothing else is chosen."""
    return cache_folder() / "cluster-builds"


@dataclass(frozen=True, slots=True)
class ClusterChange:
    """A published generation, and what it changed."""

    manifest: ClusterManifest
    counts: ChangeCounts
    channels: Mapping[str, ChannelFilled]
    skipped: int = 0  # records of the corpus
    notes: tuple[str, ...] = ()  # of reading it
    distributions: Mapping[str, Any] = field(default_factory=dict)  # that were estimated


@dataclass(frozen=True, kw_only=True)
class ClusterBuilder:
    """Changes the cluster at a URI.

    >>> builder = ClusterBuilder(store=ClusterStore(str(folder / "law")), work=folder / "work")
    >>> builder.build("examples/articles.csv", shards=2).manifest.documents
    6
    >>> builder.delete(["lib-6", "lib-9"]).counts
    ChangeCounts(added=0, updated=0, deleted=1, missing=('lib-9',))
    """

    store: ClusterStore
    tasks: TaskRunner = field(default_factory=LocalTasks)
    work: Path = field(default_factory=work_folder)  # on every machine that builds
    threads: int | None = None  # that a task encodes with
    cache: Path | None = None  # a file with vectors of texts, on every machine that builds
    progress: ProgressBar = no_progress_bar

    def build(
        self,
        corpus: str | Path,
        *,
        shards: int,
        channels: Channels = (),
        settings: IndexSettings | None = None,
        replace_old: bool = False,
        skip_bad: bool = False,
    ) -> ClusterChange:
        """Publish a new cluster of a corpus; `replace_old` allows it to replace an existing one."""
        checked_shards(shards)
        plans = plans_by_name(channels)
        with closing(_divider(corpus, skip_bad)) as divider:
            settings = _checked_settings(divider, plans, settings)
            build = _digest(
                "build", divider.digest, shards, settings.as_json(), skip_bad,
                {name: [plan.model, plan.query_model, dict(plan.options)] for name, plan in plans.items()},
            )  # fmt: skip
            parent = self.store.current()
            if parent and not replace_old:
                if not parent.endswith(build[:12]):
                    raise StorageError(
                        f"there is a cluster at {self.store.uri!r} already; choose another URI, change it with --update, or "
                        "replace it with --force"
                    )
                return self._published_before()
            generation = _name(parent, build)
            with self.progress(f"dividing {corpus}", 0):
                division = divided(self.store, build, generation, divider, shards)
        tasks = [
            self._task(
                build, generation, shard, settings, parts=parts, channels=division.channel_settings, dated=division.versions
            )
            for shard, parts in enumerate(division.parts)
        ]
        if not all(plan.model for plan in plans.values()):
            plans = self._with_models(plans, tasks)
        shared = self._shared(build, plans, division)
        outcomes = self._done([replace(task, plans=plans, shared=shared) for task in tasks])
        draft = ClusterManifest(
            generation=generation,
            parent=parent,
            settings=settings.as_json(),
            channels=outcomes[0].channels,
            shards=tuple(one.stored for one in outcomes),
            statistics={},
        )
        return self._publish(draft, division.distributions, outcomes, division)

    def update(self, corpus: str | Path, *, skip_bad: bool = False) -> ClusterChange:
        """Add documents, replace those of the same id, and publish a new generation."""
        parent = self.store.manifest()
        build = _digest("update", parent.generation, checksum(corpus_file(corpus)), skip_bad)
        divider, generation = CorpusDivider(corpus, ReadReport(skip_bad=skip_bad)), _name(parent.generation, build)
        with self.progress(f"dividing {corpus}", 0):
            division = divided(self.store, build, generation, divider, len(parent.shards))
        return self._change(parent, build, {at: {"parts": parts} for at, parts in enumerate(division.parts) if parts}, division)

    def delete(self, ids: Sequence[str]) -> ClusterChange:
        """Delete documents, and publish a new generation; the counts name ids that are not there."""
        if isinstance(ids, str) or not ids:
            raise ConfigError(f"ids to delete must be a list of ids, got {ids!r}")
        parent, owned = self.store.manifest(), defaultdict[int, list[str]](list)
        for id in dict.fromkeys(ids):
            owned[owner(id, len(parent.shards))].append(id)
        build = _digest("delete", parent.generation, sorted(set(ids)))
        division = Division(((),) * len(parent.shards))
        return self._change(parent, build, {at: {"deleted": tuple(own)} for at, own in sorted(owned.items())}, division)

    def estimate_distributions(self, queries: Queries | None = None, **options: Any) -> ClusterChange:
        """Estimate how the scores of every channel are distributed, and publish a new generation with them.

        Queries and options are as for `lexfuse.Index.estimate_distributions`, and so are the distributions.
        """
        published = self.store.published()
        parent = self.store.manifest(published)
        asked = None if queries is None else [list(one) for one in zip(queries.ids, queries.text, strict=True)]
        generation = _name(parent.generation, _digest("distributions", parent.generation, asked, options))
        client = TaskShards(self.store, published, len(parent.shards), self.tasks)
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as folder:
            self._fetch_statistics(parent, Path(folder))
            with ClusterIndex(client, load_statistics(Path(folder)), name=self.store.uri) as index:
                found = index.score_distributions(queries, progress=self.progress, **options)
            former = load_distributions(Path(folder))
        draft = parent.replace(generation=generation, parent=parent.generation)
        return replace(self._publish(draft, former | found), distributions=found)

    def _change(
        self, parent: ClusterManifest, build: str, changes: Mapping[int, dict[str, Any]], division: Division
    ) -> ClusterChange:
        generation, settings = _name(parent.generation, build), IndexSettings.from_json(parent.settings)
        dated = division.versions or has_changes(parent.statistics)
        if dated:  # the first versions of a cluster: all shards need the statistics of every day
            undated: dict[int, dict[str, Any]] = {
                at: {} for at, shard in enumerate(parent.shards) if not has_changes(shard.statistics)
            }
            changes = dict(sorted({**undated, **changes}.items()))
        outcomes = self._done(
            [
                self._task(build, generation, shard, settings, parent=parent.shards[shard], dated=dated, **change)
                for shard, change in changes.items()
            ]
        )
        shards = list(parent.shards)
        for outcome in outcomes:
            shards[outcome.shard] = outcome.stored
        draft = parent.replace(
            generation=generation, parent=parent.generation, channels=outcomes[0].channels, shards=tuple(shards)
        )
        return self._publish(draft, self._distributions(parent), outcomes, division)

    def _task(self, build: str, generation: str, shard: int, settings: IndexSettings, **work: Any) -> ShardTask:
        return ShardTask(
            self.store.absolute_uri, build, generation, shard, self.work, settings, threads=self.threads, cache=self.cache, **work
        )

    def _shared(self, build: str, plans: Mapping[str, ChannelPlan], division: Division) -> dict[str, tuple[str, ...]]:
        """Files of the store with what channels have in common in all shards."""
        uri, named = self.store.absolute_uri, {name: plan for name, plan in plans.items() if stored_kind(name).shares}
        tasks = [SharedPartTask(uri, build, name, plan, division, self.threads) for name, plan in named.items()]
        if not tasks:
            return {}
        with self.progress(f"training {', '.join(named)}", 0):
            return dict(self.tasks.run(make_shared_part, tasks))

    def _with_models(self, plans: Mapping[str, ChannelPlan], tasks: Sequence[ShardTask]) -> dict[str, ChannelPlan]:
        """Plans with the default models for the language of most documents of all shards."""
        languages: Counter[str] = Counter()
        with self.progress("indexing words", len(tasks)) as done:
            for number, found in enumerate(self.tasks.run(count_languages, tasks), start=1):
                languages.update(found)
                done(number)
        language = next((language for language, _ in languages.most_common(1)), FALLBACK_LANGUAGE)
        return {name: plan.with_model(plan.model or default_model(name, language)) for name, plan in plans.items()}

    def _done(self, tasks: Sequence[ShardTask]) -> list[ShardOutcome]:
        """The outcomes of all tasks, by shard."""
        outcomes = []
        with self.progress("building shards", len(tasks)) as done:
            for outcome in self.tasks.run(complete_shard, tasks):
                outcomes.append(outcome)
                done(len(outcomes))
        first = outcomes[0]
        for outcome in outcomes:
            if outcome.channels != first.channels:
                raise DataError(
                    f"shard {outcome.shard} has other channels or models than shard {first.shard}: {_shown(outcome)}, not "
                    f"{_shown(first)}; put the same models on every machine, and run the command again"
                )
        return sorted(outcomes, key=lambda outcome: outcome.shard)

    def _publish(
        self,
        draft: ClusterManifest,
        distributions: Mapping[str, Any],
        outcomes: Sequence[ShardOutcome] = (),
        division: Division = NOTHING_DIVIDED,
    ) -> ClusterChange:
        """Publish a manifest with the statistics of all its shards."""
        manifest = draft.replace(statistics=self._summed(draft.generation, draft.shards, distributions))
        self.store.publish(manifest)
        self.store.remove(BUILDS)  # others changed the generation before, and would be refused
        counts = [outcome.counts for outcome in outcomes]
        total = ChangeCounts(
            sum(one.added for one in counts),
            sum(one.updated for one in counts),
            sum(one.deleted for one in counts),
            tuple(id for one in counts for id in one.missing),
        )
        return ClusterChange(manifest, total, _filled(outcomes), division.skipped, division.notes)

    def _summed(self, generation: str, shards: Sequence[StoredShard], distributions: Mapping[str, Any]) -> dict[str, StoredFile]:
        """The statistics of all shards, summed and copied to the store with the distributions."""
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as name:
            folder, own = Path(name) / "all", []
            for number, shard in enumerate(shards):
                part = Path(name) / str(number)
                fetch_files(self.store, shard.statistics, _statistics_of(number), part)
                own.append(load_statistics(part))
            save_statistics(folder, merged_statistics(own))
            save_distributions(folder, distributions)
            return upload_files(self.store, folder, statistics_folder(generation), generation)

    def _distributions(self, manifest: ClusterManifest) -> dict[str, Any]:
        """The score distributions of a generation."""
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as folder:
            self._fetch_statistics(manifest, Path(folder))
            return load_distributions(Path(folder))

    def _fetch_statistics(self, manifest: ClusterManifest, folder: Path) -> None:
        fetch_files(self.store, manifest.statistics, lambda file: statistics_folder(file.generation), folder)

    def _published_before(self) -> ClusterChange:
        """The outcome of a build that was interrupted after it was published."""
        self.store.remove(BUILDS)
        return ClusterChange(self.store.manifest(), ChangeCounts(), {})


def _divider(corpus: str | Path, skip_bad: bool) -> CorpusDivider | IndexDivider:
    if (Path(corpus) / CURRENT).is_file():
        raise ConfigError(f"{str(corpus)!r} is a cluster; give the corpus or the index that it was made of")
    return IndexDivider(corpus) if is_index(corpus) else CorpusDivider(corpus, ReadReport(skip_bad=skip_bad))


def _checked_settings(
    divider: CorpusDivider | IndexDivider, plans: Mapping[str, ChannelPlan], settings: IndexSettings | None
) -> IndexSettings:
    """The settings of an index that is divided, whose channels are not made again; or those that were chosen."""
    if divider.settings is None:
        return settings or IndexSettings()
    if settings is not None and settings != divider.settings:
        raise ConfigError("the shards of a divided index are analysed like it; leave out the settings of the analysis")
    if double := next((name for name in plans if name in divider.channels), None):
        raise ConfigError(f"the index has a channel {double!r}, which the cluster takes over; leave it out of the channels")
    return divider.settings


def _statistics_of(shard: int) -> Any:
    return lambda file: shard_statistics_folder(file.generation, shard)


def _filled(outcomes: Iterable[ShardOutcome]) -> dict[str, ChannelFilled]:
    """What was encoded for each channel, over all shards."""
    total: dict[str, ChannelFilled] = {}
    for outcome in outcomes:
        for name, one in outcome.filled.items():
            last = total.get(name, ChannelFilled(one.model, 0, 0, 0, 0.0))
            total[name] = ChannelFilled(
                one.model,
                last.encoded + one.encoded,
                last.passages + one.passages,
                last.cut + one.cut,
                last.seconds + one.seconds,
            )
    return total


def _shown(outcome: ShardOutcome) -> str:
    return ", ".join(f"{one.name} by {one.model} ({one.fingerprint})" for one in outcome.channels) or "none"


def _digest(*values: Any) -> str:
    """The same name for the same work, so that it is resumed."""
    return hashlib.sha256(orjson.dumps([__version__, *values], option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _name(parent: str, build: str) -> str:
    return f"{generation_number(parent) + 1:06d}-{build[:12]}"
