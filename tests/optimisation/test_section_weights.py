"""Weights of sections in one pass say what reranking and evaluating point by point says; the tuned search has them."""

import json

import numpy as np
import pytest

import lexfuse as lf
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError
from lexfuse.optimisation.section_weights import PARTS, tune_sections
from lexfuse.search.spec.reranker_specs import SectionSpec
from lexfuse.search.spec.spec import SearchSpec

WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]


def mean_of(qrels, run):
    [mean] = lf.evaluate(qrels, run, "nDCG@10").means.values()
    return mean


@pytest.fixture(scope="module")
def law(tmp_path_factory):
    """Articles of twelve sections; what is relevant lies in the sections of what the words find."""
    chance = np.random.default_rng(3)
    documents = [
        Document(
            f"d{number:02}", text=" ".join(chance.choice(WORDS, size=chance.integers(2, 9))), language="fr", code="Code",
            headings=(f"Titre {number // 12}", f"Chapitre {number // 4}"),
        )
        for number in range(48)
    ]  # fmt: skip
    queries = lf.Queries.of(lf.Query(f"q{at}", " ".join(chance.choice(WORDS, 2, replace=False)), "fr") for at in range(8))
    with lf.Index.build(tmp_path_factory.mktemp("law") / "i", documents) as index:
        first = {query.id: index.search(query.text, channels=["bm25"], k=1)[0].id for query in queries}
        judged = [
            (query, f"d{number:02}", 1)
            for query, best in first.items()
            for number in range(48)
            if number // 4 == int(best[1:]) // 4
        ]
        yield index, queries, lf.Qrels.of(judged)


@pytest.fixture(scope="module")
def tuned(law):
    return tune_sections(*law, "nDCG@10", step=0.25, depth=20, folds=4)


def test_every_point_is_what_reranking_gives(law, tuned):
    index, queries, qrels = law
    for at in range(0, len(tuned.surface.weights), 5):
        _, best, mean, above = tuned.surface.weights[at].tolist()
        spec = SearchSpec.of("bm25", rerank=[SectionSpec(depth=20, best=best, mean=mean, above=above)])
        found = mean_of(qrels, index.run(queries, profile=spec))
        assert tuned.surface.means[at] == pytest.approx(found, abs=1e-9)


def test_the_tuned_search_has_the_best_weights_and_keeps_the_first_stage(law, tuned):
    index, queries, qrels = law
    [reranker] = tuned.spec.rerank
    assert reranker == SectionSpec(depth=20, **{name: getattr(tuned.weights, name) for name in PARTS[1:]})
    assert tuned.value == tuned.surface.means.max() > tuned.first
    found = mean_of(qrels, index.run(queries, profile=tuned.spec))
    assert found == pytest.approx(tuned.value)
    alone = mean_of(qrels, index.run(queries, profile="bm25"))
    assert tuned.first == pytest.approx(alone)
    assert tuned.surface.weights[:, 0].min() > 0
    stage = SearchSpec.of("bm25,tfidf", fusion="rrf")
    assert tune_sections(*law, step=0.5, folds=2, first=stage).spec.fusion == stage.fusion


def test_everything_is_saved_and_said(tuned, tmp_path):
    tuned.save(tmp_path / "tuned.json")
    assert json.loads((tmp_path / "tuned.json").read_text()) == json.loads(json.dumps(tuned.as_json()))
    words = str(tuned)
    assert f"own {tuned.weights.own:g}" in words
    assert "held out (4 folds)" in words
    assert f"first stage {tuned.first:.4f}" in words


def test_what_has_no_sections_is_refused(law, tmp_path):
    index, queries, qrels = law
    with pytest.raises(ConfigError, match="the first stage has rerankers already"):
        tune_sections(index, queries, qrels, first=SearchSpec.of("bm25", rerank=[SectionSpec()]))
    with (
        lf.Index.build(tmp_path / "i", [Document("d00", text="loi", language="fr")]) as plain,
        pytest.raises(ConfigError, match="no articles of codes below headings"),
    ):
        tune_sections(plain, queries, qrels)
