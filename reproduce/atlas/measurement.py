"""Measures one collection for the atlas: an index with its channels, `lexfuse.advise`, and the fusions that need no judgement.

Zero-shot: BM25 with its default parameters, TF-IDF, word vectors of the corpus, and models that have seen no question of the
collection. Tuned: the same with BM25's k1 and b chosen on dev, and models trained on the train questions where there are any.
Fusions are chosen on dev and tested once.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.advice.advice import Advice
from lexfuse.advice.advisor import advise
from lexfuse.advice.choice import compare_configurations
from lexfuse.advice.findings import ConfigurationResult, Outcome, Power, ScoreScope
from lexfuse.advice.grid import fusion_tried
from lexfuse.advice.report.results import best_fusion, best_single
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import K1, B
from lexfuse.data.arrays import F64
from lexfuse.data.files import written_folder
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.encode.model_folder.locator import known
from lexfuse.errors import DataError, MissingDependencyError, NotFoundError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.student_t import t_quantile
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.index import Index
from lexfuse.optimisation.bm25_parameters import tune_bm25
from lexfuse.train.static_vectors import StaticTraining, train_static
from reproduce.atlas.entry import AtlasEntry, FusionFinding, PairFinding, SourceFinding
from reproduce.atlas.study_collection import StudyCollection, StudySample
from reproduce.result import Circumstances

MEASURES = "nDCG@10 R@100"
DEPTH = 200
WORDS = ("bm25", "tfidf")
STATIC = "static"
TRAINING = StaticTraining(dimension=300)
DRAWS = 1000  # samples of questions of each size
SIZES = (10, 20, 35, 50, 75, 100, 150, 200, 300, 400)


@dataclass
class Study:
    """One collection in one setting, while it is measured."""

    collection: StudyCollection
    setting: str
    sample: StudySample
    work: Path
    models: Path | None = None
    say: Callable[[str], None] = print
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def measured(self) -> AtlasEntry:
        """Build what is missing, advise, and put the findings together."""
        plans = self.plans()
        sources = (*WORDS, *plans)
        with self.index(plans) as index:
            tuned = self.tuned_bm25(index)
            with self.timed("advise"):
                advice = advise(
                    index, self.sample.queries, self.sample.dev, self.sample.test, channels=sources, measures=MEASURES,
                    depth=DEPTH, before_query_date=self.collection.before_query_date, scores_of=ScoreScope.CANDIDATES,
                    k1=tuned["k1"], b=tuned["b"],
                )  # fmt: skip
            with self.timed("compare"):
                return self.entry(index, advice, plans, tuned)

    def plans(self) -> dict[str, ChannelPlan]:
        """The channels with models; one whose model is not at hand is left out and noted."""
        found = {}
        for channel, model in self.collection.models.get(self.setting, {}).items():
            own = self.models / model if self.models is not None and (self.models / model).is_dir() else None
            if own is None and model not in known():
                self.notes.append(f"without {channel}: the model {model} was not at hand")
                continue
            name = channel if self.setting == "zero-shot" else f"{channel}-tuned"
            found[name] = ChannelPlan(str(own or model))
        if self.setting == "tuned" and not found:  # the models of the other setting serve, with tuned parameters
            return Study(self.collection, "zero-shot", self.sample, self.work, self.models, notes=self.notes).plans()
        static = self.static_vectors()
        return ({STATIC: ChannelPlan(str(static))} if static is not None else {}) | found

    def static_vectors(self) -> Path | None:
        """Word vectors of the corpus, trained once; None where the corpus has too few words."""
        folder = self.place("static")
        if not folder.exists():
            self.say(f"{self.collection.name}: training word vectors")
            with self.timed("word vectors"):
                try:
                    encoder = train_static(self.sample.corpus, TRAINING, language=self.collection.language)
                except (DataError, MissingDependencyError) as error:
                    self.notes.append(f"without {STATIC}: {error}")
                    return None
                with written_folder(folder) as partial:
                    for _ in encoder.save(partial):
                        pass
        return folder

    def place(self, kind: str) -> Path:
        """A file or folder of these documents."""
        ids = hashlib.sha256("\n".join(self.sample.corpus.ids).encode()).hexdigest()[:8]
        self.work.mkdir(parents=True, exist_ok=True)
        return self.work / f"atlas-{self.collection.name}-{ids}.{kind}"

    @contextmanager
    def index(self, plans: Mapping[str, ChannelPlan]) -> Iterator[Index]:
        """The index of the documents with the channels; both settings share it."""
        folder = self.place("index")
        if not folder.exists():
            self.say(f"{self.collection.name}: indexing {len(self.sample.corpus):,} documents")
            with self.timed("index"):
                Index.build(folder, self.sample.corpus).close()
        with Index.open(folder) as index:
            for name, plan in plans.items():
                if name not in index.channels:
                    self.say(f"{self.collection.name}: encoding {name} by {Path(plan.model).name}")
                    index.add_channels({name: plan})
            yield index

    def tuned_bm25(self, index: Index) -> dict[str, float]:
        """The parameters of BM25: chosen on dev in the tuned setting, else the usual ones."""
        if self.setting != "tuned":
            return {"k1": K1, "b": B}
        with self.timed("tune bm25"):
            before = self.collection.before_query_date
            found = tune_bm25(
                index.snapshot, self.sample.queries, self.sample.dev, MEASURES.split()[0], k=100, before_query_date=before
            )
        return {"k1": found.k1, "b": found.b}

    def entry(self, index: Index, advice: Advice, plans: Mapping[str, ChannelPlan], tuned: Mapping[str, float]) -> AtlasEntry:
        """The findings."""
        single, chosen = best_single(advice), advice.chosen
        if not chosen.configuration.method:
            chosen = best_fusion(advice) or chosen
        if single is None or not chosen.configuration.method:
            raise NotFoundError(f"{self.collection.name} has fewer than two sources that list something")
        best = single.configuration.members[0]
        compared = Comparison(self, index, tuned, best)
        names = advice.sources
        everything = {f"RRF of {len(names)}": ReciprocalRank(), f"TM2C2 of {len(names)}": TM2C2()}
        unjudged = tuple(compared.finding(name, names, fusion, advice) for name, fusion in everything.items())
        fusion = fusion_tried(chosen)
        if isinstance(fusion, TM2C2):
            fusion = TM2C2(fusion.alpha)  # a search counts its lexical channels itself
        advised = compared.finding(chosen.configuration.name, chosen.configuration.members, fusion, advice)
        outcomes = [one.versus_member.outcome for one in advice.tried if one.versus_member is not None]
        difference, power = chosen.versus_member, advice.power
        return AtlasEntry(
            self.collection.name, self.setting, self.collection.title, self.collection.language, self.collection.law,
            len(self.sample.corpus), self.sample.documents, advice.queries,
            0 if self.sample.test is None else len(self.sample.test.queries), self.sample.questions, advice.measure,
            tuple(self.source(name, index, advice, plans, compared) for name in names), best, unjudged, advised,
            advice.verdict.value, advice.words, outcomes.count(Outcome.BETTER), outcomes.count(Outcome.WORSE), len(outcomes),
            tuple(pair_findings(advice)), needed_to_show(power, difference.mean if difference else 0.0),
            power.needed if power else 0, compared.detection(chosen.configuration.members, fusion), dict(tuned),
            (*self.notes, *advice.notes), self.seconds, Circumstances.now(),
        )  # fmt: skip

    def source(
        self, name: str, index: Index, advice: Advice, plans: Mapping[str, ChannelPlan], compared: Comparison
    ) -> SourceFinding:
        """A source alone."""
        cost = next(one for one in advice.costs if one.source == name)
        model = plans[name].model if name in plans else ""
        stored = index.snapshot.channel(name).named if name in plans else None
        return SourceFinding(
            name, "" if name == STATIC else Path(model).name, *compared.means([name], None), cost.bytes / 1e6, cost.p50,
            0.0 if stored is None else stored.seconds,
        )  # fmt: skip

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Note how long a step takes."""
        start = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start


@dataclass
class Comparison:
    """Rankings of the questions by some channels and a fusion, compared with the best single source of dev."""

    study: Study
    index: Index
    options: Mapping[str, float]
    best: str
    _runs: dict[str, Run] = field(default_factory=dict)

    @property
    def confirming(self) -> Qrels:
        """The judgements that a gain is measured on: test, or dev where there is no test."""
        return self.study.sample.test or self.study.sample.dev

    def run(self, members: Sequence[str], fusion: Fusion | None) -> Run:
        """The ranking of all questions."""
        key = f"{' '.join(members)} {fusion!r}"
        if key not in self._runs:
            options: dict[str, Any] = {} if fusion is None else {"fusion": fusion}
            options |= self.options if "bm25" in members else {}
            before = self.study.collection.before_query_date
            queries = self.study.sample.queries
            self._runs[key] = self.index.run(queries, depth=DEPTH, before_query_date=before, channels=list(members), **options)
        return self._runs[key]

    def means(self, members: Sequence[str], fusion: Fusion | None) -> tuple[dict[str, float], dict[str, float]]:
        """The means on dev and on test, by measure."""
        run, found = self.run(members, fusion), []
        for qrels in (self.study.sample.dev, self.study.sample.test):
            evaluation = None if qrels is None else evaluate(qrels, run, MEASURES)
            found.append({} if evaluation is None else {name: evaluation.mean(name) for name in MEASURES.split()})
        return found[0], found[1]

    def values(self, members: Sequence[str], fusion: Fusion | None) -> F64:
        """The deciding measure of every question that confirms."""
        measure = MEASURES.split()[0]
        return evaluate(self.confirming, self.run(members, fusion), measure).values(measure)

    def finding(self, name: str, members: Sequence[str], fusion: Fusion | None, advice: Advice) -> FusionFinding:
        """A fusion and what it gains."""
        (gained,) = compare_configurations([(self.values(members, fusion), self.values([self.best], None))])
        cost = sum(one.p50 for one in advice.costs if one.source in members)
        dev, test = self.means(members, fusion)
        return FusionFinding(name, dev, test, gained.mean, gained.interval.low, gained.interval.high, gained.p, cost)

    def detection(self, members: Sequence[str], fusion: Fusion | None) -> dict[str, float]:
        """The share of random samples of the questions in which a t-test shows the gain (two-sided, at .05), by their size."""
        difference = self.values(members, fusion) - self.values([self.best], None)
        return detection_shares(difference)


def detection_shares(difference: F64, sizes: Sequence[int] = SIZES, draws: int = DRAWS, seed: int = 0) -> dict[str, float]:
    """How often a sample of each size shows that the mean of the differences is above 0.

    >>> detection_shares(np.array([1.0, 2.0] * 10), sizes=(10, 50), draws=5)
    {'10': 1.0, '20': 1.0}
    """
    generator, found = np.random.default_rng(seed), {}
    for size in [*(one for one in sizes if one < len(difference)), len(difference)]:
        drawn = np.stack([generator.choice(difference, size, replace=False) for _ in range(draws)])
        spread = drawn.std(axis=1, ddof=1) / np.sqrt(size)
        means = drawn.mean(axis=1)
        found[str(size)] = float((means > t_quantile(size - 1, 0.975) * spread).mean())
    return found


def needed_to_show(power: Power | None, gain: float) -> int | None:
    """The questions that show a gain four times out of five, from the spread that the power was computed with.

    >>> needed_to_show(Power(100, 0.05, 0.1, 400), 0.05)
    400
    """
    if power is None or gain <= 0:
        return None
    return max(2, int(np.ceil((power.detectable * np.sqrt(power.queries) / gain) ** 2 - 1e-9)))


def pair_findings(advice: Advice) -> Iterator[PairFinding]:
    """Every pair of sources with the best of its fusions."""
    for one in advice.complementarity:
        tried = [each for each in advice.tried if set(each.configuration.members) == {one.first, one.second}]
        best: ConfigurationResult | None = max(tried, key=lambda each: each.value, default=None)
        if best is None or best.versus_member is None:
            continue
        yield PairFinding(
            one.first, one.second, one.only_first, one.only_second, one.both, one.neither,
            one.correlation if np.isfinite(one.correlation) else None, best.versus_member.mean, best.versus_member.adjusted_p,
            best.configuration.method,
        )  # fmt: skip
