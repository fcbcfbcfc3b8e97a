"""Each kind learns on real law: from a masked-language model and French labour questions, in some steps on a processor.

What is learned from are the train questions; the dev questions judge, among documents that are relevant to one of them and some
others. Texts are cut short, and all but SPLADE start from the first two of the model's six layers, so that it takes seconds;
negatives are drawn at random.
"""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lexfuse.data.formats.beir import read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.train.examples.labelled_examples import judged_examples, judged_pool
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.loop import DevSet, fit
from lexfuse.train.models.base_model import StartingModel

QUESTIONS, POOL, CANDIDATES, NEGATIVES = 40, 400, 24, 4
FEWER = 15  # questions, and ten times as many documents, for SPLADE, which computes the whole vocabulary for each token
SHORT = {"query_length": 24, "passage_length": 32, "turn": "query", "warm_up": 0.2, "patience": 0}
HOW = {
    ModelKind.DENSE: {"steps": 30, "batch": 16, "learning_rate": 2e-4},
    ModelKind.TWO_TOWER: {"steps": 30, "batch": 16, "learning_rate": 2e-4},
    ModelKind.SPLADE: {"steps": 6, "batch": 8, "learning_rate": 1e-4},
    ModelKind.COLBERT: {"steps": 36, "batch": 12, "learning_rate": 3e-4},
    ModelKind.CROSS: {"steps": 24, "batch": 8, "learning_rate": 2e-4, "negatives": 3, "passage_length": 48},
}


@pytest.fixture(scope="module")
def shared():
    """The folders of collections and of models."""
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder or not Path(folder, "fr-labour").is_dir():
        pytest.skip("LEXFUSE_DATA does not name a folder that holds the collection fr-labour")
    models = Path(folder).parent / "models"
    if not (models / "fr-legal-mlm").is_dir():
        pytest.skip("beside the folder that LEXFUSE_DATA names, models/fr-legal-mlm is missing")
    return SimpleNamespace(data=Path(folder), models=models)


@pytest.fixture(scope="module")
def labour(shared):
    """The collection, and random documents for each question."""
    collection = read_collection(shared.data / "fr-labour")
    names = list(collection.corpus.ids)

    def drawn(qrels, amount):
        generator = np.random.default_rng(1)
        rows = {query: [names[at] for at in generator.integers(0, len(names), amount)] for query in qrels.queries}
        return {query: [doc for doc in dict.fromkeys(docs) if doc not in qrels.judged(query)] for query, docs in rows.items()}

    train, dev = collection.qrels["train"], collection.qrels["dev"]

    def first(amount):
        return Qrels.of((query, doc, grade) for query in list(dev.queries)[:amount] for doc, grade in dev.judged(query).items())

    return SimpleNamespace(corpus=collection.corpus, queries=collection.queries, train=train, first=first, drawn=drawn)


def run_of(rows):
    return Run.of(
        "drawn", {query: {doc: 1.0 - place / len(docs) for place, doc in enumerate(docs)} for query, docs in rows.items()}
    )


def base_of(kind, shared, folder):
    """The model, or its first two layers."""
    if kind is not ModelKind.SPLADE:
        shutil.copytree(shared.models / "fr-legal-mlm", folder)
        settings = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps(settings | {"num_hidden_layers": 2}), "utf-8")
        return StartingModel.read(folder)
    return StartingModel.read(shared.models / "fr-legal-mlm")


def dev_of(kind, labour):
    """One example a question, and the documents to rank; a cross-encoder ranks relevant ones among drawn ones."""
    splade = kind is ModelKind.SPLADE
    dev = labour.first(FEWER if splade else QUESTIONS)
    examples = judged_examples(labour.corpus, labour.queries, dev, negatives=run_of(labour.drawn(dev, NEGATIVES)))
    first = np.sort(np.unique(examples.query, return_index=True)[1])
    if kind is not ModelKind.CROSS:
        return DevSet(
            examples.select(first), judged_pool(labour.corpus, labour.queries, dev, most=10 * FEWER if splade else POOL)
        )
    drawn = labour.drawn(dev, CANDIDATES)
    candidates = {query: [*list(dev.judged(query))[:8], *docs] for query, docs in drawn.items()}
    return DevSet(examples.select(first), judged_pool(labour.corpus, labour.queries, dev, candidates=run_of(candidates)))


@pytest.mark.parametrize("kind", list(ModelKind))
def test_each_kind_learns(kind, shared, labour, learner_of, tmp_path):
    training = Hyperparameters.usual(kind, **{**SHORT, **HOW[kind], "evaluate_every": HOW[kind]["steps"]})
    learner = learner_of(kind, training, base_of(kind, shared, tmp_path / "base"))
    negatives = run_of(labour.drawn(labour.train, NEGATIVES))
    examples = judged_examples(labour.corpus, labour.queries, labour.train, negatives=negatives)
    outcome = fit(learner, examples, training, tmp_path / "run", dev=dev_of(kind, labour))
    measure = "R@10" if kind is ModelKind.CROSS else "R@100"  # it ranks fewer than 100 candidates
    assert outcome.measures["dev loss"] < outcome.start["dev loss"]
    assert outcome.measures[measure] > outcome.start[measure] + 0.02
    assert outcome.best_step == training.steps
