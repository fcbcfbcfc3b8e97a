"""The recipe of the French models, all stages, with a handful of texts and steps."""

import json
import sys

import numpy as np
import pytest

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.train.examples.training_pair import TrainingPair

SHORT = {"steps": 2, "batch": 4, "negatives": 1, "query_length": 16, "passage_length": 24, "evaluate_every": 1}
SETTINGS = ("BACKBONE", "CONTRAST", "HARD", "TUNED", "SPARSE", "SPARSE_TUNED", "LATE", "LATE_TUNED")


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
