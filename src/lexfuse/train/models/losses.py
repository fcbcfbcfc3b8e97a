"""Losses on torch tensors: those of FUSE (eq. 5, 9, 10, 12, 16), that of MTFT-BERT's second task, the divergence from a teacher.

All are means over the queries of a batch, in 32 bits for any precision of the model.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

NEVER = float("-inf")


def nt_xent(scores: Tensor, allowed: Tensor, temperature: float = 0.05) -> Tensor:
    """The contrastive loss (eq. 5; BSARD eq. 6): cross-entropy of the positive among all passages of the batch.

    Row i's positive is column i. Passages that are not ``allowed`` are ignored.

    >>> scores = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> round(nt_xent(scores, torch.ones(2, 2, dtype=torch.bool), temperature=1.0).item(), 4)
    0.3133
    """
    logits = (scores.float() / temperature).masked_fill(~allowed, NEVER)
    return functional.cross_entropy(logits, torch.arange(len(scores), device=scores.device))


def pairwise_softmax(own: Tensor, there: Tensor) -> Tensor:
    """ColBERT's loss (eq. 12): the positive (first column) against each of the query's hard negatives.

    >>> own, there = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[True, True, False]])
    >>> round(pairwise_softmax(own, there).item(), 4)
    0.3133
    """
    own = own.float()
    each = functional.softplus(own[:, 1:] - own[:, :1]) * there[:, 1:]
    return each.sum() / there[:, 1:].sum().clamp(min=1)


def flops(vectors: Tensor) -> Tensor:
    """The smoothed cost of comparing sparse vectors (eq. 9): the sum of the squared mean weights of the vocabulary.

    >>> flops(torch.tensor([[1.0, 0.0], [3.0, 0.0]])).item()
    4.0
    """
    return vectors.float().abs().mean(dim=0).square().sum()


def flops_schedule(weight: float, step: int, warm_up: int) -> float:
    """The weight of the FLOPS loss at a step: it rises quadratically until the end of its warm-up.

    >>> flops_schedule(0.8, 5, 10), flops_schedule(0.8, 50, 10)
    (0.2, 0.8)
    """
    return weight * min(1.0, (step / warm_up) ** 2) if warm_up else weight


def binary_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of a cross-encoder (eq. 16): each pair is relevant or not.

    >>> round(binary_cross_entropy(torch.tensor([0.0]), torch.tensor([1.0])).item(), 4)
    0.6931
    """
    return functional.binary_cross_entropy_with_logits(logits.float(), labels.float())


def triplet_margin(queries: Tensor, positives: Tensor, negatives: Tensor, margin: float = 1.0) -> Tensor:
    """The second task of MTFT-BERT: a query is nearer to its positive than to a negative, by a margin in Euclidean distance.

    Each row is a triplet. Without any the loss is 0.

    >>> query, near, far = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 4.0]])
    >>> triplet_margin(query, near, far).item(), triplet_margin(query, far, near).item()
    (0.0, 5.0)
    """
    if not len(queries):
        return queries.float().sum()
    queries, positives, negatives = (vectors.float() for vectors in (queries, positives, negatives))
    apart = torch.linalg.vector_norm(queries - positives, dim=1) - torch.linalg.vector_norm(queries - negatives, dim=1)
    return functional.relu(apart + margin).mean()


def divergence(own: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """The Kullback-Leibler divergence of a query's scores from a teacher's, over its positive and negatives.

    The teacher's scores are logits; NaN means not scored. The mean is over the queries that it scored.

    >>> round(divergence(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]])).item(), 4)
    0.0
    """
    known = ~teacher.isnan().all(dim=1)
    own, teacher = own[known], teacher[known]
    scored = ~teacher.isnan()
    logits = (own.float() / temperature).masked_fill(~scored, NEVER)
    target = functional.softmax(teacher.float().masked_fill(~scored, NEVER), dim=1)
    gap = target * (target.clamp(min=1e-12).log() - functional.log_softmax(logits, dim=1).masked_fill(~scored, 0.0))
    return gap.sum() / known.sum().clamp(min=1)
