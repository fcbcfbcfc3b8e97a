"""The recipe of the French models, all stages, with a handful of texts and steps."""

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
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.train.examples.training_pair import TrainingPair

SHORT = {"steps": 2, "batch": 4, "negatives": 1, "query_length": 16, "passage_length": 24, "evaluate_every": 1}
SETTINGS = (
    "BACKBONE",
    "CONTRAST",
    "HARD",
    "TUNED",
    "SPARSE",
    "SPARSE_TUNED",
    "SPARSE_COSINE",
    "LATE",
    "LATE_TUNED",
    "CROSS",
    "CROSS_TUNED",
)


@pytest.fixture(scope="module")
def recipe(recipe_named):
    module = recipe_named("french_legal")
    for name in SETTINGS:
        given = getattr(module, name)
        setattr(module, name, given.replace(**SHORT | ({"negatives": 0} if not given.negatives else {})))
    module.SEEDS, module.VOCABULARY = (1, 2), 300
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
    folder = tmp_path_factory.mktemp("recipe")
    started = tiny.folder(folder / "start", "bert")
    steps = recipe.Recipe(material, folder / "work")
    (folder / "work").mkdir()
    steps.backbone(started)
    steps.dense()
    steps.splade()
    steps.colbert()
    steps.cross()
    steps.seeds(["dense", "cross"])
    steps.transfer()
    steps.ship()
    return folder / "work"


def test_every_stage_leaves_a_model(work):
    for name in ("backbone", "dense-contrast", "dense-hard", "dense-1", "dense-2", "dense", "splade", "colbert", "transfer"):
        assert ModelFolder.read(work / name).path.exists()
        assert json.loads((work / name / "training.json").read_text())["training"]["steps"] == 2


def test_capitals_and_accents_make_no_difference(recipe, work):
    written, typed = recipe.StartingModel.read(work / "backbone").rows(
        ["Le Congé est dû à l’employé", "le conge est du a l'employe"], 64
    )
    assert len(written) > 8
    assert written.tolist() == typed.tolist()


def test_every_seed_is_trained_after_the_pairs_and_without_them(work):
    for kind in ("dense", "cross"):
        for seed in (1, 2):
            after, direct = (
                json.loads((work / f"{kind}{suffix}-{seed}" / "training.json").read_text())["training"]
                for suffix in ("", "-direct")
            )
            assert (after["seed"], direct["seed"]) == (seed, seed)
            assert direct["steps"] == 2 * after["steps"]
    assert not [*work.glob("splade-1")]


def test_the_cross_encoder_is_judged_by_what_bm25_ranks(recipe, material, work, monkeypatch):
    monkeypatch.setattr(recipe, "CANDIDATES", 3)
    judged = recipe.Recipe(material, work).judged(material.dev, candidates=True)
    assert judged.candidates.tolist() == [[5, 4, 3]] * 3
    assert PairEncoder.load(work / "cross").scores("qui paie le salaire ?", judged.passages[3:4]).shape == (1,)


@pytest.mark.parametrize(("stage", "first"), [("cross", "dense"), ("splade", "dense")])
def test_a_stage_names_the_one_that_it_needs(recipe, material, work, tmp_path, stage, first):
    (tmp_path / "backbone").symlink_to(work / "backbone")
    with pytest.raises(SystemExit, match=f"make that first: {first}"):
        getattr(recipe.Recipe(material, tmp_path), stage)()


@pytest.fixture(scope="module")
def scores(recipe_named, material, work, tmp_path_factory):
    asked = {**material.train, **material.dev}
    corpus = Corpus.of(Document(id, text=text) for id, text in zip(material.ids, material.articles, strict=True))
    queries = Queries.of(Query(id, text) for id, (text, _) in asked.items())
    qrels = {
        name: Qrels.of((id, doc, grade) for id, (_, grades) in some.items() for doc, grade in grades.items())
        for name, some in {"dev": material.dev, "test": material.train}.items()
    }
    first = Run.of("bm25", {id: {f"a{at}": 4.0 - at for at in range(4)} for id in asked})
    folder = tmp_path_factory.mktemp("scores")
    scorer = recipe_named("french_scores").Scorer(Collection(corpus, queries, qrels), first, work, folder)
    scorer.scores()
    scorer.seeds()
    scorer.costs()
    return folder


def test_the_seed_that_dev_prefers_is_chosen(recipe_named, scores, tmp_path):
    seeds = [
        {"kind": kind, "start": start, "seed": seed, "dev": {"R@100": value}}
        for kind, start, seed, value in (
            ("dense", "pairs", 1, 0.5), ("dense", "pairs", 2, 0.6), ("dense", "backbone", 3, 0.9), ("cross", "pairs", 1, 0.2),
            ("splade-cosine", "pairs", 1, 0.9),
        )
    ]  # fmt: skip
    (tmp_path / "seeds.json").write_text(json.dumps(seeds))
    scorer = object.__new__(recipe_named("french_scores").Scorer)
    scorer.out = tmp_path
    assert scorer.best_seeds() == {"dense": "dense-2", "cross": "cross-1"}
    scorer.out = tmp_path / "nothing"
    assert scorer.best_seeds() == {}


def test_a_query_of_every_model_is_timed_and_its_operations_are_counted(recipe, material, work, scores):
    costs = json.loads((scores / "costs.json").read_text())
    assert list(costs) == ["dense", "splade", "colbert", "cross"]
    assert all(cost["seconds"] > 0 < cost["median"] for cost in costs.values())
    assert costs["dense"]["passages"] == len(material.ids)
    assert costs["cross"]["passages"] == 36  # the four articles that BM25 ranks, in nine windows each
    assert costs["cross"]["flops"] > costs["dense"]["flops"] > 31 * len(material.ids)


def test_splade_is_trained_by_cosine_too(recipe, material, work):
    recipe.Recipe(material, work).seeds(["splade-cosine"])
    settings = json.loads((work / "splade-cosine-direct-1" / "training.json").read_text())["training"]
    assert (settings["similarity"], settings["temperature"]) == ("cosine", 0.05)
    assert SparseEncoder.load(work / "splade-cosine-1").cosine


def test_models_say_what_they_say_alone(recipe, material, work, scores):
    with np.load(scores / "in-domain.dev.npz") as table:
        assert table["queries"].tolist() == [*material.dev]
        at = slice(*table["offsets"][:2])  # q3
        assert table["docs"][table["doc"][at]].tolist() == material.ids
        (text, _), articles = material.dev["q3"], material.articles
        for name in ("dense", "splade", "colbert"):
            kind = recipe.kinds()[name]
            alone = recipe.scored(recipe.learner_of(kind.learner, work / name, kind.tuned), [text], articles)[0]
            np.testing.assert_allclose(table[f"scores {name}"][at], alone, atol=1e-4)
            assert table[f"levels {name}"].max() == pytest.approx(np.nanmax(table[f"scores {name}"]))
        assert np.isfinite(table["scores cross"][at]).tolist() == [True] * 4 + [False] * 2  # what BM25 ranks


def test_reproduction_reads_what_models_say(material, scores):
    from reproduce.fuse.sources import StoredScores

    stored = StoredScores.read(scores / "zero-shot.test.npz")
    assert set(stored.run("DPR").as_dict()["q0"]) == set(material.ids)
    assert set(stored.run("monoBERT").as_dict()["q0"]) == set(material.ids[:4])


def test_long_articles_count_by_their_best_window(recipe_named, recipe, work, tmp_path):
    far = "Le préavis est dû. " * 12 + "La retraite et la prime."
    corpus = Corpus.of([Document("long", text=far), Document("short", text="La prime.")])
    qrels = {split: Qrels.of([(f"{split}-q", "long", 1)]) for split in ("dev", "test")}
    queries = Queries.of(Query(f"{split}-q", "la prime") for split in qrels)
    first = Run.of("bm25", {f"{split}-q": {"long": 1.0} for split in qrels})
    scorer = recipe_named("french_scores").Scorer(Collection(corpus, queries, qrels), first, work, tmp_path)
    learner = recipe.learner_of(recipe.DenseLearner, work / "dense", recipe.TUNED)
    pool = scorer.pool(learner, crossed=False)
    assert len(pool.passages) > 2
    windows = recipe.scored(learner, ["la prime"], pool.passages)[0]
    assert scorer.matrix("dense", "dense")[0].tolist() == pytest.approx([windows[:-1].max(), windows[-1]], abs=1e-4)


def test_every_seed_has_its_measures(scores):
    found = json.loads((scores / "seeds.json").read_text())
    assert [(one["kind"], one["start"], one["seed"]) for one in found] == [
        (kind, start, seed) for kind in ("dense", "cross") for start in ("pairs", "backbone") for seed in (1, 2)
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


def test_a_share_of_the_steps_is_taken_before_the_questions(recipe, material, tmp_path):
    half = recipe.Recipe(material, tmp_path, 0.5)
    assert half.shortened(recipe.CONTRAST).steps == 1
    assert half.of_pairs(recipe.HARD, material).shares["sheets"] == recipe.SHEETS


@pytest.mark.parametrize("name", ["french_legal", "english_cjeu"])
def test_a_missing_material_is_named(name, recipe_named, tmp_path, monkeypatch, capsys):
    out = tmp_path / "work"
    monkeypatch.setattr(sys, "argv", [name, "dense", str(tmp_path / "nothing"), str(out), "--base", "base"])
    with pytest.raises(SystemExit):
        recipe_named(name).main()
    assert "nothing'; recipes/" in capsys.readouterr().err
    assert not out.exists()


def test_the_dense_model_is_the_mean_of_its_seeds(work):
    from safetensors.numpy import load_file

    one, other, mean = (load_file(work / name / "model.safetensors") for name in ("dense-1", "dense-2", "dense"))
    assert any((one[key] != other[key]).any() for key in one)
    for key in mean:
        np.testing.assert_allclose(mean[key].astype(np.float32), (one[key].astype(np.float32) + other[key]) / 2, atol=1e-3)


def test_what_was_made_is_not_made_again(recipe, material, work, capsys):
    before = (work / "dense" / "model.safetensors").stat().st_mtime_ns
    recipe.Recipe(material, work).dense()
    assert (work / "dense" / "model.safetensors").stat().st_mtime_ns == before
    assert "==" not in capsys.readouterr().out


def test_nothing_of_the_held_out_code_is_learned_for_transfer(recipe, material):
    less = material.without_code()
    assert not any(
        sys.modules["french_material"].TRANSFER in text for some in less.pairs.values() for pair in some for text in pair
    )
    assert set(less.train) == {"q0", "q2"}
    assert less.variants == [("q0", "preavis qui paie")]
    assert less.more == {**material.more, "labelled": material.more["labelled"][1:]}


def test_the_held_out_code_is_searched_alone(recipe, material, work, monkeypatch):
    searched = []
    monkeypatch.setattr(recipe, "measured", lambda model, judged: searched.append(judged) or {})
    recipe.Recipe(material, work).transfer()
    assert len(searched) == 8
    for judged in searched:
        assert set(judged.docs) == material.held
        assert all(text.startswith(sys.modules["french_material"].TRANSFER) for text in judged.passages)
        assert {doc for query in judged.qrels.queries for doc in judged.qrels.judged(query)} <= material.held


def test_transfer_needs_the_model_that_it_compares_with(recipe, material, tmp_path):
    with pytest.raises(SystemExit, match="make that first: dense"):
        recipe.Recipe(material, tmp_path).transfer()


def test_small_models_are_folders_that_search_loads(work):
    assert DenseEncoder.load(work / "fr-legal-dense").encode(["le préavis"], Side.PASSAGE).shape == (1, 32)
    assert SparseEncoder.load(work / "fr-legal-splade").encode(["le préavis"], Side.QUERY)
    assert not [*work.glob("fr-legal-*/training.json")]


@pytest.mark.parametrize("near", [True, False])
def test_what_may_be_meant_as_well_is_no_negative(recipe, material, work, monkeypatch, near):
    monkeypatch.setattr(recipe, "NEAR", 1)
    steps = recipe.Recipe(material, work)
    found = steps.near(work / "dense-hard", material)
    assert found == {"La démission : quel préavis ?": ["a1"]}
    model = recipe.learner_of(recipe.DenseLearner, work / "dense-hard", recipe.TUNED)
    examples = steps.questions(model, material, found if near else {})
    weak = examples.sources.index("weak")
    negatives = {examples.passages[at] for at in examples.negatives[examples.source == weak].ravel() if at >= 0}
    spared = {"a2", "a3", "a1"} if near else {"a2", "a3"}
    assert negatives == {text for id, text in zip(material.ids, material.articles, strict=True) if id not in spared}
