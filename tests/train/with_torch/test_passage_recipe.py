"""The recipe of the passage encoder with half of the layers, with a handful of texts and steps."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side

TEXTS = [f"{subject} est dû par {who}." for subject in ("Le préavis", "Le congé", "La prime") for who in ("elle", "lui", "nous")]


@pytest.fixture(scope="module")
def made(recipe_named, tiny, tmp_path_factory):
    """The recipe, its folder of work and the teacher's, after some steps."""
    recipe, folder = recipe_named("passage_encoder"), tmp_path_factory.mktemp("passages")
    teacher = tiny.folder(folder / "teacher", "bert")
    documents = [Document(f"a{at}", text=text, language="fr") for at, text in enumerate(TEXTS)]
    write_collection(Collection(Corpus.of(documents)), folder / "law")
    (folder / "parallel").mkdir()
    sections = [
        {"act": f"A-{at}", "en": f"The lease {at}.", "fr": f"Le bail {at}.", "en_note": "", "fr_note": ""} for at in range(4)
    ]
    with gzip.open(folder / "parallel" / "pairs.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(section)}\n" for section in sections)
    sys.modules["citizen_material"].KEPT_ACTS = 1
    recipe.TEACHER, recipe.LAYERS = str(teacher), (1,)
    recipe.LEARNT = recipe.LEARNT.replace(learning_rate=1e-2, evaluate_every=20, passage_length=24)
    arguments = [
        str(folder / "work"),
        str(folder / "law"),
        "--parallel",
        str(folder / "parallel"),
        "--steps",
        "40",
        "--batch",
        "4",
    ]
    before, sys.argv = sys.argv, ["passage_encoder.py", *arguments]
    try:
        recipe.main()
    finally:
        sys.argv = before
    return recipe, folder / "work", teacher


def test_the_student_has_fewer_layers_and_comes_nearer_to_the_teacher(made):
    _, work, teacher = made
    assert json.loads((work / "fr-legal-passages" / "config.json").read_text())["num_hidden_layers"] == 1
    aim, start, student = (
        DenseEncoder.load(folder).encode(TEXTS, Side.PASSAGE) for folder in (teacher, work / "start", work / "fr-legal-passages")
    )
    assert (aim * student).sum(axis=1).mean() > (aim * start).sum(axis=1).mean() + 0.01


def test_what_ships_has_no_figures_of_the_training(made):
    _, work, _ = made
    assert {path.name for path in (work / "fr-legal-passages").iterdir()} >= {"model.onnx", "tokenizer.json", "config.json"}
    assert not (work / "fr-legal-passages" / "training.json").exists()
    assert json.loads((work / "passages" / "training.json").read_text())["training"]["steps"] == 40


def test_word_embeddings_stay_as_they_are(made):
    load = sys.modules["stages"].load_file
    _, work, _ = made
    words = [
        load(Path(folder) / "model.safetensors")["embeddings.word_embeddings.weight"]
        for folder in (work / "start", work / "passages")
    ]
    assert np.array_equal(*words)


def test_sections_are_those_of_other_acts_than_the_kept_one(made, tmp_path):
    recipe, _, _ = made
    rows = [{"act": f"A-{at}", "en": f"English {at}", "fr": f"Français {at}", "en_note": "", "fr_note": ""} for at in range(5)]
    with gzip.open(tmp_path / "pairs.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(row)}\n" for row in rows)
    kept = sys.modules["citizen_material"].kept_acts(sys.modules["citizen_material"].read_parallel(tmp_path))
    found = {text.rpartition(" ")[2] for text in recipe.sections(tmp_path)}
    assert found == {str(at) for at in range(5)} - {act.removeprefix("A-") for act in kept}
