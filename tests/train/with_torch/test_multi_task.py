"""MTFT-BERT: the pairwise loss and the second task, against transformers and torch asked one text at a time."""

import json

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.errors import ConfigError
from lexfuse.train.examples.batches import Batches
from lexfuse.train.hyperparameters import ModelKind, RankingLoss
from lexfuse.train.loop.loop import fit
from lexfuse.train.plan import TrainingPlan

MTFT = {"ranking_loss": "pairwise", "representation": 0.5, "margin": 2.0}


@pytest.fixture
def learner(learner_of, short):
    return learner_of(ModelKind.CROSS, short(ModelKind.CROSS, query_length=100, passage_length=100, **MTFT)).eval()  # uncut


def batch_of(small, negatives=2):
    return next(Batches(small.examples, 4, negatives).from_start())


@pytest.mark.parametrize("negatives", [1, 2])
def test_the_loss_is_the_one_written_out(learner, small, negatives):
    batch = batch_of(small, negatives)
    read = PreTrainedTokenizerFast.from_pretrained(learner.base.folder.transformer)

    def tensors(*texts):
        return read(*texts, return_tensors="pt", return_token_type_ids=True)

    ranking, triplets = [], []
    with torch.no_grad():
        for row, query in enumerate(batch.query):
            asked = small.examples.queries[query]
            own = [small.examples.passages[batch.passage[column]] for column in batch.own[row]]
            logits = torch.cat([learner.model(**tensors(asked, passage)).logits[0] for passage in own])
            ranking += [-torch.stack([logits[0], other]).softmax(dim=0)[0].log() for other in logits[1:]]
            states = [learner.model.base_model(**tensors(text)).last_hidden_state[:, 0] for text in (asked, *own)]
            triplets += [torch.nn.TripletMarginLoss(margin=2.0)(states[0], states[1], other) for other in states[2:]]
        losses = learner(batch, learner.texts(small.examples.queries, small.examples.passages), 0)
    assert losses["pairs"].item() == pytest.approx(torch.stack(ranking).mean().item(), abs=1e-5)
    assert losses["representation"].item() == pytest.approx(torch.stack(triplets).mean().item(), abs=1e-4)
    assert losses["loss"].item() == pytest.approx(losses["pairs"].item() + 0.5 * losses["representation"].item(), abs=1e-6)
    assert losses["representation"].item() > 0


def test_without_the_options_it_is_a_monobert(learner_of, short, small):
    learner = learner_of(ModelKind.CROSS, short(ModelKind.CROSS))
    losses = learner(batch_of(small), learner.texts(small.examples.queries, small.examples.passages), 0)
    assert sorted(losses) == ["loss", "pairs"]


def test_queries_without_hard_negatives_have_no_second_task(learner, small):
    losses = learner(batch_of(small, 0), learner.texts(small.examples.queries, small.examples.passages), 0)
    assert losses["representation"].item() == 0


def test_training_lowers_both_losses_and_the_folder_is_a_cross_encoder(learner_of, short, small, tmp_path, own_cache):
    training = short(ModelKind.CROSS, steps=30, **MTFT)
    learner = learner_of(ModelKind.CROSS, training)
    texts = learner.texts(small.examples.queries, small.examples.passages)

    def measured():
        with torch.no_grad():
            found = learner.eval()(batch_of(small), texts, 0)
        return {name: value.item() for name, value in found.items()}

    before = measured()
    fit(learner, small.examples, training, tmp_path / "run")
    after = measured()
    assert all(after[name] < before[name] for name in ("pairs", "representation", "loss")), (before, after)
    learner.eval().save(tmp_path / "model")
    encoder = PairEncoder.load(tmp_path / "model")
    asked = learner.texts([small.questions[0]], small.answers)
    logits = learner.logits([(asked.queries[0], passage) for passage in asked.passages]).sigmoid()
    assert encoder.scores(small.questions[0], small.answers).tolist() == pytest.approx(logits.tolist(), abs=1e-4)
    assert "classifier.weight" in json.dumps(list(learner.model.state_dict()))


@pytest.mark.parametrize("kind", [kind for kind in ModelKind if kind is not ModelKind.CROSS])
@pytest.mark.parametrize(("name", "value"), [("ranking_loss", RankingLoss.PAIRWISE), ("representation", 1.0), ("margin", 2.0)])
def test_other_kinds_refuse_the_options(kind, name, value):
    with pytest.raises(ConfigError, match=f"{name} is a setting of cross, not of {kind}"):
        TrainingPlan.usual(kind, {"training": {name: value}})
