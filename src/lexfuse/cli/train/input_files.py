"""The files that a model is trained on, read and checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.flag_group import FlagGroup
from lexfuse.cli.output.console import note, spinner
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import read_corpus, read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import read_run
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.text.annotation import with_languages
from lexfuse.train.examples.hard_negatives import mining_run
from lexfuse.train.examples.parallel_text import read_parallel
from lexfuse.train.material import TrainingMaterial
from lexfuse.train.plan import TrainingPlan


@dataclass(frozen=True, kw_only=True)
class TrainingInputFlags(FlagGroup):
    """The corpus, the queries, the judgements and the source of hard negatives."""

    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus folder or file.")]
    queries: Annotated[Path | None, typer.Option("--queries", help="Queries [default: those of the CORPUS folder].")] = None
    train: Annotated[
        Path | None, typer.Option("--train", help="Judgements to learn from [default: qrels/train.tsv of CORPUS].")
    ] = None
    dev: Annotated[
        Path | None, typer.Option("--dev", help="Judgements to select weights by [default: qrels/dev.tsv of CORPUS].")
    ] = None
    index: Annotated[Path | None, typer.Option("--index", help="An index of CORPUS, for hard negatives.")] = None
    negatives: Annotated[Path | None, typer.Option("--negatives", help="A TREC run with hard negatives, instead of --index.")] = (
        None
    )

    def material(self, plan: TrainingPlan, report: ReadReport) -> TrainingMaterial:
        """Read all of it."""
        if self.index is not None and self.negatives is not None:
            raise ConfigError("hard negatives come from --index or from --negatives, not from both; leave one out")
        with spinner(f"reading {self.corpus}"):
            corpus = with_languages(read_corpus(self.corpus, report))
            place = self.queries or self._inside("queries.jsonl")
            asked = None if place is None else read_queries(place, report)
            judged = {split: self._qrels(split, corpus, asked, report) for split in ("train", "dev")}
            parallel = None if plan.parallel is None else read_parallel(plan.parallel, report)
        train = judged["train"] if plan.judged else None
        _tell_shared(train, judged["dev"])
        ranking = self._ranking(plan, asked, (train, judged["dev"]), report)
        return TrainingMaterial(self.corpus.resolve().name, corpus, asked, train, judged["dev"], ranking, parallel)

    def _inside(self, name: str) -> Path | None:
        """A file of the corpus folder, plain or gzipped, if it is there."""
        found = (self.corpus / name, self.corpus / f"{name}.gz") if self.corpus.is_dir() else ()
        return next((path for path in found if path.is_file()), None)

    def _qrels(self, split: str, corpus: Corpus, queries: Queries | None, report: ReadReport) -> Qrels | None:
        path = (self.train if split == "train" else self.dev) or self._inside(f"qrels/{split}.tsv")
        if path is None:
            return None
        if queries is None:
            raise ConfigError(f"{str(path)!r} has judgements but there are no queries; give them with --queries")
        qrels = read_qrels(path, report, queries=queries.ids, docs=corpus.ids)
        if not len(qrels):
            raise DataError("there are no judgements in it; write one per line: query-id, corpus-id, score", path=path)
        return qrels

    def _ranking(
        self, plan: TrainingPlan, queries: Queries | None, judged: Iterable[Qrels | None], report: ReadReport
    ) -> Run | None:
        if self.negatives is not None:
            return read_run(self.negatives, report=report)
        if self.index is None or queries is None:
            return None
        names = dict.fromkeys(name for qrels in judged if qrels is not None for name in qrels.queries)
        asked = queries.select(queries.ids.ordinals(names).tolist())
        mining = plan.mining
        with spinner(f"ranking by {mining.channel}"):
            return mining_run(
                self.index, asked, channel=mining.channel, depth=mining.depth, before_query_date=plan.before_query_date
            )  # fmt: skip


def _tell_shared(train: Qrels | None, dev: Qrels | None) -> None:
    """Say how many queries are learned from and measured on."""
    if train is not None and dev is not None and (both := [name for name in dev.queries if name in train.queries]):
        note(f"{len(both):,} queries are both in train and in dev, first {both[0]!r}: the dev figures will be too high")
