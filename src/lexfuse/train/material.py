"""Training data: corpus, queries, judgements, a ranking and parallel text; and the examples that a stage makes of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.data.corpus import Corpus
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import LengthUnit
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.dev_evaluation import DevQueries, days_of, earlier_hits
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.hard_negatives import hard_negatives
from lexfuse.train.examples.labelled_examples import judged_examples, judged_pool
from lexfuse.train.examples.parallel_text import ParallelText
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.plan import JUDGED, MiningSettings, TrainingPlan, TrainingStage
from lexfuse.train.structure.structure_pairs import StructureKind, structure_pairs

BLOCK = 8192  # texts that are turned into tokens at once


@dataclass(frozen=True, slots=True, eq=False)
class TrainingMaterial:
    """The data of a training; ``ranking`` provides hard negatives, and candidates for cross-encoders."""

    name: str
    corpus: Corpus
    queries: Queries | None = None
    train: Qrels | None = None
    dev: Qrels | None = None
    ranking: Run | None = None
    parallel: ParallelText | None = None

    def check(self, plan: TrainingPlan) -> None:
        """Refuse a plan that needs more data.

        >>> TrainingMaterial("mine", Corpus.of([Document("a")])).check(TrainingPlan.usual(ModelKind.DENSE))
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: training on judged queries needs queries and train judgements; ...
        """
        if not len(self.corpus):
            raise DataError(f"the corpus {self.name!r} has no documents")
        if plan.judged and (self.queries is None or self.train is None):
            raise ConfigError(
                "training on judged queries needs queries and train judgements; give both, or learn from structure alone"
            )
        if plan.parallel is not None and self.parallel is None:
            raise ConfigError("the plan has a parallel stage but the data have no parallel text; read it with read_parallel")
        if plan.kind is ModelKind.CROSS and self.ranking is None:
            raise ConfigError("a cross-encoder learns to tell ranked documents apart; give an index or a run to take them from")
        if plan.before_query_date:
            self._check_dates(plan)

    def allowed(self, plan: TrainingPlan) -> TrainingMaterial:
        """The data that a plan may use: with ``before_query_date``, only earlier documents of the ranking.

        >>> material = TrainingMaterial("mine", Corpus.of([Document("a")]), Queries.of([]), ranking=Run.of("bm25",
        ...     {"q": {"a": 1.0}}))
        >>> len(material.allowed(TrainingPlan.usual(ModelKind.DENSE, {"before_query_date": True})).ranking)
        0
        """
        if not plan.before_query_date or self.ranking is None or self.queries is None:
            return self
        return replace(self, ranking=earlier_hits(self.ranking, self.queries, self.corpus))

    def _check_dates(self, plan: TrainingPlan) -> None:
        judged = [qrels for qrels in (self.train if plan.judged else None, self.dev) if qrels is not None]
        if self.queries is None or not judged:
            raise ConfigError("there are no judged queries that documents could be earlier than; leave out before_query_date")
        names = dict.fromkeys(name for qrels in judged for name in qrels.queries)
        days_of(self.queries, [name for name in names if name in self.queries.ids])  # missing queries are reported with the data

    def digest(self) -> str:
        """Equal if and only if the data are equal.

        >>> one, two = (TrainingMaterial("mine", Corpus.of([Document("a", text=text)])) for text in "xy")
        >>> one.digest() == two.digest()
        False
        """
        found = hashlib.sha256()
        for texts in (self.corpus.ids, self.corpus.title, self.corpus.text, map(str, self.corpus.headings)):
            for text in texts:
                found.update(f"{text}\0".encode("utf-8", "surrogatepass"))
        if self.queries is not None:
            for text in (*self.queries.ids, *self.queries.text):
                found.update(f"{text}\0".encode("utf-8", "surrogatepass"))
            found.update(self.corpus.date.tobytes() + self.queries.date.tobytes())
        for qrels in (self.train, self.dev):
            if qrels is not None:
                found.update(repr(sorted(qrels.as_dict().items())).encode())
            found.update(b"/")
        if self.ranking is not None:
            for column in (self.ranking.offsets, self.ranking.doc):  # scores may differ in their last bit between runs
                found.update(np.ascontiguousarray(column).tobytes())
        for text in self.parallel.texts if self.parallel is not None else ():
            found.update(f"{text}\0".encode("utf-8", "surrogatepass"))
        return found.hexdigest()[:32]


def stage_examples(material: TrainingMaterial, stage: TrainingStage, mining: MiningSettings, report: ReadReport) -> Examples:
    """The examples of a stage, from all its sources.

    >>> from lexfuse.train.hyperparameters import Hyperparameters
    >>> document = Document("a", text="Le préavis dure un mois.", headings=("Livre I : La fin du contrat",))
    >>> material = TrainingMaterial("mine", Corpus.of([document]))
    >>> len(stage_examples(material, TrainingStage(("headings",), Hyperparameters()), MiningSettings(), ReadReport()))
    1
    """
    if stage.is_parallel and material.parallel is not None:
        return Examples.of_pairs(material.parallel.pairs)
    parts = []
    if kinds := [StructureKind(name) for name in stage.examples if name != JUDGED]:
        pairs = structure_pairs(material.corpus, kinds, report=report)
        if empty := [name for name, found in pairs.items() if not found]:
            raise DataError(f"the corpus gives no pairs of the kind {empty[0]!r}; leave that kind out")
        parts.append(Examples.of_pairs(pairs))
    if JUDGED in stage.examples and material.queries is not None and material.train is not None:
        parts.append(_judged(material, material.queries, material.train, mining, report))
    return Examples.joined(parts) if len(parts) > 1 else parts[0]


def dev_examples(material: TrainingMaterial, mining: MiningSettings) -> Examples | None:
    """The examples of the dev loss; ``None`` without dev judgements."""
    if material.queries is None or material.dev is None:
        return None
    ranked = material.ranking is not None and any(name in material.ranking.queries for name in material.dev.queries)
    unranked = TrainingMaterial(material.name, material.corpus, ranking=material.ranking if ranked else None)
    return _judged(unranked, material.queries, material.dev, mining, ReadReport(skip_bad=True))


def dev_pool(material: TrainingMaterial, plan: TrainingPlan, units: LengthUnit, report: ReadReport) -> DevQueries | None:
    """The data that weights are selected on; ``None`` without dev judgements."""
    if material.queries is None or material.dev is None:
        return None
    return judged_pool(
        material.corpus, material.queries, material.dev, most=plan.dev.pool or None,
        candidates=material.ranking if plan.kind is ModelKind.CROSS else None, depth=plan.dev.candidates, units=units,
        before_query_date=plan.before_query_date, report=report,
    )  # fmt: skip


def truncated(tokens: ModelTokenizer, texts: Sequence[str], length: int, what: str, say: Callable[[str], None]) -> str:
    """Report how many texts have more tokens than training reads; the same for the card, empty if there are none.

    >>> class Letters:
    ...     def ids(self, texts):
    ...         return texts
    >>> truncated(Letters(), ["loi", "contrat"], 5, "queries", print)
    1 of 2 queries are longer than 5 tokens: training reads the beginning of each
    '1 of 2; the beginning was read'
    """
    blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
    longer = sum(len(row) > length for block in blocks for row in tokens.ids(block))
    if not longer:
        return ""
    say(f"{longer:,} of {len(texts):,} {what} are longer than {length} tokens: training reads the beginning of each")
    return f"{longer:,} of {len(texts):,}; the beginning was read"


def _judged(material: TrainingMaterial, queries: Queries, qrels: Qrels, mining: MiningSettings, report: ReadReport) -> Examples:
    """Judged examples, with hard negatives if there is a ranking."""
    if material.ranking is None:
        return judged_examples(material.corpus, queries, qrels, report=report)
    found = hard_negatives(
        material.ranking, qrels, amount=mining.amount, skip=mining.skip, margin=mining.margin or None
    )  # fmt: skip
    summary = f"hard negatives by {material.ranking.name}: {len(found.negatives):,} for {len(qrels.queries):,} queries"
    if mining.margin:
        summary += f"; {len(found.too_close):,} documents too close to a relevant one, used as neither"
        summary += f"; {found.unguarded:,} queries whose relevant documents were not ranked, without that guard"
    report.note(f"{summary}; {found.unranked:,} queries not ranked" if found.unranked else summary)
    return judged_examples(material.corpus, queries, qrels, negatives=found.negatives, too_close=found.too_close, report=report)
