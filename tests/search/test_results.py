"""Answers to one question: what of the retrievers is shown, and what is not computed for it."""

from dataclasses import dataclass, field

import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Query
from lexfuse.index import Index
from lexfuse.search.results import ResultBuilder, find_documents


@dataclass(frozen=True)
class Watched(TfIdf):
    """TF-IDF that keeps what it was asked to show."""

    shown: list[list[str]] = field(default_factory=list, compare=False)

    def evidence(self, query, docs):
        self.shown.append(list(docs))
        return super().evidence(query, docs)


@pytest.fixture
def snapshot(tmp_path):
    texts = {"a": "Le bail est nul.", "b": "Le loyer du bail est dû."}
    with Index.build(tmp_path / "law.index", [Document(id, text=text, language="fr") for id, text in texts.items()]) as index:
        yield index.snapshot


@pytest.mark.parametrize("first", [True, False])
def test_terms_are_those_of_the_first_retriever_that_has_some(snapshot, first):
    query, bm25, tfidf = Query("q", "bail", "fr"), BM25(snapshot), Watched(snapshot)
    members = [tfidf, bm25] if first else [bm25, tfidf]
    found = find_documents(bm25, query, 2)
    answers = ResultBuilder(members, query).answers(found)
    docs = [one.id for one in answers]
    terms = members[0].evidence(query, docs)
    assert [one.parts for one in answers] == [one.terms for one in terms]
    alone = ResultBuilder([bm25], query).answers(found)
    assert [one.snippet.matches for one in answers] == [one.snippet.matches for one in alone]
    assert tfidf.shown == ([docs, docs] if first else []), "terms that are not shown are not computed"
