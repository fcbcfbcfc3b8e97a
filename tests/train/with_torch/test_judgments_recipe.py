"""The recipe of the models for judgments, all three kinds, with a handful of texts and steps."""

import json
import sys

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, read_collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.model_folder.folder import ModelFolder

SUBJECTS = ["the lease", "the deposit", "the notice", "the rent", "the repair", "the guest"]


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("english_judgments")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    texts = [
        f"The court held that {subject} ended with the judgment. The article of {subject} was read out. A judgment of the court."
        for subject in SUBJECTS
    ]
    documents = [Document(f"d{at}", text=f"{text}\n\n{text.upper()}", language="en") for at, text in enumerate(texts)]
    queries = Queries.of(
        [Query(f"q{at}", f"Who pays {one}, and has {one} ended? [?CITATION?]") for at, one in enumerate(SUBJECTS)]
    )
    judged = [(f"q{at}", f"d{at}", 1) for at in range(len(SUBJECTS))]
    splits = {split: Qrels.of(judged[at : at + 2]) for at, split in ((0, "train"), (2, "dev"), (4, "test"))}
    folder = tmp_path_factory.mktemp("judgments")
    write_collection(Collection(Corpus.of(documents), queries, splits), folder / "data")
    return folder


@pytest.fixture(scope="module")
def work(recipe, folder, tiny):
    base = tiny.folder(folder / "start", "bert")
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("tsdae", "sdr", "cross"):
            arguments = ["recipe", kind, str(folder / "data"), str(folder / "work"), "--base", str(base), "--quick"]
            patch.setattr(sys, "argv", arguments)
            recipe.main()
    return folder / "work"


@pytest.mark.parametrize("name", ["minilm-tsdae", "minilm-sdr", "judgments-cross"])
def test_every_kind_leaves_a_model_with_its_figures(work, name):
    assert ModelFolder.read(work / name).path.exists()
    assert json.loads((work / name / "training.json").read_text())


def test_a_judgment_is_asked_by_its_terms_and_answered_by_best_passages(recipe, folder):
    collection = read_collection(folder / "data")
    queries, best = recipe.judged_passages(collection)
    assert list(queries.ids) == ["q0", "q1", "q2", "q3"]  # no test query
    assert queries.query("q0").text.split()[0] == "lease"
    assert "[?CITATION?]" not in queries.query("q0").text
    examples = recipe.train_examples(queries, collection.qrels["train"], best)
    assert len(examples) == 2
    assert "the lease ended" in examples.passages[examples.positive[0]]
    dev = recipe.dev_queries(queries, collection.qrels["dev"], best)
    assert len(dev.questions) == 2
    assert dev.measured(dev_scores(dev))["nDCG@10"] == 1.0


def dev_scores(dev):
    """Those of one that knows which documents are relevant."""
    relevant = dev.qrels.as_dict()
    scores = np.full((len(dev.questions), len(dev.passages)), -np.inf, np.float32)
    for row, query, places in zip(scores, dev.queries, dev.candidates, strict=True):
        for place in places[places >= 0]:
            row[place] = float(dev.docs[int(dev.owner[place])] in relevant[query])
    return scores
