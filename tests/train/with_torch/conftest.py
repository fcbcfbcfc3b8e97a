"""Small models and examples for the tests of training. One thread: the tests run side by side, and sums keep their order."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import Examples
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.loop import DevSet
from lexfuse.train.models.base_model import StartingModel
from lexfuse.train.models.colbert import ColbertLearner
from lexfuse.train.models.cross_encoder import CrossEncoderLearner
from lexfuse.train.models.dense import DenseLearner, TwoTowerLearner
from lexfuse.train.models.splade import SpladeLearner

torch.set_num_threads(1)
_FILE = Path(__file__).parents[2] / "references" / "tiny.py"
_LEARNERS = {
    ModelKind.DENSE: DenseLearner,
    ModelKind.TWO_TOWER: TwoTowerLearner,
    ModelKind.SPLADE: SpladeLearner,
    ModelKind.COLBERT: ColbertLearner,
    ModelKind.CROSS: CrossEncoderLearner,
}
_QUESTIONS = ["le salarié", "le congé", "un préavis", "la loi", "the court", "the lease", "a judgment", "l'employeur"]
_ANSWERS = [
    "le salarié ne perd pas un congé", "congé de travail", "le préavis du contrat", "article de la loi",
    "the court held", "the lease ended", "judgment of the court", "l'employeur peut rompre le contrat",
]  # fmt: skip
_OTHERS = ["un contrat", "travail", "rompre", "une loi du travail"]


@pytest.fixture(scope="session")
def tiny():
    """The maker of small models: tests/references/tiny.py."""
    specification = importlib.util.spec_from_file_location("tiny", _FILE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def bases(tiny, tmp_path_factory):
    """A small folder to start each kind from, by family of transformer."""
    kept = {}

    def base(kind, family="bert"):
        head = "mlm" if kind is ModelKind.SPLADE else ""
        if (family, head) not in kept:
            kept[family, head] = tiny.folder(tmp_path_factory.mktemp("base") / "model", family, head=head)
        return StartingModel.read(kept[family, head])

    return base


@pytest.fixture
def learner_of(bases):
    """The maker of a learner of a kind, the same every time."""

    def learner(kind, training, base=None, family="bert"):
        torch.manual_seed(training.seed)
        return _LEARNERS[kind](base if base is not None else bases(kind, family), training)

    return learner


@pytest.fixture
def short():
    """The maker of settings for a short training: a few steps, small batches, short texts."""

    def training(kind, **changes):
        usual = {"steps": 6, "batch": 4, "evaluate_every": 2, "query_length": 24, "passage_length": 24, "learning_rate": 1e-3}
        return Hyperparameters.usual(kind, **{**usual, "patience": 0, "dimension": 16, "flops_warm_up": 0.5, **changes})

    return training


@pytest.fixture(scope="session")
def small():
    """Eight examples with two negatives each, and the same queries judged on the pool of all passages."""
    others = [[_OTHERS[at % 4], _OTHERS[(at + 1) % 4]] for at in range(8)]
    examples = Examples.of(
        (question, answer, more, "small") for question, answer, more in zip(_QUESTIONS, _ANSWERS, others, strict=True)
    )
    pool = examples.passages
    names = [f"d{at}" for at in range(len(pool))]
    qrels = Qrels.of([(f"q{at}", names[int(examples.positive[at])], 1) for at in range(8)])
    candidates = np.tile(np.arange(len(pool), dtype=np.int32), (8, 1))
    owner = np.arange(len(pool), dtype=np.int32)
    judged = DevQueries(Ids([f"q{at}" for at in range(8)]), examples.queries, Ids(names), pool, owner, qrels, candidates)
    return SimpleNamespace(examples=examples, judged=judged, dev=DevSet(examples, judged), questions=_QUESTIONS, answers=_ANSWERS)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache folder that starts empty."""
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
