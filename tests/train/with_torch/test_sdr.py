"""SDR: the contrastive loss, whom a sentence is compared with, and the sum with the masked-language loss."""

import numpy as np
import pytest
import torch

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.train.adaptation.masked_language import NOT_ASKED, generator_of
from lexfuse.train.adaptation.sdr import SdrLearner, contrastive, partners
from lexfuse.train.examples.batches import Batches
from lexfuse.train.examples.examples import Examples
from lexfuse.train.hyperparameters import ModelKind

ROWS = [
    ("le salarié a un congé", "il le demande", (), "sentences"),
    ("the court held", "the lease ended", (), "sentences"),
    ("l'employeur peut rompre le contrat", "un préavis du contrat", (), "sentences"),
    ("the judgment of the court", "that article ended", (), "sentences"),
]


@pytest.fixture
def made(bases, short):
    """A learner of a family, in evaluation."""

    def learner(family="bert", kind=ModelKind.SPLADE, **settings):
        torch.manual_seed(1)
        return SdrLearner(bases(kind, family), short(ModelKind.DENSE, passage_length=80), **settings).eval()

    return learner


@pytest.mark.parametrize("margin", [0.0, 0.3, -0.2])
def test_contrastive_loss_by_hand(margin):
    first = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.1], [-1.0, 1.0]], np.float32)
    second = np.array([[2.0, 1.0], [0.4, 1.0], [1.0, 1.0], [-1.0, 0.8]], np.float32)
    same = [True, False, False, True]
    costs = []
    for one, other, together in zip(first, second, same, strict=True):
        cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
        costs.append(1 - cosine if together else max(0.0, cosine - margin))
    found = contrastive(torch.from_numpy(first), torch.from_numpy(second), torch.tensor(same), margin)
    assert found.item() == pytest.approx(np.mean(costs), abs=1e-6)


def test_partners_are_their_own_in_half_of_the_cases_and_else_one_that_is_allowed():
    size = 400
    allowed = np.ones((size, size), dtype=np.bool_)
    allowed[:, : size // 2] = False  # say, of the same document as every row
    np.fill_diagonal(allowed, True)
    column, same = partners(allowed, torch.Generator().manual_seed(1))
    own = torch.arange(size)
    assert same.float().mean().item() == pytest.approx(0.5, abs=0.07)
    assert torch.equal(column[same], own[same])
    assert (column[~same] >= size // 2).all()
    assert (column[~same] != own[~same]).all()
    assert len(set(column[~same].tolist())) > 50  # not always the same one


@pytest.mark.parametrize("family", ["bert", "camembert", "mpnet"])
def test_the_loss_is_the_sum_of_both_by_hand(family, made):
    learner = made(family, margin=0.1)
    examples = Examples.of(ROWS)
    batch, texts = next(Batches(examples, 4).from_start()), learner.texts(examples.queries, examples.passages)
    rows = [texts.queries[place] for place in batch.query] + [texts.passages[place] for place in batch.passage]
    generator = generator_of(rows, learning=False)
    column, same = partners(batch.allowed, generator)
    noisy = learner.masking.of_rows(rows, generator, learner.device)
    vectors, surprises = [], []
    with torch.no_grad():
        for ids, mask, labels in zip(noisy.ids, noisy.mask, noisy.labels, strict=True):
            output = learner.model(input_ids=ids[None], attention_mask=mask[None], output_hidden_states=True)
            vectors.append(output.hidden_states[-1][0, mask.bool()].mean(dim=0))
            asked = labels != NOT_ASKED
            chances = torch.log_softmax(output.logits[0, asked], dim=1)
            surprises += [-chances[at, label].item() for at, label in enumerate(labels[asked])]
        losses = learner(batch, texts, 0)
    costs = []
    for place in range(4):
        cosine = torch.cosine_similarity(vectors[place], vectors[4 + int(column[place])], dim=0).item()
        costs.append(1 - cosine if same[place] else max(0.0, cosine - 0.1))
    assert losses["masked"].item() == pytest.approx(np.mean(surprises), abs=1e-4)
    assert losses["contrast"].item() == pytest.approx(np.mean(costs), abs=1e-4)
    assert losses["loss"].item() == pytest.approx(np.mean(surprises) + np.mean(costs), abs=1e-4)


def test_sentences_of_the_same_document_are_never_negatives(made):
    answers = {query: [passage for _, passage, _, _ in ROWS] for query, _, _, _ in ROWS}
    batch = next(Batches(Examples.of(ROWS, answers), 4).from_start())
    for seed in range(20):
        _, same = partners(batch.allowed, torch.Generator().manual_seed(seed))
        assert same.all()


def test_a_base_without_head_gets_one_that_the_folder_has_not(made, tmp_path, own_cache):
    learner = made(kind=ModelKind.DENSE)
    assert learner.fresh
    learner.save(tmp_path / "model")
    from safetensors import safe_open

    with safe_open(tmp_path / "model" / "model.safetensors", "pt") as weights:
        assert not [name for name in weights.keys() if "cls" in name or "lm_head" in name]  # noqa: SIM118
    texts = [query for query, _, _, _ in ROWS]
    with torch.no_grad():
        vectors = learner.vectors(learner.base.rows(texts, 80), Side.PASSAGE).numpy()
    assert DenseEncoder.load(tmp_path / "model").encode(texts, Side.PASSAGE) == pytest.approx(vectors, abs=1e-4)


def test_a_head_that_is_there_is_used(made):
    assert not made().fresh
