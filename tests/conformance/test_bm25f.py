"""BM25F beside a plain implementation of Robertson and Zaragoza's formula, over segments, deletions, parameters and shards."""

import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.channels.lexical.bm25f import BM25F, FieldWeight
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.partition import partition
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, UnknownFieldError
from lexfuse.index import Index
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.segment import Segment

PLAIN = IndexSettings(fields={"title": 3.0, "headings": 1.0, "text": 1.0}, stems=False, stop_words=False, citations=False)
WORDS = [f"word{number:02d}" for number in range(30)]
FIELDS = (FieldWeight("title", 2.5, 0.3), FieldWeight("headings", 0.7, 1.0), FieldWeight("text", 1.0, 0.75))


def drawn(generator, most):
    return " ".join(generator.choices(WORDS, [1 / (rank + 1) for rank in range(len(WORDS))], k=generator.randint(0, most)))


def made_documents():
    draw = random.Random(4)  # noqa: S311
    return [
        Document(f"d{at:03d}", drawn(draw, 4), drawn(draw, 40), "en", headings=tuple(drawn(draw, 3) for _ in range(at % 3)))
        for at in range(120)
    ]


@pytest.fixture(scope="module")
def documents():
    return made_documents()


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory, documents):
    index = IndexFolder.create(tmp_path_factory.mktemp("fields") / "index", PLAIN)
    index.add(documents[:50])
    index.add([*documents[50:90], Document("gone", "word00", "word01 word02 " * 50, "en")])
    index.add(documents[90:])
    index.delete(["gone"])
    return index.snapshot()


@pytest.fixture(scope="module")
def queries():
    draw = random.Random(5)  # noqa: S311
    return Queries.of(Query(f"q{at}", drawn(draw, 5) + " word03", "en") for at in range(15))


def plain_scores(documents, text, fields, k1, robertson):
    """The formula, written out."""
    parts = [{"title": d.title.split(), "headings": " ".join(d.headings).split(), "text": d.text.split()} for d in documents]
    means = {one.field: sum(len(part[one.field]) for part in parts) / len(parts) for one in fields}
    scores = {}
    for document, part in zip(documents, parts, strict=True):
        total = 0.0
        for term, count in Counter(text.split()).items():
            frequency = sum(any(term in words for words in other.values()) for other in parts)
            odds = (len(parts) - frequency + 0.5) / (frequency + 0.5)
            idf = (k1 + 1) * math.log(odds) if robertson else math.log(1 + odds)
            tf = 0.0
            for name, weight, b in fields:
                if held := part[name].count(term):
                    tf += weight * held / (1 - b + b * len(part[name]) / means[name])
            total += count * idf * (tf / (k1 + tf) if tf else 0.0)
        scores[document.id] = total
    return scores


def assert_scores(found, expected):
    ranked = {hit.doc: hit.score for hit in found}
    np.testing.assert_allclose([ranked.get(doc, 0.0) for doc in expected], list(expected.values()), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("idf", IdfForm)
@pytest.mark.parametrize("k1", [0.5, 1.2, 3.0])
@pytest.mark.parametrize("fields", [FIELDS, FIELDS[:1], (FieldWeight("text", 2.0, 0.0), FieldWeight("title", 1.0, 1.0))])
def test_scores_are_those_of_the_formula(snapshot, documents, queries, fields, k1, idf):
    run = BM25F(snapshot, k1, idf=idf, fields=fields).retrieve(queries, 1000)
    for query in queries:
        expected = plain_scores(documents, query.text, fields, k1, idf is IdfForm.ROBERTSON)
        assert_scores(run.hits(query.id), expected)


def test_score_gives_the_bits_of_retrieve_and_explanations_add_up(snapshot, queries):
    retriever = BM25F(snapshot, fields=FIELDS)
    run = retriever.retrieve(queries, 20)
    np.testing.assert_array_equal(retriever.score(queries, run), run.score)
    for query in queries:
        hits = run.hits(query.id)[:3]
        for hit, evidence in zip(hits, retriever.evidence(query, [hit.doc for hit in hits]), strict=True):
            assert sum(part.contribution for part in evidence.terms) == pytest.approx(hit.score, rel=1e-5)


@given(st.floats(0, 5), st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_one_field_of_weight_one_is_bm25(tmp_path_factory, k1, b):
    folder = tmp_path_factory.mktemp("one") / "index"
    texts = [replace(document, title="", headings=()) for document in made_documents()[:20]]
    IndexFolder.create(folder, IndexSettings(fields={"text": 1.0}), documents=texts).close()
    with Index(folder) as index:
        asked = Queries.of([Query("q", "word01 word05 word05", "en")])
        ours = BM25F(index.snapshot, k1, fields=(FieldWeight("text", 1.0, b),)).retrieve(asked, 20)
        theirs = BM25(index.snapshot, k1, b).retrieve(asked, 20).as_dict()["q"]
        np.testing.assert_allclose([theirs[hit.doc] for hit in ours.hits("q")], [hit.score for hit in ours.hits("q")], rtol=1e-4)


def test_a_cluster_gives_the_scores_of_one_index(tmp_path, documents, queries):
    Index.build(tmp_path / "whole", documents, settings=PLAIN).close()
    folders = []
    for number, some in enumerate(partition(documents, 3)):
        folders.append(tmp_path / str(number))
        Index.build(folders[-1], some, settings=PLAIN).close()
    options = {"channels": ["bm25"], "fields": [str(one) for one in FIELDS]}
    with Index(tmp_path / "whole") as single, ClusterIndex.of(folders) as cluster:
        ours, theirs = (one.run(queries, depth=50, **options) for one in (cluster, single))
        for query in queries:
            assert [hit.doc for hit in ours.hits(query.id)] == [hit.doc for hit in theirs.hits(query.id)]
        np.testing.assert_allclose(ours.score, theirs.score, rtol=1e-6)


def test_what_cannot_be_searched_is_refused(snapshot, documents, tmp_path):
    with pytest.raises(UnknownFieldError, match="the index has no words of the field 'court'; it has title, headings, text"):
        BM25F(snapshot, fields=(FieldWeight("court"),))
    with pytest.raises(ConfigError, match=r"written title=2:0\.5"):
        FieldWeight.parse("title=x")
    with Index.build(tmp_path / "index", documents, settings=PLAIN) as index:
        with pytest.raises(ConfigError, match="leave out b, kli and terms"):
            index.search("word01", channels=["bm25"], fields=["text"], b=0.3)
        index.snapshot.segments[:] = [Segment(one.ids, one.channels) for one in index.snapshot.segments]
        with pytest.raises(ConfigError, match="lexfuse index INDEX --rebuild"):
            index.search("word01", channels=["bm25"], fields=["text"])
