"""The seeds of FUSE's kinds of models, and what they say, with a handful of texts and steps."""

import json
import sys

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.train.examples.training_pair import TrainingPair

SHORT = {"steps": 2, "batch": 4, "negatives": 1, "query_length": 16, "passage_length": 120, "evaluate_every": 1}
SETTINGS = (
    "TUNED", "SPARSE_TUNED", "SPARSE_COSINE", "LATE_TUNED", "CROSS_TUNED", "PAIRS", "SPARSE_PAIRS", "LATE_PAIRS", "CROSS_PAIRED",
)  # fmt: skip


@pytest.fixture(scope="module")
def recipe(recipe_named):
    module = recipe_named("french_seeds")
    for name in SETTINGS:
        setattr(module, name, getattr(module, name).replace(**SHORT))
    module.SEEDS = (1, 2)
    return module


@pytest.fixture(scope="module")
def material(recipe):
    codes = ["Code du travail", sys.modules["french_material"].TRANSFER]
    subjects = ["le préavis", "le congé", "la démission", "le salaire", "la retraite", "la prime"]
    documents = [f"{codes[at % 2]}, art. {at} {subject} est dû par l'employeur" for at, subject in enumerate(subjects)]
    documents.append("Convention des cadres : le préavis est de trois mois")
    ids = [f"a{at}" for at in range(len(subjects))]
    pairs = {
        "headings": [TrainingPair(f"{subject} du salarié", text) for subject, text in zip(subjects, documents, strict=False)],
        "sheets": [TrainingPair("La démission : quel préavis ?", "Le salarié prévient son employeur par une lettre.")],
    }
    questions = {f"q{at}": (f"qui paie {subject} ?", {ids[at]: 2}) for at, subject in enumerate(subjects)}
    train, dev = ({id: questions[id] for id in some} for some in (("q0", "q1", "q2"), ("q3", "q4", "q5")))
    variants = [("q0", "preavis qui paie"), ("q1", "conge payé")]
    asks = sys.modules["french_material"].Asked
    more = {
        "explained": [asks("La prime est due chaque mois au salarié", ["a4"], [])],
        "labelled": [asks("Le préavis", ["a0", "a1"], []), asks("La démission", ["a2"], [])],
        "weak": [asks("La démission : quel préavis ?", ["a2"], ["a3"])],
    }
    asked = [*(text for text, _ in questions.values()), *(text for _, text in variants)]
    asked += [text for some in more.values() for text, _, _ in some]
    rankings = {text: [5, 4, 3, 2, 1, 0] for text in asked}
    outside = {"headings": [0, 2, 4], "sheets": [0]}
    return recipe.Material(
        documents, ids, np.arange(len(ids), dtype=np.int32), pairs, outside, train, dev, variants, more, rankings,
        {"La démission : quel préavis ?": [(1, 9.0), (4, 2.0), (0, 1.5)]},
    )  # fmt: skip


@pytest.fixture(scope="module")
def work(recipe, material, tiny, tmp_path_factory):
    """A backbone as french_citizen.py leaves it, and the seeds of two kinds."""
    folder = tmp_path_factory.mktemp("recipe")
    tiny.folder(folder / "backbone", "bert", head="mlm")
    recipe.Seeds(material, folder).train(["dense", "cross"])
    return folder


@pytest.fixture(scope="module")
def all_seeds(recipe, material, work):
    recipe.Seeds(material, work).train(["splade", "colbert", "splade-cosine"])
    return work


def test_every_seed_is_trained_after_the_pairs_and_without_them(work):
    for kind in ("dense", "cross"):
        for seed in (1, 2):
            after, direct = (
                json.loads((work / "seeds" / f"{kind}{suffix}-{seed}" / "training.json").read_text())["training"]
                for suffix in ("", "-direct")
            )
            assert (after["seed"], direct["seed"]) == (seed, seed)
            assert direct["steps"] == 2 * after["steps"]


def test_a_kind_learns_pairs_from_the_backbone_once(work):
    for kind in ("dense", "cross"):
        training = json.loads((work / "pairs" / kind / "training.json").read_text())["training"]
        assert training["steps"] == 2
    assert (work / "pairs" / "cross.mined.npy").exists()
    assert training["shares"] == {}, "a cross-encoder learns a sample of all pairs"


def test_a_missing_start_is_named(recipe, material, tmp_path):
    with pytest.raises(SystemExit, match=r"backbone'; recipes/french_citizen\.py makes it"):
        recipe.Seeds(material, tmp_path).train(["dense"])


@pytest.fixture(scope="module")
def scores(recipe_named, material, all_seeds, tmp_path_factory):
    asked = {**material.train, **material.dev}
    corpus = Corpus.of(Document(id, text=text) for id, text in zip(material.ids, material.articles, strict=True))
    queries = Queries.of(Query(id, text) for id, (text, _) in asked.items())
    qrels = {
        name: Qrels.of((id, doc, grade) for id, (_, grades) in some.items() for doc, grade in grades.items())
        for name, some in {"dev": material.dev, "test": material.train}.items()
    }
    first = Run.of("bm25", {id: {f"a{at}": 4.0 - at for at in range(4)} for id in asked})
    folder = tmp_path_factory.mktemp("scores")
    scorer = recipe_named("french_scores").Scorer(Collection(corpus, queries, qrels), first, all_seeds, folder)
    scorer.seeds()
    scorer.scores()
    scorer.costs()
    return folder


def test_the_seed_that_dev_prefers_is_chosen(recipe_named, scores, tmp_path):
    seeds = [
        {"kind": kind, "start": start, "seed": seed, "dev": {"R@100": value}}
        for kind, start, seed, value in (
            ("dense", "pairs", 1, 0.5), ("dense", "pairs", 2, 0.6), ("dense", "backbone", 3, 0.9), ("cross", "pairs", 1, 0.2),
            ("splade", "pairs", 1, 0.2), ("colbert", "pairs", 2, 0.2), ("splade-cosine", "pairs", 1, 0.9),
        )
    ]  # fmt: skip
    (tmp_path / "seeds.json").write_text(json.dumps(seeds))
    scorer = object.__new__(recipe_named("french_scores").Scorer)
    scorer.out = tmp_path
    assert scorer.best_seeds() == {
        "dense": "seeds/dense-2", "splade": "seeds/splade-1", "colbert": "seeds/colbert-2", "cross": "seeds/cross-1",
    }  # fmt: skip
    scorer.out = tmp_path / "nothing"
    with pytest.raises(SystemExit, match="no seed of dense was measured; run this step first: seeds"):
        scorer.best_seeds()


def test_a_query_of_every_model_is_timed_and_its_operations_are_counted(recipe, material, work, scores):
    costs = json.loads((scores / "costs.json").read_text())
    assert list(costs) == ["dense", "splade", "colbert", "cross"]
    assert all(cost["seconds"] > 0 < cost["median"] for cost in costs.values())
    assert costs["dense"]["passages"] == len(material.ids)
    assert costs["cross"]["passages"] == 4  # the articles that BM25 ranks
    assert costs["cross"]["flops"] > costs["dense"]["flops"] > 31 * len(material.ids)


def test_splade_is_trained_by_cosine_too(all_seeds):
    settings = json.loads((all_seeds / "seeds" / "splade-cosine-direct-1" / "training.json").read_text())["training"]
    assert (settings["similarity"], settings["temperature"]) == ("cosine", 0.05)
    assert SparseEncoder.load(all_seeds / "seeds" / "splade-cosine-1").cosine


def test_models_say_what_they_say_alone(recipe, material, work, scores):
    with np.load(scores / "zero-shot.dev.npz") as table:
        assert table["queries"].tolist() == [*material.dev]
        at = slice(*table["offsets"][:2])  # q3
        assert table["docs"][table["doc"][at]].tolist() == material.ids
        (text, _), articles = material.dev["q3"], material.articles
        for name in ("dense", "splade", "colbert"):
            kind = recipe.kinds()[name]
            learner = recipe.learner_of(kind.learner, work / kind.paired, kind.tuned)
            alone = recipe.scored(learner, learner.texts([text], articles))[0]
            np.testing.assert_allclose(table[f"scores {name}"][at], alone, atol=1e-4)
            assert table[f"levels {name}"].max() == pytest.approx(np.nanmax(table[f"scores {name}"]))
        assert np.isfinite(table["scores cross"][at]).tolist() == [True] * 4 + [False] * 2  # what BM25 ranks


def test_reproduction_reads_what_models_say(material, scores):
    from reproduce.fuse.sources import StoredScores

    stored = StoredScores.read(scores / "zero-shot.test.npz")
    assert set(stored.run("DPR").as_dict()["q0"]) == set(material.ids)
    assert set(stored.run("monoBERT").as_dict()["q0"]) == set(material.ids[:4])


def test_long_articles_count_by_their_best_window(recipe_named, recipe, work, tmp_path):
    far = "Le préavis est dû. " * 60 + "La retraite et la prime."
    corpus = Corpus.of([Document("long", text=far), Document("short", text="La prime.")])
    qrels = {split: Qrels.of([(f"{split}-q", "long", 1)]) for split in ("dev", "test")}
    queries = Queries.of(Query(f"{split}-q", "la prime") for split in qrels)
    first = Run.of("bm25", {f"{split}-q": {"long": 1.0} for split in qrels})
    scorer = recipe_named("french_scores").Scorer(Collection(corpus, queries, qrels), first, work, tmp_path)
    learner = recipe.learner_of(recipe.DenseLearner, work / "pairs" / "dense", recipe.TUNED)
    pool = scorer.pool(learner, crossed=False)
    assert len(pool.passages) > 2
    windows = recipe.scored(learner, learner.texts(["la prime"], pool.passages))[0]
    assert scorer.matrix("dense", "pairs/dense")[0].tolist() == pytest.approx([windows[:-1].max(), windows[-1]], abs=1e-4)


def test_every_seed_has_its_measures(recipe, scores):
    found = json.loads((scores / "seeds.json").read_text())
    assert [(one["kind"], one["start"], one["seed"]) for one in found] == [
        (kind, start, seed) for kind in recipe.kinds() for start in ("pairs", "backbone") for seed in (1, 2)
    ]
    assert all(0 <= one[split]["R@10"] <= 1 for one in found for split in ("dev", "test"))


def test_queries_that_bm25_does_not_rank_are_named(recipe_named, tmp_path):
    corpus, queries = Corpus.of([Document("a", text="loi")]), Queries.of([Query("dev", "loi"), Query("test", "loi")])
    qrels = {split: Qrels.of([(split, "a", 1)]) for split in ("dev", "test")}
    scorer = recipe_named("french_scores").Scorer
    with pytest.raises(SystemExit, match="does not rank 'dev'"):
        scorer(Collection(corpus, queries, qrels), Run.of("bm25", {}), tmp_path, tmp_path)
    with pytest.raises(SystemExit, match="no judgements of test; it has dev"):
        scorer(Collection(corpus, queries, {"dev": qrels["dev"]}), Run.of("bm25", {}), tmp_path, tmp_path)


@pytest.mark.parametrize(("name", "before", "after"), [("french_seeds", [], []), ("english_cjeu", ["dense"], ["--base", "base"])])
def test_a_missing_material_is_named(name, before, after, recipe_named, tmp_path, monkeypatch, capsys):
    out = tmp_path / "work"
    monkeypatch.setattr(sys, "argv", [name, *before, str(tmp_path / "nothing"), str(out), *after])
    with pytest.raises(SystemExit):
        recipe_named(name).main()
    assert "nothing'; recipes/" in capsys.readouterr().err
    assert not out.exists()


def test_what_was_made_is_not_made_again(recipe, material, work, capsys):
    before = (work / "seeds" / "dense-1" / "model.safetensors").stat().st_mtime_ns
    recipe.Seeds(material, work).train(["dense"])
    assert (work / "seeds" / "dense-1" / "model.safetensors").stat().st_mtime_ns == before
    assert "==" not in capsys.readouterr().out


@pytest.mark.parametrize("near", [True, False])
def test_what_may_be_meant_as_well_is_no_negative(recipe, material, work, monkeypatch, near):
    monkeypatch.setattr(recipe, "NEAR", 1)
    steps = recipe.Seeds(material, work)
    found = steps.near(work / "pairs" / "dense", material)
    assert found == {"La démission : quel préavis ?": ["a1"]}
    model = recipe.learner_of(recipe.DenseLearner, work / "pairs" / "dense", recipe.TUNED)
    examples = steps.questions(model, material, found if near else {})
    weak = examples.sources.index("weak")
    negatives = {examples.passages[at] for at in examples.negatives[examples.source == weak].ravel() if at >= 0}
    spared = {"a2", "a3", "a1"} if near else {"a2", "a3"}
    assert negatives == {text for id, text in zip(material.ids, material.articles, strict=True) if id not in spared}
