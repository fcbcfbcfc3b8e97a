"""SDR inference against section 4.3.2 of RPRS, written out slowly here; as a reranker of a real index."""

import math
from itertools import pairwise

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.rerank.sdr import Sdr, sdr_scores
from lexfuse.rerank.sentence_vectors import CandidateSentences, unit_length
from lexfuse.storage.index_folder import IndexFolder


def grouped(vectors, paragraphs):
    """Sentences by paragraph."""
    return [[vector for vector, own in zip(vectors, paragraphs, strict=True) if own == one] for one in dict.fromkeys(paragraphs)]


def by_the_text(query, documents):
    """The score of every candidate; a text is a list of paragraphs, a paragraph a list of vectors of length one."""
    matrices = []  # P of every candidate
    for document in documents:
        matrix = []
        for paragraph in query:
            row = []
            for other in document:
                cells = [[math.fsum(a * b for a, b in zip(x, y, strict=True)) for y in other] for x in paragraph]  # M
                row.append(sum(max(line) for line in cells) / len(paragraph))
            matrix.append(row)
        matrices.append(matrix)
    totals = [0.0] * len(documents)
    for number in range(len(query)):
        row = [cell for matrix in matrices for cell in matrix[number]]
        mean = sum(row) / len(row)
        deviation = math.sqrt(sum((cell - mean) ** 2 for cell in row) / len(row))
        for candidate, matrix in enumerate(matrices):
            best = max(matrix[number])
            totals[candidate] += 0.0 if deviation < 1e-9 else (best - mean) / deviation
    return [total / len(query) for total in totals]


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_text(seed):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 9, 7)
    documents = [chance.normal(size=(size, 5)).astype(np.float32) for size in sizes]
    places = [np.sort(chance.integers(0, 4, size)) for size in sizes]
    queries, own = unit_length(chance.normal(size=(300, 5)).astype(np.float32)), np.sort(chance.integers(0, 40, 300))
    candidates = CandidateSentences.of(documents)
    found = sdr_scores(queries, own, candidates, np.concatenate(places))
    split = [candidates.vectors[first:last].tolist() for first, last in pairwise(candidates.starts.tolist())]
    expected = by_the_text(
        grouped(queries.tolist(), own.tolist()), [grouped(rows, at.tolist()) for rows, at in zip(split, places, strict=True)]
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_paragraph_that_is_like_all_says_nothing_and_what_is_missing_has_no_score():
    rows = np.array([[1, 0]], np.float32)
    candidates = CandidateSentences.of([rows, np.empty((0, 2), np.float32), rows])
    found = sdr_scores(np.array([[0.6, 0.8], [1, 0]], np.float32), np.array([0, 1]), candidates, np.array([0, 0]))
    assert found[[0, 2]].tolist() == [0.0, 0.0]
    assert np.isnan(found[1])
    assert np.isnan(sdr_scores(np.empty((0, 2), np.float32), np.empty(0, np.int64), candidates, np.array([0, 0]))).all()


TEXTS = {
    "a": "1. Le loyer est dû.\n\n2. Le bail est nul. Le juge le dit.",
    "b": "Le congé est dû.\nLe salaire est dû. Le préavis aussi.",
    "c": "Le juge dit le droit.",
}
QUERY = Query("q", "1. Le loyer et le bail. Le juge.\n\n2. Le congé est dû.", "fr")
PARAGRAPHS = {"a": [0, 1, 1], "b": [0, 1, 1], "c": [0]}


def test_an_index_reranked(tmp_path):
    words = ["loyer", "bail", "juge", "congé", "salaire", "préavis", "droit"]
    chance = np.random.default_rng(0)
    rows = [f"{word} {' '.join(f'{value:.3f}' for value in chance.normal(size=4))}" for word in words]
    (tmp_path / "words.vec").write_text("\n".join([f"{len(words)} 4", *rows]) + "\n")
    documents = [Document(id, text=text, language="fr") for id, text in TEXTS.items()]
    queries = Queries.of([QUERY, Query("none", "zzz", "fr")])
    with IndexFolder.create(tmp_path / "i", documents=documents) as index:
        plan = ChannelPlan(str(tmp_path / "words.vec"), storage="fp32")
        index.channels.make("sentences", plan_channel("sentences", plan))
        fill_channel(index, "sentences")
        with index.snapshot() as snapshot:
            sdr = Sdr(open_retriever(snapshot, "sentences"), depth=3)
            found = (BM25(snapshot) >> sdr).retrieve(queries, 3)
            ids = list(TEXTS)
            vectors = [sdr.reader.candidates(np.array([snapshot.ids.ordinal(id)])).vectors.tolist() for id in ids]
            asked = sdr.reader.query(QUERY).vectors.tolist()
    assert len(asked) == 3
    expected = by_the_text(grouped(asked, [0, 0, 1]), [grouped(v, PARAGRAPHS[id]) for id, v in zip(ids, vectors, strict=True)])
    assert found.as_dict()["q"] == pytest.approx(dict(zip(ids, expected, strict=True)), abs=1e-5)
    assert found.hits("none") == []
