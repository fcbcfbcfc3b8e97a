"""Build, update and shrink a cluster: divide documents among shards, do the work on every shard, publish one generation.

Documents are read once, in order, and written to the store in blocks for the shard that owns them: reading checks that ids are
unique and names the line of a bad record. The tasks of shards are independent of each other. All of it is resumed by the next
call with the same arguments.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lexfuse import __version__
from lexfuse.channels.channel_build import ChannelFilled, Channels, ProgressBar, no_progress_bar, plans_by_name
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import default_model, plan_channel, stored_kind
from lexfuse.cluster.cluster_manifest import ClusterManifest, StoredFile, StoredShard, generation_number
from lexfuse.cluster.local_copy import fetch_files
from lexfuse.cluster.partition import checked_shards, owner
from lexfuse.cluster.shard_task import ShardOutcome, ShardTask, complete_shard, count_languages
from lexfuse.cluster.statistics import Statistics, TermStatistics, load_statistics, save_statistics
from lexfuse.cluster.store import BUILDS, ClusterStore, shard_statistics_folder, statistics_folder
from lexfuse.cluster.task_runner import LocalTasks, TaskRunner
from lexfuse.data.arrays import read_only
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.downloads import cache_folder
from lexfuse.data.files import checksum
from lexfuse.data.formats.file_format import corpus_file, read_documents, write_corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.storage.index_folder import ChangeCounts
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.string_list import StringList

BLOCK = 5000  # documents in a file of the divided corpus


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


@dataclass(frozen=True, slots=True)
class _Divided:
    """A corpus in the store, divided by owner."""

    parts: tuple[tuple[str, ...], ...]  # names of files of every shard
    skipped: int = 0
    notes: tuple[str, ...] = ()


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
        settings, plans = settings or IndexSettings(), plans_by_name(channels)
        build = _digest(
            "build", checksum(corpus_file(corpus)), shards, settings.as_json(), skip_bad,
            {name: [plan.model, plan.query_model, dict(plan.options)] for name, plan in plans.items()},
        )  # fmt: skip
        parent = self.store.current()
        if parent and not replace_old:
            if not parent.endswith(build[:12]):
                raise StorageError(
                    f"there is a cluster at {self.store.uri!r} already; choose another URI, change it with --update, or replace "
                    "it with --force"
                )
            return self._published_before()
        divided = self._divided(build, corpus, shards, ReadReport(skip_bad=skip_bad))
        generation = _name(parent, build)
        tasks = [self._task(build, generation, shard, settings, parts=parts) for shard, parts in enumerate(divided.parts)]
        if not all(plan.model for plan in plans.values()):
            plans = self._with_models(plans, tasks)
        shared = {name: self._shared(build, name, plan, divided) for name, plan in plans.items() if stored_kind(name).shares}
        outcomes = self._done([replace(task, plans=plans, shared=shared) for task in tasks])
        return self._publish(generation, parent, settings, [one.stored for one in outcomes], outcomes, divided)

    def update(self, corpus: str | Path, *, skip_bad: bool = False) -> ClusterChange:
        """Add documents, replace those of the same id, and publish a new generation."""
        parent = self.store.manifest()
        build = _digest("update", parent.generation, checksum(corpus_file(corpus)), skip_bad)
        divided = self._divided(build, corpus, len(parent.shards), ReadReport(skip_bad=skip_bad))
        return self._change(parent, build, {at: {"parts": parts} for at, parts in enumerate(divided.parts) if parts}, divided)

    def delete(self, ids: Sequence[str]) -> ClusterChange:
        """Delete documents, and publish a new generation; the counts name ids that are not there."""
        if isinstance(ids, str) or not ids:
            raise ConfigError(f"ids to delete must be a list of ids, got {ids!r}")
        parent, owned = self.store.manifest(), defaultdict[int, list[str]](list)
        for id in dict.fromkeys(ids):
            owned[owner(id, len(parent.shards))].append(id)
        build = _digest("delete", parent.generation, sorted(set(ids)))
        divided = _Divided(((),) * len(parent.shards))
        return self._change(parent, build, {at: {"deleted": tuple(own)} for at, own in sorted(owned.items())}, divided)

    def _change(
        self, parent: ClusterManifest, build: str, changes: Mapping[int, dict[str, Any]], divided: _Divided
    ) -> ClusterChange:
        generation, settings = _name(parent.generation, build), IndexSettings.from_json(parent.settings)
        outcomes = self._done(
            [
                self._task(build, generation, shard, settings, parent=parent.shards[shard], **change)
                for shard, change in changes.items()
            ]
        )
        shards = list(parent.shards)
        for outcome in outcomes:
            shards[outcome.shard] = outcome.stored
        return self._publish(generation, parent.generation, settings, shards, outcomes, divided)

    def _task(self, build: str, generation: str, shard: int, settings: IndexSettings, **work: Any) -> ShardTask:
        return ShardTask(
            self.store.absolute_uri, build, generation, shard, self.work, settings, threads=self.threads, cache=self.cache, **work
        )

    def _divided(self, build: str, corpus: str | Path, shards: int, report: ReadReport) -> _Divided:
        """The corpus in the store, divided by owner; a corpus that was divided before is not read again."""
        done = f"{BUILDS}/{build}/corpus.json"
        if self.store.exists(done):
            values = self.store.read_json(done)
            return _Divided(tuple(map(tuple, values["parts"])), values["skipped"], tuple(values["notes"]))
        parts: list[list[str]] = [[] for _ in range(shards)]
        waiting: list[list[Document]] = [[] for _ in range(shards)]
        with self.progress(f"reading {corpus}", 0):
            for document in read_documents(corpus, report):
                shard = owner(document.id, shards)
                waiting[shard].append(document)
                if len(waiting[shard]) == BLOCK:
                    parts[shard].append(self._written(build, shard, len(parts[shard]), waiting[shard]))
                    waiting[shard] = []
            for shard, rest in enumerate(waiting):
                if rest:
                    parts[shard].append(self._written(build, shard, len(parts[shard]), rest))
        divided = _Divided(tuple(map(tuple, parts)), report.skipped, tuple(report.lines()))
        self.store.write_json(done, asdict(divided))
        return divided

    def _written(self, build: str, shard: int, number: int, documents: list[Document]) -> str:
        name = f"{BUILDS}/{build}/corpus/{shard}-{number:06d}.jsonl.gz"
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as folder:
            path = Path(folder) / "part.jsonl.gz"
            write_corpus(Corpus.of(documents), path)
            self.store.upload(path, name)
        return name

    def _shared(self, build: str, channel: str, plan: ChannelPlan, divided: _Divided) -> tuple[str, ...]:
        """Files of the store with what a channel has in common in all shards, made once from documents drawn from all."""
        folder = f"{BUILDS}/{build}/shared/{channel}"
        done = f"{folder}.json"
        if not self.store.exists(done):
            ids = sorted(document.id for document in self._documents(divided))

            def drawn(places: Sequence[int]) -> list[Document]:
                wanted = {ids[place] for place in places}
                found = [document for document in self._documents(divided) if document.id in wanted]
                return sorted(found, key=lambda document: document.id)

            settings = plan_channel(channel, plan, threads=self.threads)
            with self.progress(f"training {channel}", 0), tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as local:
                part = stored_kind(channel).shared_part(settings, len(ids), drawn, threads=self.threads) if ids else None
                paths = list(part.save(Path(local), settings.options)) if part is not None else []
                for path in paths:
                    self.store.upload(path, f"{folder}/{path.name}")
            self.store.write_json(done, [f"{folder}/{path.name}" for path in paths])
        return tuple(self.store.read_json(done))

    def _documents(self, divided: _Divided) -> Iterator[Document]:
        """All documents of a divided corpus."""
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as folder:
            path = Path(folder) / "part.jsonl.gz"
            for name in (name for parts in divided.parts for name in parts):
                path.write_bytes(self.store.read_bytes(name))
                yield from read_documents(path)

    def _with_models(self, plans: Mapping[str, ChannelPlan], tasks: Sequence[ShardTask]) -> dict[str, ChannelPlan]:
        """Plans with the default models for the language of most documents of all shards."""
        languages: Counter[str] = Counter()
        with self.progress("indexing words", len(tasks)) as done:
            for number, found in enumerate(self.tasks.run(count_languages, tasks), start=1):
                languages.update(found)
                done(number)
        language = languages.most_common(1)[0][0]
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
        generation: str,
        parent: str,
        settings: IndexSettings,
        shards: Sequence[StoredShard],
        outcomes: Sequence[ShardOutcome],
        divided: _Divided,
    ) -> ClusterChange:
        manifest = ClusterManifest(
            generation=generation,
            parent=parent,
            settings=settings.as_json(),
            channels=outcomes[0].channels,
            shards=tuple(shards),
            statistics=self._summed(generation, shards),
        )
        self.store.publish(manifest)
        self.store.remove(BUILDS)  # others changed the generation before, and would be refused
        counts = [outcome.counts for outcome in outcomes]
        total = ChangeCounts(
            sum(one.added for one in counts),
            sum(one.updated for one in counts),
            sum(one.deleted for one in counts),
            tuple(id for one in counts for id in one.missing),
        )
        return ClusterChange(manifest, total, _filled(outcomes), divided.skipped, divided.notes)

    def _summed(self, generation: str, shards: Sequence[StoredShard]) -> dict[str, StoredFile]:
        """The statistics of all shards, summed and copied to the store."""
        files = {}
        with tempfile.TemporaryDirectory(prefix="lexfuse-cluster-") as name:
            folder, own = Path(name) / "all", []
            for number, shard in enumerate(shards):
                part = Path(name) / str(number)
                fetch_files(self.store, shard.statistics, _statistics_of(number), part)
                own.append(load_statistics(part))
            for path in save_statistics(folder, merged_statistics(own)):
                stored = path.relative_to(folder).as_posix()
                self.store.upload(path, f"{statistics_folder(generation)}/{stored}")
                files[stored] = StoredFile(bytes=path.stat().st_size, sha256=checksum(path), generation=generation)
        return files

    def _published_before(self) -> ClusterChange:
        """The outcome of a build that was interrupted after it was published."""
        self.store.remove(BUILDS)
        return ClusterChange(self.store.manifest(), ChangeCounts(), {})


def merged_statistics(shards: Sequence[Statistics]) -> dict[str, TermStatistics]:
    """The statistics of all shards from those of each."""
    names = dict.fromkeys(name for statistics in shards for name in statistics)
    return {name: _merged([one[name] for one in shards if name in one]) for name in names}


def _merged(shards: Sequence[TermStatistics]) -> TermStatistics:
    names = sorted({term for shard in shards for term in shard.terms.strings()})
    terms = StringList.of(names)
    frequency, occurrences = np.zeros(len(names), dtype=np.int64), np.zeros(len(names))
    for shard in shards:
        places = terms.find_all(shard.terms.strings(), len(shard.terms))
        frequency[places] += shard.document_frequency
        occurrences[places] += shard.collection_frequency
    documents, length = sum(shard.documents for shard in shards), sum(shard.length for shard in shards)
    return TermStatistics(terms, read_only(frequency), read_only(occurrences), documents, length)


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
