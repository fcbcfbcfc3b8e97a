"""BM25 beside bm25s on the same tokens: the same variant gives the same scores, with k1 and b changed between queries."""

import random

import bm25s
import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings

PLAIN = IndexSettings(fields={"text": 1.0}, stems=False, stop_words=False, citations=False)
WORDS = [f"word{number:02d}" for number in range(60)]
PARAMETERS = [(1.2, 0.75), (0.9, 0.4), (2.8, 1.0), (0.5, 0.0)]


def made_texts(count, seed):
    """Words by a skewed distribution, some of them in more than half of the texts."""
    generator = random.Random(seed)  # noqa: S311
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return [" ".join(generator.choices(WORDS, weights, k=generator.randint(3, 40))) for _ in range(count)]


@pytest.fixture(scope="module")
def texts():
    return made_texts(200, seed=1)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory, texts):
    """Three segments and a deletion, so that statistics must hold over all of them."""
    index = IndexFolder.create(tmp_path_factory.mktemp("conformance") / "index", PLAIN)
    documents = [Document(f"d{number:03d}", text=text, language="en") for number, text in enumerate(texts)]
    index.add(documents[:50])
    index.add([*documents[50:120], Document("extra", text="word00 word01 word02", language="en")])
    index.add(documents[120:])
    index.delete(["extra"])
    return index.snapshot()


@pytest.fixture(scope="module")
def queries():
    """Questions of a few words, and one that repeats its words many times."""
    asked = [*made_texts(12, seed=2), " ".join(WORDS * 7)]
    return Queries.of(Query(f"q{number}", text, "en") for number, text in enumerate(asked))


def peer_scores(texts, queries, **parameters):
    peer = bm25s.BM25(dtype="float64", **parameters)
    peer.index([text.split() for text in texts], show_progress=False)
    return np.array([peer.get_scores(query.text.split()) for query in queries])


def our_scores(snapshot, retriever, queries):
    scores = np.zeros((len(queries), len(snapshot)))
    run = retriever.retrieve(queries, len(snapshot))
    row = np.repeat(np.arange(len(queries)), np.diff(run.offsets))
    scores[row, [int(run.docs[doc][1:]) for doc in run.doc]] = run.score
    return scores


@pytest.mark.parametrize(("k1", "b"), PARAMETERS)
def test_lucene_scores_are_those_of_bm25s(snapshot, texts, queries, k1, b):
    theirs = peer_scores(texts, queries, method="lucene", k1=k1, b=b)
    ours = our_scores(snapshot, BM25(snapshot, k1, b), queries)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("k1", "b"), PARAMETERS)
def test_robertson_scores_are_those_of_bm25s_where_no_idf_is_negative(snapshot, texts, queries, k1, b):
    """bm25s leaves out the constant k1 + 1 and sets negative idf to 0; the papers do neither, and neither do we."""
    retriever = BM25(snapshot, k1, b, IdfForm.ROBERTSON)
    common = {term for term, idf in zip(retriever.postings.vocabulary, retriever.term_idf, strict=True) if idf <= 0}
    assert common  # else the test would not see what differs
    rare = Queries.of(
        Query(query.id, " ".join(word for word in query.text.split() if word not in common), "en") for query in queries
    )
    theirs = peer_scores(texts, rare, method="robertson", k1=k1, b=b)
    ours = our_scores(snapshot, retriever, rare)
    np.testing.assert_allclose(ours / (k1 + 1), theirs, rtol=1e-5, atol=1e-5)


def test_negative_idf_lowers_scores_as_the_formula_says(snapshot, texts):
    retriever = BM25(snapshot, 1.2, 0.75, IdfForm.ROBERTSON)
    run = retriever.retrieve(Queries.of([Query("q", "word00", "en")]), 1000)
    tokens = [text.split() for text in texts]
    frequency, mean = sum("word00" in words for words in tokens), sum(map(len, tokens)) / len(tokens)
    idf = np.log((len(texts) - frequency + 0.5) / (frequency + 0.5))
    assert idf < 0
    assert len(run) == frequency
    for hit in run.hits("q"):
        words = tokens[int(hit.doc[1:])]
        count = words.count("word00")
        norm = 1.2 * (1 - 0.75 + 0.75 * len(words) / mean)
        assert hit.score == pytest.approx(idf * count * 2.2 / (count + norm), abs=1e-5)


def test_documents_come_in_the_order_of_the_tie_rule(snapshot, texts, queries):
    run = BM25(snapshot).retrieve(queries, 1000)
    theirs = peer_scores(texts, queries, method="lucene", k1=1.2, b=0.75)
    for row, query in enumerate(queries):
        hits = run.hits(query.id)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.doc))
        assert len(hits) == np.count_nonzero(theirs[row])
