"""The whole advice on rankings whose truth is known: it finds what helps, and says when nothing does."""

import numpy as np
import pytest

from lexfuse.advice.findings import SourceCost
from lexfuse.advice.grid import RECIPES, configurations, trials
from lexfuse.advice.inputs import CollectionFacts, judged_runs
from lexfuse.advice.judged_advice import advise_judged
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.evaluation.evaluation import evaluate

DOCS, DEPTH, RELEVANT = 60, 40, 5
QUICK = ["rrf", "min-max, equal", "min-max, tuned", "tm2c2"]


def collection(prefix, queries, noise, seed=0):
    """Runs of sources that see relevance through noise of their own, and judgements."""
    chance = np.random.default_rng(seed)
    rankings, judged = [{} for _ in noise], []
    for number in range(queries):
        query = f"{prefix}{number}"
        relevant = chance.choice(DOCS, RELEVANT, replace=False)
        judged += [(query, f"d{doc}", 1) for doc in relevant]
        truth = np.isin(np.arange(DOCS), relevant) * 1.0
        for ranking, level in zip(rankings, noise, strict=True):
            scores = 5 + truth + level * chance.standard_normal(DOCS)
            top = np.argsort(-scores)[:DEPTH]
            ranking[query] = {f"d{doc}": float(max(scores[doc], 0.0)) for doc in top}
    return [Run.of(name, ranking).bounded(0.0) for name, ranking in zip("abc", rankings, strict=False)], Qrels.of(judged)


def judged(prefix, queries, noise, seed=0):
    return judged_runs(*collection(prefix, queries, noise, seed))


def test_independent_sources_are_fused_and_test_confirms_it():
    found = advise_judged(
        judged("d", 80, (0.5, 0.5)), judged("t", 80, (0.5, 0.5), 1), CollectionFacts("toy", DOCS), ["AP@40"], recipes=QUICK
    )
    assert found.chosen.configuration.members == ("a", "b")
    assert found.words[0].startswith("Fuse a and b")
    assert any(word.startswith("Confirmed:") for word in found.words)
    assert found.confirmation.queries == 80


def test_a_source_of_noise_is_not_added():
    found = advise_judged(judged("d", 80, (0.3, 50.0)), None, CollectionFacts("toy", DOCS), ["AP@40"], recipes=QUICK)
    assert found.chosen.configuration.members == ("a",)
    assert found.words[0].startswith("Do not fuse: use a alone")
    assert any(word.startswith("Adding b") for word in found.words)


def test_what_is_tuned_is_measured_on_queries_it_was_not_tuned_on():
    dev = judged("d", 30, (0.6, 0.9))
    tuned = next(each for each in trials(dev.union, dev.qrels, "AP@40", recipes=["min-max, tuned"]) if each.tuned)
    flattering = evaluate(dev.qrels, dev.fused(("a", "b"), tuned.fusion, "x"), "AP@40").mean("AP@40")
    assert tuned.mean <= flattering + 1e-12
    assert not np.isclose(tuned.mean, flattering)


def test_every_subset_and_every_recipe_is_tried_once():
    dev = judged("d", 12, (0.5, 0.6, 0.7))
    found = trials(dev.union, dev.qrels, "AP@40", lexical=frozenset("a"))
    names = [each.configuration.name for each in found]
    assert len(set(names)) == len(names) == 3 + configurations(3) == 3 + 4 * len(RECIPES)
    assert configurations(4, 8) == 88  # FUSE, table 3


def test_a_single_source_ranks_as_it_did():
    runs, qrels = collection("d", 10, (0.5, 0.6))
    found = trials(judged_runs(runs, qrels).union, qrels, "AP@40", recipes=["rrf"])
    assert [each.mean for each in found[:2]] == [evaluate(qrels, run, "AP@40").mean("AP@40") for run in runs]


def test_shared_files_count_once_and_the_front_is_marked():
    costs = (SourceCost("a", 100, 1.0, 2.0, 5), SourceCost("b", 100, 3.0, 4.0, 5), SourceCost("c", 40, 8.0, 9.0, 5))
    facts = CollectionFacts("toy", DOCS, costs=costs, shared=frozenset("ab"))
    found = advise_judged(judged("d", 20, (0.5, 0.6, 0.7)), None, facts, ["AP@40"], recipes=["rrf"])
    by_name = {each.configuration.name: each for each in found.tried}
    assert by_name["a + b, rrf"].bytes == 100
    assert by_name["a + b + c, rrf"].bytes == 140
    assert by_name["a + b, rrf"].milliseconds == 4.0
    assert by_name["a"].on_front
    assert any("one source after the other" in word for word in found.words)


def test_a_source_that_says_nothing_is_shown_but_not_fused():
    runs, qrels = collection("d", 20, (0.5, 0.6))
    silent = Run.of("citation", {query: {} for query in runs[0].queries})
    found = advise_judged(judged_runs([*runs, silent], qrels), None, CollectionFacts("toy", DOCS), ["AP@40"], recipes=["rrf"])
    assert [each.configuration.name for each in found.tried] == ["a", "b", "citation", "a + b, rrf"]
    assert found.notes == ("citation lists nothing for any of the queries and was not fused",)
    assert len(found.curves) == 1


def test_weight_curves_have_the_lines_of_the_paper():
    facts = CollectionFacts("toy", DOCS, lexical=frozenset("c"))
    found = advise_judged(judged("d", 20, (0.5, 0.6, 0.9)), None, facts, ["AP@40"], recipes=["rrf"])
    means = {each.configuration.name: each.value for each in found.tried}
    assert means["a"] > means["b"] > means["c"]
    for curve in found.curves:
        assert curve.levels == {
            "RRF": means[f"{' + '.join(curve.sources)}, rrf"], "a alone, the best": means["a"], "c alone": means["c"],
        }  # fmt: skip


def test_the_same_input_gives_the_same_advice():
    first, second = (
        advise_judged(judged("d", 15, (0.5, 0.6)), None, CollectionFacts("toy", DOCS), ["AP@40"], recipes=QUICK) for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    ("noise", "measures", "error", "said"),
    [
        ((0.5,), ["AP"], ConfigError, "at least 2 sources"),
        ((0.5, 0.5), [], ConfigError, "at least one measure"),
    ],
)
def test_what_cannot_be_advised_is_told(noise, measures, error, said):
    with pytest.raises(error, match=said):
        advise_judged(judged("d", 10, noise), None, CollectionFacts("toy", DOCS), measures)


def test_queries_without_judgements_are_told():
    runs, _ = collection("d", 5, (0.5, 0.5))
    with pytest.raises(DataError, match="have judgements"):
        advise_judged(judged_runs(runs, Qrels.of([("other", "d1", 1)])), None, CollectionFacts("toy", DOCS), ["AP"])


def test_with_fewer_questions_than_folds_every_question_is_a_fold():
    found = advise_judged(judged("d", 3, (0.5, 0.6)), None, CollectionFacts("toy", DOCS), ["AP@40"], recipes=QUICK)
    assert found.folds == 3
    assert found.words[0].startswith("Too few questions to tell: 3 are judged")
