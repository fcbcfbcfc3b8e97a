"""Hard negatives by the model in training: passages that it ranks high and that are not known to answer the query.

Negatives come from passages of the example's source. A passage that scores nearly as high as the positive may be an unlabelled
answer, so it is skipped.
"""

from __future__ import annotations

import numpy as np
import torch

from lexfuse.data.arrays import F32, I32, I64
from lexfuse.encode.encoder import Side
from lexfuse.train.examples.examples import NOTHING, Examples
from lexfuse.train.models.base_model import chunks
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import TOKENS

BLOCK = 65_536  # examples
QUERIES = 4096  # that are compared with all passages at once


@torch.no_grad()
def mine_with_model(
    learner: DenseLearner, examples: Examples, *, amount: int = 8, skip: int = 0, depth: int = 100, margin: float = 0.95
) -> Examples:
    """The examples with negatives that a dense model finds hard; ``skip`` omits its first ranks.

    >>> from lexfuse.train.hyperparameters import Hyperparameters
    >>> examples = Examples.of([("bail", "le bail", [], "mine"), ("bail", "un bail", [], "mine"), ("loi", "la loi", [], "mine")])
    >>> found = mine_with_model(DenseLearner(tiny_base(folder), Hyperparameters()), examples, amount=1, margin=2.0)
    >>> [row[2] for row in found.rows()][0]  # neither the positive nor the other answer
    ['la loi']
    """
    learner.eval()
    texts = learner.texts(examples.queries, examples.passages)
    with torch.autocast(learner.device.type, torch.bfloat16, enabled=learner.device.type == "cuda"):
        queries = _vectors(learner, texts.queries, Side.QUERY)
        passages = _vectors(learner, texts.passages, Side.PASSAGE)
    limits = margin * _products(queries, passages, examples)
    negatives = np.full((len(examples), amount), NOTHING, dtype=np.int32)
    for source in range(len(examples.sources)):
        places = np.flatnonzero(examples.source == source)
        pool = np.unique(examples.positive[places])
        asked = np.unique(examples.query[places])
        ranked = _ranked(queries[torch.from_numpy(asked)], passages[torch.from_numpy(pool)], min(depth, len(pool)))
        row_of = {int(query): row for row, query in enumerate(asked)}
        for place in places:
            query = int(examples.query[place])
            best, scores = ranked[0][row_of[query]], ranked[1][row_of[query]]
            open_ = ~np.isin(pool[best], examples.answering(query)) & (scores <= limits[place])
            found = pool[best[open_]][skip : skip + amount]
            negatives[place, : len(found)] = found
    return examples.with_negatives(negatives)


def _products(queries: torch.Tensor, passages: torch.Tensor, examples: Examples) -> F32:
    """The score of every example's positive."""
    found = np.empty(len(examples), dtype=np.float32)
    for start in range(0, len(examples), BLOCK):
        query, positive = (
            torch.from_numpy(column[start : start + BLOCK].astype(np.int64)) for column in (examples.query, examples.positive)
        )
        found[start : start + BLOCK] = (queries[query].float() * passages[positive].float()).sum(dim=1).cpu().numpy()
    return found


def _vectors(learner: DenseLearner, rows: list[I32], side: Side) -> torch.Tensor:
    found = torch.empty(len(rows), learner.model.config.hidden_size, dtype=torch.bfloat16, device=learner.device)
    for places in chunks(rows, TOKENS):
        found[torch.from_numpy(places)] = learner.vectors([rows[place] for place in places], side).to(torch.bfloat16)
    return found


def _ranked(queries: torch.Tensor, passages: torch.Tensor, depth: int) -> tuple[I64, F32]:
    """The best passages of every query and their scores."""
    places, values = [], []
    for start in range(0, len(queries), QUERIES):
        top = (queries[start : start + QUERIES] @ passages.T).float().topk(depth, dim=1)
        places.append(top.indices.cpu().numpy())
        values.append(top.values.cpu().numpy())
    return np.concatenate(places), np.concatenate(values)
