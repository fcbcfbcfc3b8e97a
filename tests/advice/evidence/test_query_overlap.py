"""Overlap analysis: groups by what two runs reach, Welch's tests between them, and plain words."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lexfuse.advice.evidence.query_overlap import overlap
from lexfuse.advice.evidence.verbatim_overlap import METRICS, shared_words
from lexfuse.advice.findings import Contrast
from lexfuse.channels.registry import open_retriever
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.evaluation.significance import adjust_p_values
from lexfuse.evaluation.significance_options import Correction
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_folder import IndexFolder


def drawn(sizes=(12, 9, 15, 6)):
    """Queries of four fates; those that both answer quote their document at length, those that only one answers do not."""
    chance = np.random.default_rng(2)
    quoted = {"first": 6, "second": 5, "perfect": 25, "fail": 2}
    queries, judged, first, second, texts = [], [], {}, {}, {}
    for (fate, count), size in zip(quoted.items(), sizes, strict=True):
        for number in range(size):
            id = f"{fate}{number}"
            words = [f"w{word}" for word in chance.integers(0, 5000, 40)]
            texts[id] = " ".join(words)
            own = [f"o{word}" for word in chance.integers(0, 5000, 30 - count)]
            queries.append(Query(id, " ".join(words[: count + int(chance.integers(0, 4))] + own)))
            judged.append((id, id, 1))
            first[id] = {id: 1.0} if fate in ("first", "perfect") else {"other": 1.0}
            second[id] = {id: 1.0} if fate in ("second", "perfect") else {"other": 1.0}
    return Queries.of(queries), Qrels.of(judged), (Run.of("BM25", first), Run.of("dense", second)), texts


def test_groups_hold_the_queries_of_their_fate_with_means_and_deviations():
    queries, qrels, runs, texts = drawn()
    found = overlap(queries, qrels, runs, texts.__getitem__)
    assert (found.first, found.second, found.measure) == ("BM25", "dense", "R@5")
    assert [(group.name, group.queries) for group in found.groups] == [
        ("first wins", 12), ("second wins", 9), ("both perfect", 15), ("both fail", 6),
    ]  # fmt: skip
    perfect = shared_words([(query.text, [texts[query.id]]) for query in queries if query.id.startswith("perfect")])
    assert list(found.groups[2].means) == list(METRICS)
    for metric in METRICS:
        assert found.groups[2].means[metric] == pytest.approx(perfect[metric].mean())
        assert found.groups[2].deviations[metric] == pytest.approx(perfect[metric].std(ddof=1))


def test_tests_are_those_of_scipy_corrected_over_the_metrics():
    queries, qrels, runs, texts = drawn()
    found = overlap(queries, qrels, runs, texts.__getitem__)
    compared = {("first wins", "both perfect"): ("first", "perfect"), ("second wins", "both perfect"): ("second", "perfect"),
                ("first wins", "second wins"): ("first", "second")}  # fmt: skip
    assert [test.groups for test in found.tests] == [pair for pair in compared for _ in METRICS]
    for pair, fates in compared.items():
        one, two = (
            shared_words([(query.text, [texts[query.id]]) for query in queries if query.id.startswith(fate)]) for fate in fates
        )
        varying = [metric for metric in METRICS if np.ptp(one[metric]) + np.ptp(two[metric]) > 0]
        expected = {metric: stats.ttest_ind(one[metric], two[metric], equal_var=False) for metric in varying}
        ps = [expected[metric].pvalue if metric in expected else 1.0 for metric in METRICS]
        tests = [test for test in found.tests if test.groups == pair]
        assert [test.metric for test in tests] == list(METRICS)
        assert [test.p for test in tests] == pytest.approx(adjust_p_values(ps, Correction.HOLM).tolist(), rel=1e-6)
        for test in tests:
            assert test.difference == pytest.approx(one[test.metric].mean() - two[test.metric].mean())
            assert test.statistic == pytest.approx(expected[test.metric].statistic if test.metric in expected else 0.0)


def test_words_say_what_differs_and_what_does_not():
    queries, qrels, runs, texts = drawn()
    counts, first, _, between = overlap(queries, qrels, runs, texts.__getitem__, contrast=Contrast.HIGHER).words
    assert counts == (
        "By R@5, BM25 does better than dense on 12 of 42 queries, worse on 9, both are perfect on 15, and both fail on 6."
    )
    assert first.startswith(
        "Where BM25 does better, compared with where both are perfect: lower: n-grams in common for n = 2 to 10"
    )
    assert "higher: edit distance" in first
    assert "query length" not in first  # all have about 31 words
    assert (
        between == "Where BM25 does better, the texts share as much as where dense does better, as far as these queries can tell."
    )


def test_small_groups_are_not_tested_and_the_words_say_so():
    queries, qrels, runs, texts = drawn((4, 0, 15, 0))
    found = overlap(queries, qrels, runs, texts.__getitem__)
    assert found.tests == ()
    assert found.groups[1].means == {}
    assert found.words[1] == (
        "Too few queries to compare where BM25 alone is perfect with where both are perfect (4 and 15; each needs 5)."
    )


def test_equal_values_in_between_and_queries_that_nobody_ranks_are_told():
    texts = {"a": "one two", "b": "three four"}
    queries = Queries.of([Query("half", "one"), Query("lost", "two")])
    qrels = Qrels.of([("half", "a", 1), ("half", "b", 1), ("lost", "a", 1)])
    run = {"half": {"a": 1.0}}
    runs = Run.of("x", run), Run.of("y", run)
    for contrast, told in ((Contrast.HIGHER, "equal values"), (Contrast.EXTREMES, "a value")):
        found = overlap(queries, qrels, runs, texts.__getitem__, contrast=contrast)
        assert [group.queries for group in found.groups] == [0, 0, 0, 1]
        assert f"both fail on 1, 1 of which neither ranks at all; 1 with {told} in between are in no group." in found.words[0]


def test_the_paper_contrasts_all_found_with_nothing_found():
    """CJEU 5.1 and 5.2: one has 100 % recall and the other zero; a higher recall alone is another contrast, by name."""
    texts = {doc: f"text of {doc}" for doc in "abcd"}
    recalls = {"q10": (2, 0), "q05": (0, 1), "q15": (2, 1), "q01": (0, 2), "q11": (2, 2), "q00": (0, 0), "q55": (1, 1)}
    queries = Queries.of([Query(id, "text") for id in recalls])
    qrels = Qrels.of([(id, doc, 1) for id in recalls for doc in "ab"])
    runs = tuple(
        Run.of(name, {id: {"d": 9.0} | {doc: 1.0 for doc in "ab"[: found[at]]} for id, found in recalls.items()})
        for at, name in enumerate(("bm25", "dense"))
    )
    members = {}
    for contrast in Contrast:
        found = overlap(queries, qrels, runs, texts.__getitem__, contrast=contrast)
        assert found.contrast is contrast
        members[contrast] = [group.queries for group in found.groups]
    assert members == {Contrast.EXTREMES: [1, 1, 1, 1], Contrast.HIGHER: [2, 2, 1, 1]}
    default = overlap(queries, qrels, runs, texts.__getitem__)
    assert default.contrast is Contrast.EXTREMES
    assert default.words[0] == (
        "By R@5, bm25 reaches 1 and dense 0 on 1 of 7 queries, the reverse on 1, both are perfect on 1, and both fail on 1; "
        "3 with a value in between are in no group."
    )


def test_only_relevant_documents_are_compared():
    texts = {"a": "one two three", "b": "never read"}
    queries = Queries.of([Query("q", "one two three")])
    runs = Run.of("x", {"q": {"a": 1.0}}), Run.of("y", {"q": {"a": 1.0}})
    found = overlap(queries, Qrels.of([("q", "a", 1), ("q", "b", 0)]), runs, texts.__getitem__, "RR@10")
    assert found.groups[2].means["edit distance"] == 0.0
    assert found.groups[2].deviations["LCS"] == 0.0
    assert found.measure == "RR@10"


def test_wrong_measures_and_unknown_queries_are_refused():
    queries, qrels, runs, texts = drawn()
    with pytest.raises(ConfigError, match="no values per query"):
        overlap(queries, qrels, runs, texts.__getitem__, "microF1@5")
    with pytest.raises(NotFoundError, match="no id 'first0'"):
        overlap(queries.select(range(1, len(queries))), qrels, runs, texts.__getitem__)


def test_court_paragraphs_show_the_pattern_of_the_paper(tmp_path):
    """Where both find the cited paragraph it is quoted at greater length than where only BM25 does (CJEU Fig. 2 and 3)."""
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder or not (Path(folder) / "cjeu").is_dir():
        pytest.skip("set LEXFUSE_DATA to a folder that holds the collection cjeu")
    collection = read_collection(Path(folder) / "cjeu")
    qrels = collection.qrels["dev"]
    queries = collection.queries.select(collection.queries.ids.ordinals(qrels.queries).tolist())
    wanted = {qrels.docs[doc] for doc in qrels.doc.tolist()}
    corpus = [document for number, document in enumerate(collection.corpus) if number % 10 == 0 or document.id in wanted]
    with IndexFolder.create(tmp_path / "index", documents=corpus) as index, index.snapshot() as snapshot:
        bm25, tfidf = (retrieve_before(open_retriever(snapshot, channel), queries, 20) for channel in ("bm25", "tfidf"))
    found = overlap(queries, qrels, (bm25, tfidf), lambda doc: collection.corpus.document(doc).text)
    tests = {test.metric: test for test in found.tests if test.groups == ("first wins", "both perfect")}
    for metric in ("3-grams in common", "10-grams in common", "LCS"):
        assert tests[metric].difference < 0
        assert tests[metric].p < 0.05
