"""The figures of BSARD's tables 1 and 3 and CJEU's tables 1, 2 and 7, counted by hand."""

import datetime

import pytest

from lexfuse.data.collection_statistics import ParagraphCitations, spread, statistics_of, summary_of
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query


def day(year):
    return datetime.date(year, 6, 1)


@pytest.fixture
def articles():
    corpus = Corpus.of(
        [
            Document("1", text="Un deux trois", code="Code civil"),
            Document("2", text="un quatre", code="Code civil"),
            Document("3", text="Deux", code="Code pénal"),
        ]
    )
    queries = Queries.of(
        [
            Query("a", "qui", extra={"category": "Family"}),
            Query("b", "quoi donc là", extra={"category": "Work"}),
            Query("c", "où"),
        ]
    )
    qrels = {"train": Qrels.of([("a", "1", 1), ("a", "3", 2)]), "test": Qrels.of([("b", "1", 1), ("c", "2", 0)])}
    return Collection(corpus, queries, qrels)


@pytest.fixture
def paragraphs():
    texts = {"A#1": "one two", "A#2": "three", "B#1": "four five six", "C#9": "nobody cites me"}
    dates = {"A": 2015, "B": 2018, "C": 2019}
    documents = [Document(id, text=text, kind=DocumentKind.PARAGRAPH, date=day(dates[id[0]])) for id, text in texts.items()]
    queries = Queries.of([Query("B#1", "four five six", date=day(2018)), Query("D#4", "seven", date=day(2020))])
    qrels = {
        "train": Qrels.of([("B#1", "A#1", 1), ("B#1", "A#2", 1)]),
        "test": Qrels.of([("D#4", "A#1", 1), ("D#4", "B#1", 1), ("D#4", "C#9", 0)]),
    }
    return Collection(Corpus.of(documents), queries, qrels)


def test_articles_by_code_and_questions_by_topic(articles):
    found = statistics_of(articles)
    assert found["topics"] == {"Family": 1, "Work": 1, "none": 1}
    assert found["relevant_documents"] == {"Code civil": 1, "Code pénal": 1}  # 2 is judged 0
    assert found["vocabulary"] == 4
    assert found["query_words"] == spread([1, 3, 1])
    assert found["splits"]["train"]["relevant_of_a_query"] == spread([2])
    assert "years" not in found
    assert "paragraph_citations" not in found
    assert summary_of(articles)["words"] == {"total": 6, **spread([3, 2, 1])}


def test_paragraphs_and_decisions_that_cite(paragraphs):
    found = statistics_of(paragraphs)
    cited = found["paragraph_citations"]
    assert (cited["decisions"], cited["paragraphs"], cited["citations"]) == (3, 4, 4)  # C#9 neither cites nor is cited
    assert cited["paragraphs_of_a_decision"] == spread([2, 1, 1])
    assert cited["words_of_a_paragraph"] == spread([2, 1, 3, 1])
    assert cited["inbound_citations"] == spread([2, 1, 1])
    assert cited["outbound_citations"] == spread([2, 2])
    assert cited["inbound_citations_of_a_decision"] == spread([3, 1])
    assert cited["outbound_citations_of_a_decision"] == spread([2, 2])
    assert found["years"] == {"2015": 2, "2018": 1, "2019": 1}
    train, test = found["splits"]["train"], found["splits"]["test"]
    assert (train["first_year"], train["last_year"], train["relevant"]) == (2018, 2018, 2)
    assert (test["first_year"], test["relevant"], test["queries_and_relevant_documents"]) == (2020, 2, 3)


def test_a_pair_that_two_splits_judge_counts_once(paragraphs):
    twice = Collection(paragraphs.corpus, paragraphs.queries, {"a": paragraphs.qrels["train"], "b": paragraphs.qrels["train"]})
    assert len(ParagraphCitations.of(twice).edges) == 2


def test_documents_alone_have_lengths_and_a_vocabulary():
    found = statistics_of(Collection(Corpus.of([Document("a", text="Un mot")])))
    assert found == {"vocabulary": 2}
    assert spread([]) == {}
