"""Rerankers on top of a choice, on rankings whose truth is known: one that sees it helps, one that inverts it harms."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from lexfuse.advice.findings import Outcome
from lexfuse.advice.inputs import CollectionFacts, judged_runs
from lexfuse.advice.judged_advice import advise_judged
from lexfuse.advice.rerankers.reranked_run import NamedReranker, rerank_run
from lexfuse.advice.rerankers.reranker_effect import evaluate_rerankers
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.rerank.reranker import Reranker, first_documents, reorder

DOCS, DEPTH, RELEVANT = 60, 40, 5
RECIPES = ["rrf", "min-max, equal", "tm2c2"]


@dataclass(frozen=True)
class Seeing(Reranker):
    """Scores that are `sight` for what is relevant, and noise of its own; documents of `blind` have none."""

    relevant: frozenset[tuple[str, str]]
    sight: float
    noise: float = 0.0
    depth: int = 20
    name: str = "seeing"
    blind: frozenset[str] = frozenset()

    def rerank(self, queries, run, *, depth):
        pairs = first_documents(run, depth)
        scores = []
        for query in pairs.queries:
            chance = np.random.default_rng([int(query[1:]), 7])
            for hit in pairs.hits(query):
                value = self.sight * ((query, hit.doc) in self.relevant) + self.noise * chance.standard_normal()
                scores.append(np.nan if hit.doc in self.blind else value)
        return reorder(run, self.name, np.array(scores, dtype=np.float32), depth)


def judged(prefix, queries, noise=(0.5, 0.5), seed=0):
    """Judged rankings of two sources that see relevance through noise of their own, and the queries they are for."""
    chance = np.random.default_rng(seed)
    rankings, rows = ({}, {}), []
    for number in range(queries):
        query = f"{prefix}{number}"
        relevant = chance.choice(DOCS, RELEVANT, replace=False)
        rows += [(query, f"d{doc}", 1) for doc in relevant]
        truth = np.isin(np.arange(DOCS), relevant) * 1.0
        for ranking, level in zip(rankings, noise, strict=True):
            scores = 5 + truth + level * chance.standard_normal(DOCS)
            ranking[query] = {f"d{doc}": float(max(scores[doc], 0.0)) for doc in np.argsort(-scores)[:DEPTH]}
    qrels = Qrels.of(rows)
    runs = [Run.of(name, ranking).bounded(0.0) for name, ranking in zip("ab", rankings, strict=True)]
    return replace(judged_runs(runs, qrels), queries=Queries.of([Query(query, "une loi", "fr") for query in rankings[0]]))


@pytest.fixture(scope="module")
def dev():
    return judged("d", 50)


@pytest.fixture(scope="module")
def test():
    return judged("t", 50, seed=1)


@pytest.fixture(scope="module")
def advice(dev, test):
    return advise_judged(dev, test, CollectionFacts("toy", DOCS), ["AP@40", "R@5"], recipes=RECIPES)


@pytest.fixture(scope="module")
def relevant(dev, test):
    every = {**dev.qrels.as_dict(), **test.qrels.as_dict()}
    return frozenset((query, doc) for query, docs in every.items() for doc in docs)


@pytest.fixture(scope="module")
def found(advice, dev, test, relevant):
    rerankers = [
        NamedReranker("good", (Seeing(relevant, 1.0, 0.3),)),
        NamedReranker("same", (Seeing(relevant, 0.0, 0.0, depth=1),)),
        NamedReranker("bad", (Seeing(relevant, -1.0),)),
    ]
    return evaluate_rerankers(advice, dev, test, rerankers)


def test_one_that_sees_what_is_relevant_is_taken_and_confirmed(found):
    good = found.reranking.findings[0]
    assert found.reranking.taken == "good"
    assert good.dev.versus.outcome is good.test.versus.outcome is Outcome.BETTER
    assert good.words[0].startswith("good helps, so use it: +0.")
    assert "On 50 test queries, used once: better, +0." in good.words[-1]


def test_one_that_changes_nothing_is_left_out(found):
    same = found.reranking.findings[1]
    assert same.dev.versus.mean == 0
    assert same.dev.versus.adjusted_p == 1
    assert same.words[0].startswith("same does not help here, so leave it out: +0.000 AP@40 over the choice without it")


def test_one_that_puts_what_is_relevant_last_harms_and_fusion_gives_it_no_weight(found):
    bad = found.reranking.findings[2]
    assert bad.dev.versus.outcome is bad.test.versus.outcome is Outcome.WORSE
    assert bad.words[0].startswith("bad harms, so leave it out: -0.")
    assert bad.weight < 0.1
    assert abs(bad.fused_dev.versus.mean) < 0.02


def test_the_verdict_says_all_of_it_in_its_last_sentence(found, advice):
    assert found.words == (*advice.words, found.reranking.words)
    assert found.reranking.words.startswith("Reranking: use good (+0.")
    none = "(+0.000 AP@40 on dev, p = 1.000; +0.000 on test, p = 1.000)"
    assert f"; leave out same, which does not help here {none}" in found.words[-1]
    assert " and bad, which harms (-0." in found.words[-1]


def test_the_comparison_is_with_the_ranking_of_the_choice(found, advice, dev):
    name = advice.chosen.configuration.name
    assert found.reranking.dev == {measure: advice.means[measure][name] for measure in advice.measures}
    assert found.reranking.test == {measure: advice.confirmation.means[measure][name] for measure in advice.measures}
    good = found.reranking.findings[0].dev
    assert good.means["AP@40"] - found.reranking.dev["AP@40"] == pytest.approx(good.versus.mean)
    assert set(good.means) == {"AP@40", "R@5"}
    assert set(found.reranking.findings[0].fused_dev.means) == {"AP@40"}  # tuned for it: nothing else is held out


def test_fusing_with_the_choice_helps_more_than_a_noisy_reranker_alone(advice, dev, relevant):
    noisy = NamedReranker("noisy", (Seeing(relevant, 1.0, 1.0, depth=DEPTH),))
    found = evaluate_rerankers(advice, dev, None, [noisy]).reranking
    finding = found.findings[0]
    assert finding.fused_dev.versus.outcome is Outcome.BETTER
    assert finding.fused_dev.versus.mean > finding.dev.versus.mean
    assert 0 < finding.weight < 1
    assert found.taken == ""
    assert "fused with the choice instead of replacing its scores, noisy (+0." in found.words


def test_of_several_that_help_the_highest_is_taken(advice, dev, relevant):
    rerankers = [NamedReranker(f"noise {noise}", (Seeing(relevant, 1.0, noise),)) for noise in (0.3, 0.0)]
    found = evaluate_rerankers(advice, dev, None, rerankers)
    assert found.reranking.taken == "noise 0.0"
    assert found.reranking.findings[0].words[0].startswith("noise 0.3 helps, but noise 0.0 helps more, so use that: ")
    assert found.reranking.test is None
    assert found.reranking.findings[0].test is None


def test_luck_of_many_is_corrected(advice, dev, relevant):
    """Eight rerankers that only shuffle the first two documents: none is taken for good."""
    rerankers = [NamedReranker(f"r{n}", (Seeing(relevant, 0.0, 1.0, depth=2, name=f"r{n}"),)) for n in range(8)]
    found = evaluate_rerankers(advice, dev, None, rerankers).reranking
    assert found.taken == ""
    assert all(each.dev.versus.adjusted_p >= each.dev.versus.p - 0.02 for each in found.findings)


def test_stages_stand_one_after_the_other(dev, relevant):
    run = dev.alone("a")
    stages = (Seeing(relevant, 1.0, depth=30, name="first"), Seeing(relevant, -1.0, depth=5, name="second"))
    both = rerank_run(NamedReranker("both", stages), dev.queries, run)
    expected = stages[1].rerank(dev.queries, stages[0].rerank(dev.queries, run, depth=30), depth=5)
    assert both.ranking.as_dict() == expected.as_dict()
    assert all(len(hits) == 5 for hits in both.scored.as_dict().values())


def test_the_scores_that_are_fused_are_those_of_documents_with_one(dev, relevant):
    run, blind = dev.alone("a"), frozenset(f"d{n}" for n in range(30))
    told = []
    found = rerank_run(NamedReranker("half", (Seeing(relevant, 1.0, 0.5, blind=blind),)), dev.queries, run, told.append)
    assert {doc for hits in found.scored.as_dict().values() for doc in hits}.isdisjoint(blind)
    whole = Seeing(relevant, 1.0, 0.5, blind=blind).rerank(dev.queries, run, depth=20)
    assert found.ranking.as_dict() == whole.as_dict()
    assert told == list(range(1, 51))


def test_one_that_knows_no_document_changes_nothing(advice, dev, relevant):
    nothing = NamedReranker("blind", (Seeing(relevant, 1.0, blind=frozenset(f"d{n}" for n in range(DOCS))),))
    finding = evaluate_rerankers(advice, dev, None, [nothing]).reranking.findings[0]
    assert finding.dev.versus.mean == 0
    assert finding.dev.versus.outcome is Outcome.EQUAL


def test_recall_below_the_depth_is_kept_where_scores_are_fused(advice, dev, relevant):
    """What is not reranked stays below in the order of the choice, so that a deep recall cannot change."""
    deep = replace(advice, measure="R@40", measures=("R@40",))
    few = NamedReranker("few", (Seeing(relevant, 1.0, 0.5, depth=3),))
    finding = evaluate_rerankers(deep, dev, None, [few]).reranking.findings[0]
    assert finding.dev.versus.mean == 0
    assert finding.fused_dev.versus.mean == pytest.approx(0, abs=1e-9)


def test_progress_counts_all_queries_of_all_rerankers(advice, dev, test, relevant):
    told = []
    some = [NamedReranker(name, (Seeing(relevant, 1.0),)) for name in ("one", "two")]
    evaluate_rerankers(advice, dev, test, some, progress=told.append)
    assert told == list(range(1, 201))


def test_what_cannot_be_tried_is_told(advice, dev, relevant):
    one = NamedReranker("one", (Seeing(relevant, 1.0),))
    with pytest.raises(ConfigError, match="two rerankers are called 'one'"):
        evaluate_rerankers(advice, dev, None, [one, one])
    with pytest.raises(ConfigError, match="no reranker to try"):
        evaluate_rerankers(advice, dev, None, [])
    with pytest.raises(ConfigError, match="give an index and its queries"):
        evaluate_rerankers(advice, replace(dev, queries=None), None, [one])
