"""Late interaction on real texts: French questions, encoded by the French model of the package."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.late.codec import TokenCodec
from lexfuse.channels.late.late_search import LateMode, LateSearch
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.kernels.maxsim import maxsim

COLLECTIONS = Path(__file__).parent.parent.parent / "collections"
ASKED = 40


@cache
def token_vectors():
    """Those of questions to be found, and of questions that ask for similar ones."""
    files = ("everyday/queries.jsonl", "off-topic/fr.calibration.jsonl", "off-topic/fr.held-out.jsonl")
    lines = [line for name in files for line in (COLLECTIONS / name).read_text("utf-8").splitlines()]
    texts = sorted({json.loads(line)["text"] for line in lines})
    tables = LateEncoder.load("fr-legal-dense", threads=1, query_length=0).encode(texts, Side.PASSAGE)
    asked = np.random.default_rng(0).permutation(len(tables))[:ASKED].tolist()
    return [table for at, table in enumerate(tables) if at not in asked], [tables[at] for at in asked]


def shared(some, others):
    pairs = zip(np.split(some, ASKED), np.split(others, ASKED), strict=True)
    return np.mean([len(np.intersect1d(*pair)) / 10 for pair in pairs])


@pytest.mark.parametrize(("bits", "least"), [(2, 0.92), (3, 0.9), (4, 0.935)])
def test_the_true_top_ten_are_found_among_few_candidates(bits, least):
    documents, queries = token_vectors()
    vectors, starts = np.concatenate(documents), np.cumsum([0, *map(len, documents)])
    part = TokenPart.of(documents, TokenCodec.trained(vectors, bits))
    search = LateSearch([part], np.arange(len(part), dtype=np.int32), candidates={20: 50})
    truth = np.concatenate([np.argsort(-maxsim(query, vectors, starts), kind="stable")[:10] for query in queries])
    exact = search.best(queries, 10, mode=LateMode.BRUTE_FORCE)
    found = search.best(queries, 10)
    assert len(part) == 100
    assert shared(found[1], exact[1]) >= 0.93  # of the stored vectors
    assert shared(found[1], truth) >= least  # of the vectors as they were encoded
    asked = np.repeat(np.arange(ASKED, dtype=np.int32), 10)
    assert search.pair_scores(queries, asked, found[1]).tobytes() == found[2].tobytes()
