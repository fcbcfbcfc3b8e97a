"""Losses against FUSE's equations written out over plain numbers, and against sentence-transformers where both mean the same."""

import math

import pytest
import torch

from lexfuse.train.models.losses import (
    binary_cross_entropy,
    divergence,
    flops,
    flops_schedule,
    nt_xent,
    pairwise_softmax,
    triplet_margin,
)

QUERIES, PASSAGES, WORDS = 5, 12, 9


@pytest.fixture
def drawn():
    return torch.Generator().manual_seed(7)


@pytest.fixture
def scores(drawn):
    return torch.randn(QUERIES, PASSAGES, generator=drawn)


@pytest.fixture
def allowed(drawn):
    """Some passages that count for no query, but for its own positive."""
    mask = torch.rand(QUERIES, PASSAGES, generator=drawn) > 0.3
    mask[torch.arange(QUERIES), torch.arange(QUERIES)] = True
    assert not mask.all()
    return mask


def equation_5(scores, allowed, temperature):
    """-log of the share that the positive has of all that is allowed, mean over the queries."""
    total = 0.0
    for row, (values, counts) in enumerate(zip(scores.tolist(), allowed.tolist(), strict=True)):
        below = sum(math.exp(value / temperature) for value, counted in zip(values, counts, strict=True) if counted)
        total -= math.log(math.exp(values[row] / temperature) / below)
    return total / len(scores)


def equation_9(vectors):
    total = 0.0
    for word in range(vectors.shape[1]):
        mean = sum(vector[word] for vector in vectors.tolist()) / len(vectors)
        total += mean**2
    return total


def equation_12(own, there):
    """-log of the positive's share of itself and one hard negative, mean over all such pairs."""
    parts = []
    for values, present in zip(own.tolist(), there.tolist(), strict=True):
        for negative, counted in zip(values[1:], present[1:], strict=True):
            if counted:
                parts.append(-math.log(math.exp(values[0]) / (math.exp(values[0]) + math.exp(negative))))
    return sum(parts) / len(parts)


def equation_16(logits, labels):
    parts = []
    for logit, label in zip(logits.tolist(), labels.tolist(), strict=True):
        score = 1 / (1 + math.exp(-logit))
        parts.append(-label * math.log(score) - (1 - label) * math.log(1 - score))
    return sum(parts) / len(parts)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 1.0])
def test_nt_xent_is_equation_5(scores, allowed, temperature):
    assert nt_xent(scores, allowed, temperature).item() == pytest.approx(equation_5(scores, allowed, temperature), rel=1e-5)
    everything = torch.ones_like(allowed)
    assert nt_xent(scores, everything, temperature).item() == pytest.approx(equation_5(scores, everything, temperature), rel=1e-5)


def test_what_is_not_allowed_has_no_gradient(scores, allowed):
    scores.requires_grad_()
    nt_xent(scores, allowed, 0.5).backward()
    assert (scores.grad[~allowed] == 0).all()
    assert (scores.grad[allowed] != 0).all()


def test_flops_is_equation_9(drawn):
    vectors = torch.rand(QUERIES, WORDS, generator=drawn) * (torch.rand(QUERIES, WORDS, generator=drawn) > 0.6)
    assert flops(vectors).item() == pytest.approx(equation_9(vectors), rel=1e-5)


def test_the_weight_of_flops_rises_as_a_square():
    assert [flops_schedule(0.8, step, 4) for step in range(6)] == pytest.approx([0.0, 0.05, 0.2, 0.45, 0.8, 0.8])
    assert flops_schedule(0.8, 0, 0) == 0.8


@pytest.mark.parametrize(("similarity", "temperature"), [("cosine", 0.05), ("dot", 1.0)])
def test_splade_is_equation_10(learner_of, short, small, similarity, temperature):
    """With cosines and a temperature of .05, as FUSE trains (Table 8, the default), and with dot products."""
    from lexfuse.encode.encoder import Side
    from lexfuse.train.examples.batches import Batches
    from lexfuse.train.hyperparameters import ModelKind

    changes = {"steps": 10, "flops_queries": 0.3, "flops_passages": 0.1, "flops_warm_up": 0.4}
    if similarity == "dot":
        changes |= {"similarity": similarity, "temperature": temperature}
    training = short(ModelKind.SPLADE, **changes)
    learner = learner_of(ModelKind.SPLADE, training).eval()
    texts = learner.texts(small.examples.queries, small.examples.passages)
    batch = next(Batches(small.examples, 4, 1).from_start())
    queries = learner.vectors([texts.queries[place] for place in batch.query], Side.QUERY)
    passages = learner.vectors([texts.passages[place] for place in batch.passage], Side.PASSAGE)
    products = torch.tensor(
        [[sum(a * b for a, b in zip(q, p, strict=True)) for p in passages.tolist()] for q in queries.tolist()]
    )
    if similarity == "cosine":
        products = products / (queries.norm(dim=1, keepdim=True) * passages.norm(dim=1).unsqueeze(0))
    for step, share in ((0, 0.0), (2, 0.25), (9, 1.0)):
        expected = equation_5(products.detach(), torch.from_numpy(batch.allowed), temperature)
        expected += share * (0.3 * equation_9(queries) + 0.1 * equation_9(passages))
        assert learner(batch, texts, step)["loss"].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("complete", [True, False])
def test_pairwise_softmax_is_equation_12(drawn, complete):
    own = 3 * torch.randn(QUERIES, 4, generator=drawn)
    there = torch.ones(QUERIES, 4, dtype=torch.bool)
    if not complete:
        there[0, 1:] = there[2, 3] = False
    assert pairwise_softmax(own, there).item() == pytest.approx(equation_12(own, there), rel=1e-5)


def test_pairwise_softmax_without_any_negative_is_0(drawn):
    own = torch.randn(QUERIES, 1, generator=drawn)
    assert pairwise_softmax(own, torch.ones(QUERIES, 1, dtype=torch.bool)).item() == 0.0


def test_binary_cross_entropy_is_equation_16(drawn):
    logits, labels = 2 * torch.randn(10, generator=drawn), torch.rand(10, generator=drawn) > 0.5
    assert binary_cross_entropy(logits, labels).item() == pytest.approx(equation_16(logits, labels), rel=1e-5)


def test_divergence_is_that_of_kullback_and_leibler(drawn):
    own, teacher = torch.randn(QUERIES, 4, generator=drawn), torch.randn(QUERIES, 4, generator=drawn)
    teacher[1, 2] = teacher[3, 1] = float("nan")  # not scored
    total = 0.0
    for values, wanted in zip(own.tolist(), teacher.tolist(), strict=True):
        scored = [place for place, number in enumerate(wanted) if not math.isnan(number)]
        above = sum(math.exp(wanted[place]) for place in scored)
        below = sum(math.exp(values[place] / 0.5) for place in scored)
        for place in scored:
            share, own_share = math.exp(wanted[place]) / above, math.exp(values[place] / 0.5) / below
            total += share * math.log(share / own_share)
    assert divergence(own, teacher, 0.5).item() == pytest.approx(total / QUERIES, rel=1e-5)


def test_divergence_of_queries_that_no_teacher_scored_counts_nothing():
    own = torch.tensor([[1.0, 0.0], [3.0, 0.0]], requires_grad=True)
    teacher = torch.tensor([[0.0, 1.0], [float("nan"), float("nan")]])
    alone = divergence(own[:1], teacher[:1])
    found = divergence(own, teacher)
    found.backward()
    assert found.item() == pytest.approx(alone.item())
    assert own.grad.isfinite().all()
    assert (own.grad[1] == 0).all()


@pytest.mark.parametrize("kind", ["half", "full"])
def test_losses_are_computed_in_32_bits(scores, allowed, kind):
    values = scores.to(torch.bfloat16) if kind == "half" else scores
    assert nt_xent(values, allowed).dtype == flops(values).dtype == pairwise_softmax(values, allowed).dtype == torch.float32


class Vectors(torch.nn.Module):
    """What sentence-transformers wants of a model: vectors for features."""

    def forward(self, features):
        return {"sentence_embedding": features["vectors"]}


def test_nt_xent_is_their_ranking_loss(drawn):
    """MultipleNegativesRankingLoss over (anchor, positive, negative) with scale 1/temperature; it masks no known answers."""
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    queries, positives, negatives = (torch.randn(QUERIES, 8, generator=drawn) for _ in range(3))
    theirs = MultipleNegativesRankingLoss(Vectors(), scale=20.0)
    expected = theirs([{"vectors": part} for part in (queries, positives, negatives)], None)
    unit = torch.nn.functional.normalize
    scores = unit(queries) @ unit(torch.cat([positives, negatives])).T
    assert nt_xent(scores, torch.ones_like(scores, dtype=torch.bool), 0.05).item() == pytest.approx(expected.item(), rel=1e-5)


def test_flops_is_their_flops_loss(drawn):
    """The same for one batch of texts. Their SpladeLoss measures positives and negatives together, as ours does."""
    from sentence_transformers.sparse_encoder.losses import FlopsLoss

    vectors = torch.rand(QUERIES, WORDS, generator=drawn)
    theirs = FlopsLoss(Vectors())
    assert flops(vectors).item() == pytest.approx(theirs.compute_loss_from_embeddings(vectors).item(), rel=1e-5)


@pytest.mark.parametrize("margin", [0.5, 1.0, 4.0])
def test_the_second_task_is_the_triplet_loss_of_torch(drawn, margin):
    query, positive, negative = (torch.randn(6, WORDS, generator=drawn) for _ in range(3))
    theirs = torch.nn.TripletMarginLoss(margin=margin)(query, positive, negative).item()
    assert theirs > 0
    assert triplet_margin(query, positive, negative, margin).item() == pytest.approx(theirs, abs=1e-5)


def test_without_triplets_the_second_task_costs_nothing():
    empty = torch.empty(0, WORDS, requires_grad=True)
    loss = triplet_margin(empty, empty, empty)
    loss.backward()
    assert loss.item() == 0
