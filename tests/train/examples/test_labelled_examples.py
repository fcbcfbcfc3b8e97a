"""Judged queries as examples and as a pool: nothing relevant is a negative, nothing is left out in silence."""

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import WordUnits
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.examples import NOTHING
from lexfuse.train.examples.labelled_examples import PassageWindow, judged_examples, judged_pool

CORPUS = Corpus.of(
    [
        Document("a", title="Article 1", text="Le préavis dure un mois.", headings=("Livre I",)),
        Document("b", text="Le bail est nul."),
        Document("c", text="La mer est calme."),
        Document("twin", text="Le bail est nul."),
        Document("empty"),
    ]
)
QUERIES = Queries.of([Query("q", "durée du préavis"), Query("r", "nullité du bail"), Query("blank", " ")])


def test_one_example_for_each_relevant_document():
    examples = judged_examples(CORPUS, QUERIES, Qrels.of([("q", "a", 2), ("q", "b", 1), ("r", "c", 1), ("r", "a", 0)]))
    assert list(examples.rows()) == [
        ("durée du préavis", "Article 1 Livre I Le préavis dure un mois.", [], "judged"),
        ("durée du préavis", "Le bail est nul.", [], "judged"),
        ("nullité du bail", "La mer est calme.", [], "judged"),
    ]
    assert examples.answering(0).tolist() == [0, 1]


def test_negatives_without_what_is_relevant_too_close_or_has_the_same_text():
    negatives = Run.of("bm25", {"r": {"twin": 4.0, "c": 3.0, "a": 2.0, "empty": 1.0}})
    examples = judged_examples(
        CORPUS, QUERIES, Qrels.of([("r", "b", 1)]), negatives=negatives, too_close=Run.of("bm25", {"r": {"a": 5.0}})
    )
    ((_, _, others, _),) = examples.rows()
    assert others == ["La mer est calme."]  # twin has the text of b, a is too close, and an empty text tells nothing


def test_what_is_too_close_never_counts_as_a_negative_of_others_either():
    qrels = Qrels.of([("q", "a", 1), ("r", "b", 1)])
    examples = judged_examples(CORPUS, QUERIES, qrels, too_close=Run.of("bm25", {"q": {"b": 5.0}}))
    assert [examples.passages[at] for at in examples.answering(0)] == [examples.passages[0], "Le bail est nul."]


def test_documents_of_a_ranking_that_are_not_in_the_corpus_are_told():
    report = ReadReport()
    run = Run.of("bm25", {"q": {"strange": 2.0, "c": 1.0}})
    examples = judged_examples(CORPUS, QUERIES, Qrels.of([("q", "a", 1)]), negatives=run, report=report)
    assert [row[2] for row in examples.rows()] == [["La mer est calme."]]
    assert any("1 documents of the ranking are not in the corpus" in line for line in report.lines())


def test_queries_without_positives_are_told():
    report = ReadReport()
    judged_examples(CORPUS, QUERIES, Qrels.of([("q", "a", 1), ("r", "b", 0)]), report=report)
    assert report.lines() == ["1 noted: 1 queries have no relevant document and are not used: 'r'"]


def test_relevant_documents_without_text_are_told():
    report = ReadReport()
    examples = judged_examples(CORPUS, QUERIES, Qrels.of([("q", "a", 1), ("q", "empty", 1)]), report=report)
    assert len(examples) == 1
    assert report.lines() == ["1 noted: 1 relevant documents have no text; they are not learned from"]


@pytest.mark.parametrize(
    ("judgements", "said"),
    [
        ([], "there are no judgements"),
        ([("q", "a", 0)], "none of 1 judged queries has a relevant document"),
        ([("q", "gone", 1)], "document 'gone', relevant to query 'q', is not in the corpus"),
        ([("who", "a", 1)], "judged query 'who' is not among the queries"),
        ([("blank", "a", 1)], "query 'blank' has no text"),
        ([("q", "empty", 1)], "no query has a relevant document with a text"),
    ],
)
def test_bad_judgements(judgements, said):
    with pytest.raises(DataError, match=said):
        judged_examples(CORPUS, QUERIES, Qrels.of(judgements))


def test_bad_records_can_be_skipped():
    report = ReadReport(skip_bad=True)
    examples = judged_examples(CORPUS, QUERIES, Qrels.of([("q", "gone", 1), ("q", "a", 1), ("who", "a", 1)]), report=report)
    assert len(examples) == 1
    assert report.skipped == 2


def many(count=50):
    return Corpus.of(Document(f"d{at:02}", text=f"article {at}") for at in range(count))


def test_the_pool_is_the_whole_corpus_or_what_is_judged_and_a_sample():
    corpus, qrels = many(), Qrels.of([("q", "d07", 1), ("q", "d09", 0)])
    assert len(judged_pool(corpus, QUERIES, qrels).docs) == 50
    some = judged_pool(corpus, QUERIES, qrels, most=10)
    assert len(some.docs) == 10
    assert {"d07", "d09"} <= set(some.docs)
    assert some.docs == judged_pool(corpus, QUERIES, qrels, most=10).docs  # the same every time
    assert some.docs != judged_pool(corpus, QUERIES, qrels, most=10, seed=2).docs
    assert list(judged_pool(corpus, QUERIES, qrels, most=1).docs) == ["d07", "d09"]  # all judged ones, whatever is asked


def test_the_pool_measures_a_document_by_its_best_passage():
    long = Document("long", title="Titre", text=" ".join(f"mot{at}" for at in range(30)))
    corpus = Corpus.of([long, Document("short", text="un mot")])
    pool = judged_pool(corpus, QUERIES, Qrels.of([("q", "long", 1)]), units=PassageWindow(WordUnits(), 12, 2))
    assert set(pool.owner.tolist()) == {0, 1}
    assert len(pool.passages) >= 4  # 30 words in windows of 10, with the title before each
    assert all(text.startswith("Titre mot") for text in pool.passages[:-1])
    assert sum(text.count("mot29") for text in pool.passages) >= 1  # nothing is cut
    scores = np.zeros((1, len(pool.passages)), np.float32)
    scores[0, -1], scores[0, 2] = 0.5, 0.9
    assert pool.measured(scores)["RR@100"] == 1.0


def test_candidates_are_the_passages_of_the_first_ranked_documents():
    corpus, qrels = many(), Qrels.of([("q", "d07", 1), ("r", "d01", 1)])
    run = Run.of("bm25", {"q": {"d30": 3.0, "d07": 2.0, "d31": 1.0}, "r": {"d02": 1.0}})
    pool = judged_pool(corpus, QUERIES, qrels, candidates=run, depth=2)
    assert list(pool.docs) == ["d01", "d02", "d07", "d30"]
    assert [[pool.docs[at] for at in row if at != NOTHING] for row in pool.candidates] == [["d30", "d07"], ["d02"]]


def test_a_ranking_without_candidates_is_refused():
    with pytest.raises(DataError, match="has no document of the corpus"):
        judged_pool(CORPUS, QUERIES, Qrels.of([("q", "a", 1)]), candidates=Run.of("bm25", {"other": {"a": 1.0}}))


def test_an_empty_pool_is_refused():
    with pytest.raises(ConfigError, match="at least 1 document"):
        judged_pool(CORPUS, QUERIES, Qrels.of([("q", "a", 1)]), most=0)
