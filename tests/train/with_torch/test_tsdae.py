"""TSDAE: what is deleted, what the decoder sees and shares, and what writing the sentence again costs."""

import math

import numpy as np
import pytest
import torch

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.errors import DataError
from lexfuse.train.adaptation.tsdae import FAMILIES, TsdaeLearner
from lexfuse.train.examples.batches import Batches
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import ModelKind

SENTENCES = ["le salarié ne perd pas un congé", "the court held that the lease ended", "un préavis"]


@pytest.fixture
def made(bases, short):
    """A learner of a family, in evaluation."""

    def learner(family="bert", kind=ModelKind.DENSE, **settings):
        torch.manual_seed(1)
        return TsdaeLearner(bases(kind, family), short(ModelKind.DENSE, passage_length=80), **settings).eval()

    return learner


def batch_of(learner):
    examples = Examples.of_pairs({"sentences": [TrainingPair(text, text) for text in SENTENCES]})
    return next(Batches(examples, len(SENTENCES)).from_start()), learner.texts(examples.queries, examples.passages)


@pytest.mark.parametrize("kind", [ModelKind.DENSE, ModelKind.SPLADE])  # without and with a masked-language head
@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_is_the_mean_surprise_of_the_sentence_from_one_vector(family, kind, made):
    learner = made(family, kind)
    batch, texts = batch_of(learner)
    rows = [texts.queries[place] for place in batch.query]
    surprises = []
    with torch.no_grad():
        for row, short in zip(rows, learner.damaged(rows), strict=True):
            ids = torch.from_numpy(short.astype(np.int64))[None]
            mean = learner.encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].mean(dim=0)
            vector = mean / mean.norm() * math.sqrt(len(mean))
            written = torch.from_numpy(row.astype(np.int64))
            for place in range(1, len(row)):
                logits = learner.decoder(
                    input_ids=written[None, :place], encoder_hidden_states=vector[None, None], use_cache=False
                )
                surprises.append(-torch.log_softmax(logits.logits[0, -1], dim=0)[written[place]].item())
        # The rows are damaged together, as the loss does it; the draw depends on all of them.
        loss = learner(batch, texts, 0)["loss"].item()
    assert loss == pytest.approx(np.mean(surprises), abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_encoder_and_decoder_have_the_same_weights(family, made):
    learner = made(family)
    decoder = dict(learner.decoder.base_model.named_parameters())
    for name, parameter in learner.encoder.named_parameters():
        assert decoder[name] is parameter
    assert learner.decoder.get_output_embeddings().weight is learner.encoder.get_input_embeddings().weight
    own = set(decoder) - set(dict(learner.encoder.named_parameters()))
    assert own
    assert all("crossattention" in name for name in own)


def test_what_is_written_depends_on_the_vector(made):
    learner = made()
    row = learner.base.rows([SENTENCES[0]], 64)
    with torch.no_grad():
        own = learner.vectors(row, Side.PASSAGE)
        other = learner.vectors(learner.base.rows([SENTENCES[1]], 64), Side.PASSAGE)
        assert not torch.allclose(learner.written(own, row), learner.written(other, row))


def test_deleted_tokens(made):
    learner = made(deleted=0.6).train()
    rows = learner.base.rows(["le salarié ne perd pas un congé du travail"] * 500 + ["congé"], 64)
    torch.manual_seed(1)
    short = learner.damaged(rows)
    left = [len(row) - 2 for row in short[:-1]]
    assert np.mean(left) / (len(rows[0]) - 2) == pytest.approx(0.4, abs=0.03)
    assert min(left) >= 1
    assert short[-1].tolist() == rows[-1].tolist()  # its only token stays
    for row, whole in zip(short, rows, strict=True):
        assert row[0] == whole[0]
        assert row[-1] == whole[-1]
        rest = iter(whole.tolist())
        assert all(token in rest for token in row.tolist())  # in their order


def test_evaluation_deletes_the_same_every_time(made):
    learner = made()
    rows = learner.base.rows(SENTENCES, 64)
    first = [row.tolist() for row in learner.damaged(rows)]
    torch.manual_seed(5)
    assert [row.tolist() for row in learner.damaged(rows)] == first


def test_a_family_without_decoder(made):
    with pytest.raises(DataError, match="mpnet do not have; it works with bert, roberta, camembert, xlm-roberta"):
        made("mpnet")


@pytest.mark.parametrize("family", ["bert", "camembert"])
def test_the_folder_gives_the_vectors_of_the_encoder(family, made, tmp_path, own_cache):
    learner = made(family)
    learner.save(tmp_path / "model")
    with torch.no_grad():
        vectors = learner.vectors(learner.base.rows(SENTENCES, 80), Side.PASSAGE).numpy()
    assert DenseEncoder.load(tmp_path / "model").encode(SENTENCES, Side.PASSAGE) == pytest.approx(vectors, abs=1e-4)


def test_judged_queries_can_be_measured(made, small):
    learner = made()
    scores = learner.score(learner.texts(small.questions, small.answers))
    assert scores.shape == (len(small.questions), len(small.answers))
    assert not torch.equal(scores[0], scores[1])
