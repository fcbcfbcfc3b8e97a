"""Weights of sections and citations in one pass are those of reranking point by point; the tuned search has them."""

import json
from dataclasses import replace

import numpy as np
import pytest

import lexfuse as lf
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError
from lexfuse.optimisation.structure_weights import tune_structure
from lexfuse.rerank.structure import PARTS
from lexfuse.search.spec.reranker_specs import StructureSpec
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
            citations=(f"d{number ^ 1:02}",),
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
    return tune_structure(*law, "nDCG@10", step=0.25, depth=20, folds=4)


def test_every_point_is_what_reranking_gives(law, tuned):
    index, queries, qrels = law
    for at in range(0, len(tuned.surface.weights), 5):
        weights = dict(zip(PARTS[1:], tuned.surface.weights[at][1:].tolist(), strict=True))
        spec = SearchSpec.of("bm25", rerank=[StructureSpec(depth=20, **weights)])
        found = mean_of(qrels, index.run(queries, profile=spec))
        assert tuned.surface.means[at] == pytest.approx(found, abs=1e-9)


def test_the_tuned_search_has_the_best_weights_and_keeps_the_first_stage(law, tuned):
    index, queries, qrels = law
    [reranker] = tuned.spec.rerank
    assert reranker == StructureSpec(depth=20, **{name: getattr(tuned.weights, name) for name in PARTS[1:]})
    assert tuned.value == tuned.surface.means.max() > tuned.first
    found = mean_of(qrels, index.run(queries, profile=tuned.spec))
    assert found == pytest.approx(tuned.value)
    alone = mean_of(qrels, index.run(queries, profile="bm25"))
    assert tuned.first == pytest.approx(alone)
    assert tuned.surface.weights[:, 0].min() > 0
    stage = SearchSpec.of("bm25,tfidf", fusion="rrf")
    assert tune_structure(*law, step=0.5, folds=2, first=stage).spec.fusion == stage.fusion


def test_everything_is_saved_and_said(tuned, tmp_path):
    tuned.save(tmp_path / "tuned.json")
    assert json.loads((tmp_path / "tuned.json").read_text()) == json.loads(json.dumps(tuned.as_json()))
    words = str(tuned)
    assert f"own {tuned.weights.own:g}" in words
    assert "held out (4 folds)" in words
    assert f"first stage {tuned.first:.4f}" in words


def test_weights_of_what_the_index_lacks_are_zero(law, tmp_path):
    index, queries, qrels = law
    documents = [replace(one, code="", headings=()) for one in index.snapshot.documents(list(index.snapshot.ids))]
    for name, cited in (("citations", True), ("sections", False)):
        changed = documents if cited else [replace(one, code="Code", headings=("Titre",), citations=()) for one in documents]
        with lf.Index.build(tmp_path / name, changed) as other:
            tuned = tune_structure(other, queries, qrels, step=0.5, folds=2)
        assert tuned.surface.sources == (("own", "cited") if cited else ("own", "section"))
        lacking = ("section",) if cited else ("cited",)
        assert [getattr(tuned.weights, part) for part in lacking] == [0] * len(lacking)


def test_what_has_no_structure_is_refused(law, tmp_path):
    index, queries, qrels = law
    with pytest.raises(ConfigError, match="the first stage has rerankers already"):
        tune_structure(index, queries, qrels, first=SearchSpec.of("bm25", rerank=[StructureSpec()]))
    with (
        lf.Index.build(tmp_path / "i", [Document("d00", text="loi", language="fr")]) as plain,
        pytest.raises(ConfigError, match="neither articles of codes below headings nor citations"),
    ):
        tune_structure(plain, queries, qrels)
