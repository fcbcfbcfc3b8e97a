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
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.models.base_model import StartingModel

SHORT = {"steps": 2, "batch": 4, "query_length": 16, "passage_length": 24, "evaluate_every": 2}
SUBJECTS = [("le préavis", "the notice"), ("le bail", "the lease"), ("le loyer", "the rent"), ("le juge", "the judge")]


@pytest.fixture(scope="module")
def recipe(recipe_named):
    module = recipe_named("french_citizen")
    for name in (
        "BACKBONE", "TAUGHT", "PAIRS", "ASKED", "SPARSE_PAIRS", "SPARSE_ASKED", "LATE_PAIRS", "LATE_ASKED", "CROSS_PAIRED",
        "CROSS_ASKED",
    ):  # fmt: skip
        setattr(module, name, getattr(module, name).replace(**SHORT))
    module.EVERY_SECOND, module.SMALL_STEPS = (1,), 2
    return module


@pytest.fixture(scope="module")
def materials(recipe, recipe_named):
    asked = sys.modules["french_material"].Asked
    labour = [f"Code du travail, art. {at} {french} est dû" for at, (french, _) in enumerate(SUBJECTS)]
    citizen = [
        f"{recipe.TRANSFER if at % 2 else 'Code civil'}, art. {at} {french} cesse" for at, (french, _) in enumerate(SUBJECTS)
    ]
    ids = {name: [f"{name[0]}{at}" for at in range(4)] for name in ("labour", "citizen")}
    text = {
        name: [f"{ask} {french} ?" for french, _ in SUBJECTS]
        for name, ask in (("labour", "qui doit"), ("citizen", "quand cesse"))
    }
    ranked = [3, 2, 1, 0]
    first = recipe.Material(
        labour, ids["labour"], np.arange(4, dtype=np.int32),
        {"headings": [TrainingPair(french, one) for (french, _), one in zip(SUBJECTS, labour, strict=True)],
         "sheets": [TrainingPair("Le préavis", "Il dure un mois.")]},
        {}, {f"q{at}": (text["labour"][at], {f"l{at}": 2}) for at in (0, 1)}, {"q2": (text["labour"][2], {"l2": 2})},
        [("q0", "preavis")], {"weak": [asked("Le juge", ["l3"], ["l2"])]}, {one: ranked for one in text["labour"]}, {},
    )  # fmt: skip
    judged = {
        name: {f"{name}{at}": ([text["citizen"][at]], {f"{name[0].replace('p', 'l')}{at}": 2}) for at in range(2)}
        for name in ("citizen", "public")
    }
    parallel = sys.modules["citizen_material"].ParallelText
    sections = [
        parallel(f"A-{at}", f"{english} ends", f"{french} cesse", english, french)
        for at, (french, english) in enumerate(SUBJECTS)
    ]
    codes = [one.split(",")[0] for one in citizen]
    second = recipe.CitizenMaterial(
        ids["citizen"], citizen, codes,
        {"title": [TrainingPair(french, one) for (french, _), one in zip(SUBJECTS, citizen, strict=True)]},
        judged, judged, {name: {one: ranked for one in text["citizen"]} for name in judged}, sections, sections,
    )  # fmt: skip
    return first, second


@pytest.fixture(scope="module")
def work(recipe, materials, tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("citizen")
    tiny.folder(folder / "start", "bert")
    tiny.folder(folder / "dense-start", "bert")
    tiny.folder(folder / "splade-start", "bert", head="mlm")
    steps = recipe.Recipe(*materials, folder)
    steps.pairs()
    steps.teacher()
    steps.dense()
    steps.splade()
    steps.splade_pairs()
    steps.colbert()
    steps.cross()
    steps.transfer()
    steps.ship()
    return folder


def test_every_stage_leaves_a_model_with_its_dev_figures(work):
    for name in ("paired", "teacher", "taught", "dense-mix-last", "dense", "splade", "colbert", "cross"):
        assert StartingModel.read(work / name).path.exists()
        assert set(json.loads((work / name / "dev.json").read_text())) >= {"labour", "public", "citizen"}


def test_the_backbone_has_some_layers_of_the_start(work):
    from safetensors.numpy import load_file

    large, small = (load_file(work / name / "model.safetensors") for name in ("start", "small-start"))
    assert {int(name.split(".")[2]) for name in small if name.startswith("encoder.layer.")} == {0}
    np.testing.assert_array_equal(
        small["encoder.layer.0.output.dense.weight"], large["encoder.layer.1.output.dense.weight"]
    )  # fmt: skip
    assert StartingModel.read(work / "backbone").folder.sizes.layers == 1


def test_the_teacher_is_turned_into_the_space_of_the_small_model(recipe, materials, work):
    draw = np.random.default_rng(1)
    given, turn = draw.normal(size=(50, 8)).astype(np.float32), np.linalg.qr(draw.normal(size=(8, 8)))[0].astype(np.float32)
    np.testing.assert_allclose(recipe.rotation(given, given @ turn), turn, atol=1e-5)
    steps = recipe.Recipe(*materials, work)
    teacher = recipe.learner_of(recipe.DenseLearner, work / "teacher", recipe.TAUGHT)
    plain = recipe.encoded(teacher, teacher.texts(materials[0].articles, []).queries)
    aims = steps.aims(materials[0].articles, work / "dense-start")
    np.testing.assert_allclose(aims @ aims.T, plain @ plain.T, atol=1e-5)  # the same distances


def test_a_model_is_measured_across_the_languages(work):
    found = json.loads((work / "dense" / "dev.json").read_text())
    assert found["en-fr"]["sections"] == found["fr-en"]["notes"] == len(SUBJECTS)
    assert 0 <= found["en-fr"]["R@10"] <= 1


def test_splade_learns_headings_with_the_scores_of_the_teacher(recipe, materials, work):
    steps = recipe.Recipe(*materials, work)
    teacher = recipe.learner_of(recipe.DenseLearner, work / "teacher", recipe.ASKED)
    examples = steps.with_scores(teacher, steps.hard_headings(teacher))
    assert {*examples.queries} == {french for french, _ in SUBJECTS}
    vectors = recipe.encoded(teacher, teacher.texts([], examples.passages).passages)
    asked = recipe.encoded(teacher, teacher.texts(examples.queries, []).queries)
    first = float(asked[examples.query[0]] @ vectors[examples.positive[0]])
    assert examples.teacher[0, 0] == pytest.approx(first / recipe.TEACHER_TEMPERATURE, rel=1e-3)
    assert (np.isnan(examples.teacher[:, 1:]) == (examples.negatives == -1)).all()


def test_what_ships_has_no_figures_of_training(work):
    shipped = work / "fr-legal-dense"
    assert DenseEncoder.load(shipped).encode(["le bail"], Side.QUERY).shape[0] == 1
    assert not [name for name in ("dev.json", "training.json") if (shipped / name).exists()]


def test_known_and_spared_answers_are_no_negatives(recipe, materials, work):
    steps = recipe.Recipe(*materials, work)
    model = recipe.learner_of(recipe.DenseLearner, work / "paired", recipe.ASKED)
    mined = steps.mined(model, steps.questions())
    (row,) = [row for row in mined.rows() if row[0] == "Le juge"]
    assert not {materials[0].articles[at] for at in (2, 3)} & {*row[2]}


def test_what_is_nearly_as_good_as_the_known_answer_is_no_negative(recipe, materials, work, monkeypatch):
    steps = recipe.Recipe(*materials, work)
    model = recipe.learner_of(recipe.DenseLearner, work / "paired", recipe.ASKED)
    some = [one for one in steps.questions() if one.collection == "citizen"][:1]
    monkeypatch.setattr(recipe, "GUARD", 2.0)
    without = [row[2] for row in steps.mined(model, some).rows()]
    monkeypatch.setattr(recipe, "GUARD", -1.0)  # every cosine of these is above
    assert [row[2] for row in steps.mined(model, some).rows()] == [[]] != without


def test_rankings_have_every_article_of_a_collection(recipe_named, materials, work, tmp_path):
    module = recipe_named("citizen_rankings")
    _, citizen = materials
    corpus = Corpus.of(Document(id, text=text) for id, text in zip(citizen.ids, citizen.articles, strict=True))
    queries = Queries.of([Query("a", "quand cesse le bail ?"), Query("b", "le loyer ?")])
    qrels = {"dev": Qrels.of([("a", "c1", 2)]), "test": Qrels.of([("b", "c2", 1)])}
    module.rank(Collection(corpus, queries, qrels), "dense", work / "dense", tmp_path / "mine.dense.npz")
    with np.load(tmp_path / "mine.dense.npz") as found:
        assert found["queries"].tolist() == ["a", "b"]
        assert sorted(found["doc"][0].tolist()) == [0, 1, 2, 3]
        assert (np.diff(found["score"]) <= 0).all()
