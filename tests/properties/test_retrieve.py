"""What must hold for every index and every query, whatever the retriever."""

import shutil
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.channels.lexical.ngram_tfidf import NgramChoice, NgramTfIdf
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings

RETRIEVERS = (
    BM25,
    lambda snapshot: BM25(snapshot, 0.9, 0.4, IdfForm.ROBERTSON),
    TfIdf,
    lambda snapshot: NgramTfIdf.fit(snapshot, NgramChoice(n=2)),
)
PLAIN = IndexSettings(fields={"title": 2.0, "text": 1.0}, stems=False, stop_words=False, citations=False)

words = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij"]), max_size=8).map(" ".join)
corpora = st.dictionaries(st.text("abc01", min_size=1, max_size=3), st.tuples(words, words), min_size=1, max_size=10)
queries = st.lists(words, min_size=1, max_size=3).map(
    lambda texts: Queries.of(Query(f"q{at}", text, "en") for at, text in enumerate(texts))
)
few = settings(max_examples=20, deadline=None)


def documents(corpus):
    return [Document(id, title=title, text=text, language="en") for id, (title, text) in corpus.items()]


class Built:
    """An index in a folder that goes with it: a batch of documents after the other, then deletions."""

    def __init__(self, *batches, deleted=()):
        self.folder = tempfile.mkdtemp()
        index = IndexFolder.create(Path(self.folder, "index"), PLAIN)
        for batch in batches:
            index.add(batch)
        if deleted:
            index.delete(list(deleted))
        self.snapshot = index.snapshot()
        index.close()

    def __enter__(self):
        return self.snapshot

    def __exit__(self, *_):
        self.snapshot.close()
        shutil.rmtree(self.folder)


@few
@given(corpora, corpora, queries, st.integers(0, 10))
def test_added_and_deleted_is_never_added(corpus, other, asked, cut):
    """Also: into how many segments documents fall does not matter."""
    kept = documents(corpus)
    passing = [Document(f"x{document.id}", text=document.text, language="en") for document in documents(other)]
    gone = [document.id for document in passing]
    with Built(kept) as plain, Built([*kept[:cut], *passing], kept[cut:], deleted=gone) as changed:
        for make in RETRIEVERS:
            expected, found = make(plain).retrieve(asked, 100), make(changed).retrieve(asked, 100)
            assert found.as_dict() == {query: pytest.approx(scores, abs=1e-6) for query, scores in expected.as_dict().items()}


@few
@given(corpora, queries, st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(corpus, asked, random):
    shuffled = documents(corpus)
    random.shuffle(shuffled)
    with Built(documents(corpus)) as one, Built(shuffled) as other:
        for make in RETRIEVERS:
            assert make(one).retrieve(asked, 100).as_dict() == make(other).retrieve(asked, 100).as_dict()


@few
@given(corpora, queries, st.integers(1, 12), st.data())
def test_a_filter_only_drops(corpus, asked, k, data):
    with Built(documents(corpus)) as snapshot:
        flags = data.draw(st.lists(st.booleans(), min_size=len(snapshot), max_size=len(snapshot)))
        for retriever in (make(snapshot) for make in RETRIEVERS):
            filtered = retriever.retrieve(asked, k, within=np.array(flags))
            for query, hits in retriever.retrieve(asked, 100).as_dict().items():
                allowed = [(doc, score) for doc, score in hits.items() if flags[snapshot.ids.ordinal(doc)]]
                assert [(hit.doc, hit.score) for hit in filtered.hits(query)] == allowed[:k]


@few
@given(corpora, queries, st.integers(1, 12), st.integers(0, 10))
def test_a_prefix_is_stable_ranked_by_the_tie_rule_and_scored_alike(corpus, asked, k, cut):
    rows = documents(corpus)
    with Built(rows[:cut], rows[cut:]) as snapshot:
        for retriever in (make(snapshot) for make in RETRIEVERS):
            everything, first = retriever.retrieve(asked, 100), retriever.retrieve(asked, k)
            assert retriever.score(asked, everything).tobytes() == everything.score.tobytes()
            for query in asked.ids:
                hits = everything.hits(query)
                assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.doc))
                assert first.hits(query) == hits[:k]
                assert all(retriever.bounds.low <= hit.score <= retriever.bounds.high for hit in hits)


@few
@given(corpora, queries)
def test_explanations_add_up(corpus, asked):
    with Built(documents(corpus)) as snapshot:
        for retriever, query in product([make(snapshot) for make in RETRIEVERS], asked):
            for hit in retriever.retrieve(asked, 100).hits(query.id):
                total = sum(part.contribution for part in retriever.evidence(query, [hit.doc])[0].terms)
                assert total == pytest.approx(hit.score, abs=1e-5)
