"""The recipe of the English models, all four kinds, with a handful of texts and steps."""

import json
import sys

import pytest

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.train.examples.training_pair import TrainingPair


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("english_cjeu")


@pytest.fixture(scope="module")
def material(recipe):
    subjects = ["the lease", "the deposit", "the notice", "the rent", "the repair", "the guest"]
    documents = [f"The court held that {subject} ended with the judgment." for subject in subjects]
    days = [f"201{at}-03-01" for at in range(len(subjects))]
    ids = [f"d{at}" for at in range(len(subjects))]
    ask = sys.modules["english_material"].Question
    train, dev = (
        {
            f"q{at}": ask(f"who pays {subjects[at]} (C-1/1{at})?", f"who pays {subjects[at]}?", "2018-01-01", {ids[at]: 1})
            for at in some
        }
        for some in ((0, 1, 2), (3, 4))
    )
    rankings = {
        recipe.ranking_of(split, form, id): [5, 4, 3, 2, 1, 0]
        for split, some in (("train", train), ("dev", dev))
        for id in some
        for form in recipe.Form
    }
    pairs = {
        name: [TrainingPair(f"{subject} {name}", text) for subject, text in zip(subjects, documents, strict=True)]
        for name in recipe.STRUCTURE
    }
    return recipe.Material("2017-01-01", ids, documents, days, pairs, train, dev, rankings, {})


@pytest.fixture(scope="module")
def work(recipe, material, tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipe")
    (folder / "work").mkdir()
    steps = recipe.Recipe(material, folder / "work", tiny.folder(folder / "start", "bert"), quick=True)
    steps.tell_lexical()
    for kind in ("dense", "splade", "colbert", "cross"):
        getattr(steps, kind)()
    return folder / "work"


@pytest.mark.parametrize("kind", ["dense", "splade", "colbert", "cross"])
def test_every_kind_leaves_a_model_with_figures_of_both_forms(work, kind):
    assert ModelFolder.read(work / kind).path.exists()
    numbers = json.loads((work / kind / "training.json").read_text())
    assert set(numbers["forms"]) == {"printed", "masked"}


def test_active_entries_are_counted_for_splade(work):
    assert set(json.loads((work / "splade" / "training.json").read_text())["active"]) == {"printed", "masked", "documents"}


def test_later_documents_are_neither_ranked_nor_negatives(recipe, material, tmp_path, tiny):
    steps = recipe.Recipe(material, tmp_path, tiny.folder(tmp_path / "start", "bert"))
    dates = steps._dates([*material.dev.values()])
    assert dates.earlier.tolist() == [[True] * 6] * 2
    asked = [question._replace(day="2012-06-01") for question in material.dev.values()]
    assert steps._dates(asked).earlier.sum(axis=1).tolist() == [3, 3]


def test_a_cross_encoder_asks_for_the_dense_model_first(recipe, material, tmp_path, tiny):
    with pytest.raises(SystemExit, match="dense"):
        recipe.Recipe(material, tmp_path, tiny.folder(tmp_path / "start", "bert"), quick=True).cross()
