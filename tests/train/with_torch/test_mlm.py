"""Masked-language training: what is hidden, what it costs, and the head that a base may lack."""

import numpy as np
import pytest
import torch

from lexfuse.errors import ConfigError, DataError
from lexfuse.train.adaptation import masked_language
from lexfuse.train.adaptation.masked_language import NOT_ASKED, MaskedLanguageLearner, Masking, generator_of, token_loss
from lexfuse.train.examples.batches import Batches
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.models.splade import SpladeLearner

FAMILIES = ["bert", "roberta", "camembert", "xlm-roberta", "mpnet"]
SENTENCES = ["le salarié ne perd pas un congé", "the court held that the lease ended", "l'employeur peut rompre le contrat"]


@pytest.fixture
def batch_of():
    """All sentences as one batch, with their tokens."""

    def batch(learner):
        examples = Examples.of_pairs({"sentences": [TrainingPair(text, text) for text in SENTENCES]})
        return next(Batches(examples, len(SENTENCES)).from_start()), learner.texts(examples.queries, examples.passages)

    return batch


def made(base, training, **settings):
    torch.manual_seed(1)
    return MaskedLanguageLearner(base, training, **settings).eval()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_is_the_mean_surprise_of_the_hidden_tokens(family, bases, short, batch_of):
    learner = made(bases(ModelKind.SPLADE, family), short(ModelKind.SPLADE))
    batch, texts = batch_of(learner)
    rows = [texts.queries[place] for place in batch.query]
    noisy = learner.masking.of_rows(rows, generator_of(rows, learning=False), learner.device)
    surprises = []
    with torch.no_grad():
        logits = learner.model(input_ids=noisy.ids, attention_mask=noisy.mask).logits
        for row, labels in enumerate(noisy.labels):
            for place, label in enumerate(labels.tolist()):
                if label != NOT_ASKED:
                    chances = torch.exp(logits[row, place]) / torch.exp(logits[row, place]).sum()
                    surprises.append(-torch.log(chances[label]).item())
        loss = learner(batch, texts, 0)["loss"].item()
    assert len(surprises) >= len(SENTENCES)
    assert loss == pytest.approx(np.mean(surprises), abs=1e-4)


def test_hidden_tokens_by_kind(bases):
    base = bases(ModelKind.SPLADE)
    rows = base.rows(["le salarié ne perd pas un congé du travail"] * 800, 64)
    torch.manual_seed(3)
    masking = Masking.of(base, 0.15)
    noisy = masking.of_rows(rows, None, torch.device("cpu"))
    clean = torch.from_numpy(base.tokens.padded(rows)[0])
    asked = noisy.labels != NOT_ASKED
    assert torch.equal(noisy.labels[asked], clean[asked])
    assert torch.equal(noisy.ids[~asked], clean[~asked])
    assert not asked[:, 0].any()
    assert not asked[:, -1].any()
    assert asked.any(dim=1).all()  # one at least in every row
    assert asked[:, 1:-1].float().mean().item() == pytest.approx(0.17, abs=0.03)  # a little more for rows without any
    hidden = noisy.ids[asked]
    assert (hidden == masking.mask).float().mean().item() == pytest.approx(0.8, abs=0.04)
    assert (hidden == clean[asked]).float().mean().item() == pytest.approx(0.1, abs=0.03)


def test_what_is_hidden_in_evaluation_depends_on_the_texts_alone(bases, short, batch_of):
    learner = made(bases(ModelKind.SPLADE), short(ModelKind.SPLADE))
    batch, texts = batch_of(learner)
    with torch.no_grad():
        torch.manual_seed(1)
        before = learner(batch, texts, 0)["loss"]
        state = torch.get_rng_state()
        torch.manual_seed(2)
        assert torch.equal(learner(batch, texts, 0)["loss"], before)
        assert torch.equal(torch.manual_seed(1).get_state(), state)  # torch's own chance was not touched
        learner.train()
        torch.manual_seed(1)
        first = learner(batch, texts, 0)["loss"]
        assert not torch.equal(learner(batch, texts, 0)["loss"], first)
        torch.manual_seed(1)
        assert torch.equal(learner(batch, texts, 0)["loss"], first)


def test_logits_of_some_tokens_at_a_time_give_the_same(monkeypatch):
    torch.manual_seed(0)
    head, states = torch.nn.Linear(6, 20), torch.randn(4, 5, 6, requires_grad=True)
    labels = torch.randint(20, (4, 5)).masked_fill(torch.eye(4, 5).bool(), NOT_ASKED)
    whole = token_loss(head, states, labels)
    (slope,) = torch.autograd.grad(whole, states)
    monkeypatch.setattr(masked_language, "HEAD_TOKENS", 3)
    parts = token_loss(head, states, labels)
    assert parts.item() == pytest.approx(whole.item(), rel=1e-6)
    assert torch.allclose(torch.autograd.grad(parts, states)[0], slope, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_new_head_is_tied_and_makes_a_base_for_splade(family, bases, short, batch_of, tmp_path):
    from lexfuse.train.models.base_model import StartingModel

    base, training = bases(ModelKind.DENSE, family), short(ModelKind.SPLADE)
    with pytest.raises(DataError, match="lexfuse adapt mlm"):
        MaskedLanguageLearner(base, training)
    learner = made(base, training, new_head=True)
    assert learner.fresh
    assert learner.model.get_output_embeddings().weight is learner.model.get_input_embeddings().weight
    batch, texts = batch_of(learner)
    with torch.no_grad():
        loss = learner(batch, texts, 0)["loss"]
        learner.save(tmp_path / "model")
        again = made(StartingModel.read(tmp_path / "model"), training)
        assert not again.fresh
        assert again(batch, texts, 0)["loss"].item() == pytest.approx(loss.item(), abs=1e-5)
    SpladeLearner(StartingModel.read(tmp_path / "model"), training)


def test_a_head_that_is_there_is_used(bases, short):
    assert not made(bases(ModelKind.SPLADE), short(ModelKind.SPLADE), new_head=True).fresh


def test_it_ranks_nothing(bases, short):
    learner = made(bases(ModelKind.SPLADE), short(ModelKind.SPLADE))
    with pytest.raises(ConfigError, match="ranks nothing"):
        learner.score(learner.texts(SENTENCES, SENTENCES), None)
