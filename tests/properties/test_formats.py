"""For every format: what is read is what was written, writing it again gives the same bytes, and line order is only order."""

import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.beir import Collection, read_collection, write_collection
from lexfuse.data.formats.file_format import read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.formats.trec_qrels import read_qrels, write_qrels
from lexfuse.data.formats.trec_run import read_run, write_run
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run

few = settings(max_examples=30, deadline=None)
FORMATS = ["c.jsonl", "c.jsonl.gz", "c.csv", "c.parquet"]

hard = st.sampled_from(
    ["", "\r", "\n", "\r\n", "\x85", "\u2028", "\ufeff", '"', '""', "\t", "\0", ",", ";", " > ", "[", "{", "é", "𝄞"]
)
text = st.one_of(st.text(max_size=20), st.lists(hard, max_size=4).map("".join))
name = text.filter(bool)
days = st.one_of(st.none(), st.dates(date(1000, 1, 1), date(2199, 12, 31)))
words = st.lists(text, max_size=3).map(tuple)
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
known = st.sampled_from(
    ["id", "_id", "text", "contents", "kind", "paragraph", "etat", "ecli", "cases", "extra", "metadata", "date"]
)
extra = st.dictionaries(known | text, json, max_size=3)
documents = st.builds(
    Document,
    name,
    text,
    text,
    text,
    st.sampled_from(DocumentKind),
    text,
    text,
    words,
    text,
    days,
    days,
    days,
    st.sampled_from(DocumentStatus),
    words,
    words,
    extra,
)
corpora = st.lists(documents, min_size=1, max_size=4, unique_by=lambda document: document.id)
queries = st.lists(st.builds(Query, name, text, text, days, extra), max_size=4, unique_by=lambda query: query.id)

word = st.text(min_size=1, max_size=6).filter(lambda word: word.split() == [word] and not word.startswith("\ufeff"))
cell = name.filter(lambda name: not set("\t\r\n") & set(name) and not name.startswith("\ufeff"))
rankings = st.dictionaries(
    word, st.dictionaries(word, st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=5), max_size=4
)
grades = st.integers(-(2**31) + 1, 2**31 - 1)


def judgements(ids):
    return st.dictionaries(st.tuples(ids, ids), grades, max_size=8).map(
        lambda pairs: [(*pair, grade) for pair, grade in pairs.items()]
    )


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


@pytest.mark.parametrize("file", FORMATS)
@given(rows=corpora)
@few
def test_corpora(folder, file, rows):
    write_corpus(Corpus.of(rows), folder / file)
    first = (folder / file).read_bytes()
    read = read_corpus(folder / file)
    assert list(read) == rows
    write_corpus(read, folder / file)
    assert (folder / file).read_bytes() == first


@pytest.mark.parametrize("file", FORMATS)
@given(rows=queries)
@few
def test_queries(folder, file, rows):
    write_queries(Queries.of(rows), folder / file)
    first = (folder / file).read_bytes()
    read = read_queries(folder / file)
    assert list(read) == rows
    write_queries(read, folder / file)
    assert (folder / file).read_bytes() == first


@pytest.mark.parametrize("file", FORMATS)
@given(rows=corpora, data=st.data())
@few
def test_permuting_documents_changes_nothing_but_ordinals(folder, file, rows, data):
    shuffled = data.draw(st.permutations(rows))
    write_corpus(Corpus.of(shuffled), folder / file)
    read = read_corpus(folder / file)
    assert {document.id: read.document(document.id) for document in rows} == {document.id: document for document in rows}


@given(rows=corpora, asked=queries, grade=grades, gzipped=st.booleans())
@few
def test_collections(folder, rows, asked, grade, gzipped):
    triples = [(query.id, row.id, grade) for query in asked for row in rows]
    fits = all(not set("\t\r\n") & set(query + doc) and "\ufeff" not in (query[0], doc[0]) for query, doc, _ in triples)
    collection = Collection(Corpus.of(rows), Queries.of(asked), {"test": Qrels.of(triples if fits else [])})
    write_collection(collection, folder / "a", gzipped=gzipped, replace=True)
    read = read_collection(folder / "a")
    assert (list(read.corpus), list(read.queries)) == (rows, asked)
    assert read.qrels["test"].as_dict() == collection.qrels["test"].as_dict()
    write_collection(read, folder / "b", gzipped=gzipped, replace=True)
    files = [path.relative_to(folder / "a") for path in (folder / "a").rglob("*") if path.is_file()]
    assert len(files) == 3
    assert all((folder / "a" / file).read_bytes() == (folder / "b" / file).read_bytes() for file in files)


@pytest.mark.parametrize("file", ["x.trec", "x.trec.gz"])
@given(ranked=rankings)
@few
def test_runs(folder, file, ranked):
    run = Run.of("x", ranked)
    write_run(run, folder / file)
    first = (folder / file).read_bytes()
    read = read_run(folder / file)
    assert read.as_dict() == run.as_dict()
    assert read.score.tobytes() == run.score.tobytes()
    write_run(read, folder / file)
    assert (folder / file).read_bytes() == first


@given(ranked=rankings, data=st.data())
@few
def test_permuting_lines_of_a_run_changes_nothing_but_ordinals(folder, ranked, data):
    run = Run.of("x", ranked)
    write_run(run, folder / "x.trec")
    lines = (folder / "x.trec").read_bytes().splitlines(keepends=True)
    (folder / "x.trec").write_bytes(b"".join(data.draw(st.permutations(lines))))
    read = read_run(folder / "x.trec")
    assert {query: read.hits(query) for query in ranked} == {query: run.hits(query) for query in ranked}


@pytest.mark.parametrize(("file", "ids"), [("test.tsv", cell), ("test.tsv.gz", cell), ("x.qrels", word)])
@given(data=st.data())
@few
def test_judgements(folder, file, ids, data):
    triples = data.draw(judgements(ids))
    qrels = Qrels.of(triples)
    write_qrels(qrels, folder / file)
    first = (folder / file).read_bytes()
    read = read_qrels(folder / file)
    assert read.as_dict() == qrels.as_dict()
    assert read.queries == qrels.queries
    write_qrels(read, folder / file)
    assert (folder / file).read_bytes() == first


@given(triples=judgements(cell), data=st.data())
@few
def test_permuting_judgements_changes_nothing_but_ordinals(folder, triples, data):
    write_qrels(Qrels.of(data.draw(st.permutations(triples))), folder / "test.tsv")
    read = read_qrels(folder / "test.tsv")
    assert sorted((query, doc, grade) for query, row in read.as_dict().items() for doc, grade in row.items()) == sorted(triples)


def test_scores_of_every_size_survive(folder):
    score = np.float32([0.1, 1e-45, 1.1754944e-38, 3.4028235e38, -0.0, 16777217, 1 / 3, 9.999999e22])
    ranking = {f"d{at}": float(value) for at, value in enumerate(score)}
    write_run(Run.of("x", {"q": ranking}), folder / "x.trec")
    assert read_run(folder / "x.trec").as_dict() == Run.of("x", {"q": ranking}).as_dict()
