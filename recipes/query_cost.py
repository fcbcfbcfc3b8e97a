"""Seconds and operations of a query by each kind of model, one query at a time, as in table 2 of FUSE.

The vectors of all passages are in the memory of the device. The time includes the tokens of the query, its encoding, the scores
of all passages and the choice of the best. The cross-encoder reads the candidates of the query instead. Operations of the search
follow appendix A.4 of FUSE; those of the encoder are counted while it runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from lexfuse.encode.encoder import Side
from lexfuse.encode.tokenizer import Row
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import NOTHING
from lexfuse.train.models.base_model import chunks
from lexfuse.train.models.colbert import ColbertLearner, TokenVectors
from lexfuse.train.models.cross_encoder import CrossEncoderLearner
from lexfuse.train.models.learner import TOKENS, EncodingLearner, Learner
from lexfuse.train.models.splade import SpladeLearner

TIMED = 50  # queries
BEST = 1000  # passages that a query finds
BLOCK = 8 * TOKENS  # tokens of passages that are compared at once


class QueryCost(NamedTuple):
    """The cost of a query."""

    seconds: float  # the mean
    median: float
    flops: float
    queries: int
    passages: int  # that are compared with each query, or read with it
    device: str


class _Search(NamedTuple):
    """How the passages of a model are searched, and the operations that this takes for an encoded query."""

    scores: Callable[[Any], Tensor]
    flops: Callable[[Any], float]


@torch.no_grad()
def query_cost(learner: Learner, pool: DevQueries) -> QueryCost:
    """The cost of the first questions of a pool; the first of them is asked once more before, to load what is needed."""
    questions = pool.questions[:TIMED]
    passages = learner.texts([], pool.passages).passages
    device = learner.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        if isinstance(learner, CrossEncoderLearner):
            rows = [[passages[place] for place in row[row != NOTHING]] for row in pool.candidates[: len(questions)]]
            asked = _readers(learner, questions, rows)
            flops = fmean(_counted(ask) for ask in asked[:3])
            compared = round(fmean(map(len, rows)))
        elif isinstance(learner, EncodingLearner):
            search = _search(learner, passages)
            asked = [_searcher(learner, question, search) for question in questions]
            encoded = [_encoded(learner, question) for question in questions]
            flops = _counted(lambda: _encoded(learner, questions[0])) + fmean(search.flops(one) for one in encoded)
            compared = len(passages)
        else:
            raise TypeError(f"no cost of a query is known for {type(learner).__name__}")
        seconds = [_seconds(ask, device) for ask in (asked[0], *asked)][1:]
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    return QueryCost(fmean(seconds), median(seconds), flops, len(questions), compared, name)


def _encoded(learner: EncodingLearner, question: str) -> Any:
    return learner.vectors(learner.texts([question], []).queries, Side.QUERY)


def _searcher(learner: EncodingLearner, question: str, search: _Search) -> Callable[[], Tensor]:
    def ask() -> Tensor:
        scores = search.scores(_encoded(learner, question))
        return scores.topk(min(BEST, len(scores))).indices.cpu()

    return ask


def _readers(learner: CrossEncoderLearner, questions: Sequence[str], rows: Sequence[Sequence[Row]]) -> list[Callable[[], Tensor]]:
    def reader(question: str, some: Sequence[Row]) -> Callable[[], Tensor]:
        def ask() -> Tensor:
            (query,) = learner.texts([question], []).queries
            return learner.logits([(query, passage) for passage in some]).argsort(descending=True).cpu()

        return ask

    return [reader(question, some) for question, some in zip(questions, rows, strict=True)]


def _search(learner: EncodingLearner, rows: Sequence[Row]) -> _Search:
    blocks = [learner.vectors([rows[place] for place in places], Side.PASSAGE) for places in chunks(rows, BLOCK)]
    if isinstance(learner, ColbertLearner):
        tokens = sum(int(block.there.sum()) for block in blocks)

        def late_flops(query: TokenVectors) -> float:
            length, dimension = query.vectors.shape[1:]
            return float(length * ((2 * dimension + 1) * tokens + len(rows)))

        return _Search(lambda query: torch.cat([learner.scores(query, block)[0] for block in blocks]), late_flops)
    if isinstance(learner, SpladeLearner):
        inverted = torch.cat([block.to_sparse() for block in blocks]).coalesce()
        lists = sum((block > 0).sum(dim=0) for block in blocks)

        def inverted_scores(query: Tensor) -> Tensor:
            with torch.autocast(query.device.type, enabled=False):  # sparse products have no 16 bits on every device
                return torch.sparse.mm(inverted, query.float().T)[:, 0]

        return _Search(inverted_scores, lambda query: float(2 * lists[query[0] > 0].sum()))
    whole = torch.cat(blocks)
    return _Search(lambda query: learner.scores(query, whole)[0], lambda query: float((2 * query.shape[1] - 1) * len(whole)))


def _seconds(ask: Callable[[], Tensor], device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    ask()
    return time.perf_counter() - start


def _counted(work: Callable[[], Any]) -> float:
    with FlopCounterMode(display=False) as counter:
        work()
    return float(counter.get_total_flops())
