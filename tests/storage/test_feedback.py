"""Feedback in the catalog: kept beside what is searched, through every change of the index but a new one in its place."""

import sqlite3
import subprocess
import sys
import textwrap
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

import pytest

from lexfuse.data.document import Document
from lexfuse.errors import BusyError, DataError, NotFoundError
from lexfuse.storage.catalog import Catalog
from lexfuse.storage.feedback import WAIT_TO_KEEP, FeedbackEntry, qrels_of, query_id
from lexfuse.storage.index_folder import IndexFolder

NOON = datetime(2024, 5, 17, 12, 0, 0, 123456, tzinfo=UTC)


def said(query="notice", doc="a", grade=1, **more):
    return FeedbackEntry(query, doc, grade, **{"generation": 1, "moment": NOON} | more)


def document(id, text="contract notice"):
    return Document(id, text=text, language="en")


@pytest.fixture
def index(tmp_path):
    with IndexFolder.create(tmp_path / "i", documents=[document("a"), document("b", "lease tenant")]) as made:
        yield made


def tables(index):
    connection = sqlite3.connect(index.folder / "catalog.sqlite")
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return found


def generation(index):
    with index.snapshot() as snapshot:
        return snapshot.generation


def test_what_is_kept_comes_back_in_its_order(index):
    given = [
        said("'; DROP TABLE feedback; --", "b", 0, profile="labour law", rank=12, generation=3),
        said("préavis\x00😀 " + "loi " * 50_000, "a", -1),
        said(moment=NOON - timedelta(days=400)),
    ]
    index.feedback.keep(given[0])
    index.feedback.keep(*given[1:])
    assert index.feedback.kept() == given
    with IndexFolder(index.folder) as other:
        assert other.feedback.kept() == given


def test_moments_are_kept_in_utc_and_are_now_unless_given(index):
    before, paris = datetime.now(UTC), timezone(timedelta(hours=2))
    index.feedback.keep(said(moment=datetime(2024, 5, 17, 1, tzinfo=paris)), FeedbackEntry("q", "a", 1, generation=0))
    first, second = index.feedback.kept()
    assert first.moment.isoformat() == "2024-05-16T23:00:00+00:00"
    assert before <= second.moment <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": "  "}, "query must be a text that says something, got '  '"),
        ({"query": 3}, "query must be a text"),
        ({"query": "ab\ud800"}, "query has a lone surrogate at position 2"),
        ({"doc": ""}, "doc must be a text that says something"),
        ({"profile": None}, "profile must be a text, got None"),
        ({"grade": 1.5}, "grade must be a whole number, got 1.5"),
        ({"grade": True}, "grade must be a whole number, got True"),
        ({"grade": 2**31}, "grade must be a whole number"),
        ({"rank": 0}, "rank must be a whole number from 1, or none, got 0"),
        ({"rank": "1"}, "rank must be a whole number from 1, or none, got '1'"),
        ({"generation": -1}, "generation must be a whole number from 0, got -1"),
        ({"moment": datetime(2024, 5, 17)}, "moment must be a date and time with its time zone"),
        ({"moment": "2024-05-17"}, "moment must be a date and time with its time zone"),
    ],
)
def test_what_cannot_be_kept_is_refused(wrong, message):
    with pytest.raises(DataError, match=f"feedback: {message}"):
        said(**wrong)


def test_a_document_that_is_not_there_keeps_all_out(index):
    with pytest.raises(NotFoundError, match="feedback: the index has no document 'z'; nothing was kept"):
        index.feedback.keep(said(), said(doc="z"))
    assert index.feedback.kept() == []


def test_what_was_said_about_one_query_is_found_and_one_pair_taken_back(index):
    given = [said("rent"), said("rent", "b"), said("notice"), said("rent", grade=0)]
    index.feedback.keep(*given)
    before = generation(index)
    assert index.feedback.kept("rent") == [given[0], given[1], given[3]]
    assert index.feedback.kept("Rent") == index.feedback.kept("") == []
    assert index.feedback.remove("rent", "a") == 2
    assert index.feedback.remove("rent", "a") == 0
    assert index.feedback.kept() == given[1:3]
    assert generation(index) == before
    for ask in (lambda: index.feedback.kept("\ud800"), lambda: index.feedback.remove("q", "\ud800")):
        with pytest.raises(DataError, match="lone surrogate at position 0"):
            ask()


def test_an_index_without_feedback_is_as_it_always_was(index):
    index.feedback.keep()
    assert index.feedback.kept() == index.feedback.kept("notice") == []
    assert index.feedback.remove("notice", "a") == 0
    assert "feedback" not in tables(index)
    index.feedback.keep(said())
    assert "feedback" in tables(index)
    assert index.verify() == []


def test_keeping_makes_no_generation_and_harms_no_reader(index):
    with index.snapshot() as before:
        index.feedback.keep(said())
        index.feedback.keep(said(grade=0))
        assert before.document("a").text == "contract notice"
    assert generation(index) == before.generation


def test_it_outlives_every_change(index):
    index.feedback.keep(said(), said(doc="b"))
    index.add([document("a", "new"), document("c")], update=True)
    index.delete(["b"])
    index.merge()
    index.compact()
    index.rebuild()
    index.feedback.keep(said(doc="c"))
    index.compact()
    assert [one.doc for one in index.feedback.kept()] == ["a", "b", "c"]
    assert index.verify() == []


def test_an_index_in_the_place_of_another_has_none(index):
    index.feedback.keep(said())
    with pytest.raises(DataError), IndexFolder.create(index.folder, documents=[document("x"), document("x")], replace=True):
        pass
    assert len(index.feedback.kept()) == 1
    with IndexFolder.create(index.folder, documents=[document("a")], replace=True) as new:
        assert new.feedback.kept() == []
        new.feedback.keep(said(grade=3))
        assert [one.grade for one in new.feedback.kept()] == [3]


def test_a_busy_writer_is_waited_for(index, monkeypatch):
    began, waits, writing = threading.Event(), [], Catalog.writing

    def seen(self, wait):
        waits.append(wait)
        began.set()
        return writing(self, 600_000)  # however long the other takes on a busy machine

    with index.changing():
        monkeypatch.setattr(Catalog, "writing", seen)
        thread = threading.Thread(target=index.feedback.keep, args=(said(),))
        thread.start()
        assert began.wait(timeout=600)
        monkeypatch.undo()
    thread.join()
    assert waits == [WAIT_TO_KEEP]
    assert index.feedback.kept() == [said()]


def test_a_writer_that_takes_too_long_is_told_and_nothing_is_kept(index):
    with index.changing():
        with pytest.raises(BusyError, match="being written by another process"):
            index.feedback.keep(said(), wait=0)
        assert index.feedback.kept() == []  # reading waits for nobody
    index.feedback.keep(said(), wait=0)
    assert len(index.feedback.kept()) == 1


def test_many_keep_at_once(index):
    code = """
        import sys
        from lexfuse.storage.feedback import FeedbackEntry
        from lexfuse.storage.index_folder import IndexFolder
        with IndexFolder(sys.argv[1]) as index:
            for number in range(10):
                index.feedback.keep(FeedbackEntry(f"{sys.argv[2]} {number}", "a", 1, generation=1), wait=600_000)
    """
    writers = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), index.folder, name]) for name in "xy"]
    keep = partial(index.feedback.keep, wait=600_000)
    threads = [threading.Thread(target=keep, args=(said(f"t {number}"),)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [writer.wait() for writer in writers] == [0, 0]
    expected = {f"{name} {number}" for name in "xy" for number in range(10)} | {f"t {number}" for number in range(5)}
    found = [one.query for one in index.feedback.kept()]
    assert (len(found), set(found)) == (25, expected)


def test_a_damaged_judgement_is_told(index):
    index.feedback.keep(said())
    connection = sqlite3.connect(index.folder / "catalog.sqlite")
    connection.execute("UPDATE feedback SET moment = 'yesterday'")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match=r"catalog\.sqlite.*feedback is damaged"):
        index.feedback.kept()


def test_the_last_word_on_a_pair_counts():
    given = [
        said("notice", "a", 2),
        said("rent", "a", 1),
        said("notice", "b", 1),
        said("notice", "a", 0, moment=NOON - timedelta(days=1)),  # kept later, whatever its clock said
        said("Notice", "a", 3),
    ]
    queries, qrels = qrels_of(given)
    assert queries.text == ("notice", "rent", "Notice")
    assert list(queries.ids) == [query_id(text) for text in queries.text]
    by_text = {queries.query(id).text: grades for id, grades in qrels.as_dict().items()}
    assert by_text == {"notice": {"a": 0, "b": 1}, "rent": {"a": 1}, "Notice": {"a": 3}}


def test_no_feedback_is_no_qrels():
    queries, qrels = qrels_of([])
    assert (len(queries), len(qrels)) == (0, 0)


def test_ids_of_queries_stay_the_same():
    assert query_id("notice") == "f9368a7d21e018f64"  # the first 16 digits of its sha256


def test_every_judge_has_a_say_and_the_median_counts(index):
    index.feedback.keep(said(grade=3, judge="Zoé"), said(grade=0), said(grade=1, judge="Max"), said(grade=2, judge="Max"))
    index.feedback.keep(said(doc="b", grade=3, judge="Zoé"), said(doc="b", grade=1, judge="Max"), said("rent", judge="Zoé"))
    kept = index.feedback.kept()
    notice, rent = query_id("notice"), query_id("rent")
    assert qrels_of(kept)[1].as_dict() == {notice: {"a": 2, "b": 1}, rent: {"a": 1}}  # of 0, 2, 3; and of 1, 3 the lower
    queries, qrels = qrels_of(kept, "Max")
    assert (queries.text, qrels.as_dict()) == (("notice",), {notice: {"a": 2, "b": 1}})
    with pytest.raises(NotFoundError, match="no judgements by 'Eva'; there are Max, Zoé"):
        qrels_of(kept, "Eva")
    assert [index.feedback.remove("notice", "a", judge) for judge in ("Max", "Eva", "", None)] == [2, 0, 1, 1]
    assert [one.judge for one in index.feedback.kept("notice")] == ["Zoé", "Max"]
    assert index.verify() == []


FORMER = """CREATE TABLE feedback (number INTEGER PRIMARY KEY, query TEXT NOT NULL, doc TEXT NOT NULL, grade INTEGER NOT NULL,
    rank INTEGER, profile TEXT NOT NULL, moment TEXT NOT NULL, generation INTEGER NOT NULL)"""


@pytest.fixture
def former(index):
    """An index whose table of feedback was created before judges had names."""
    with closing(Catalog.open(index.folder)) as catalog, catalog.writing():
        catalog.connection.execute(FORMER)
        row = "notice", "a", 1, 2, "bm25", NOON.isoformat(), 1
        catalog.connection.execute("INSERT INTO feedback VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
    return index


@pytest.mark.parametrize(
    "change", [lambda store: store.keep(said(judge="Zoé")), lambda store: store.remove("notice", "b", "Zoé")]
)
def test_feedback_without_judges_is_read_and_extended(former, change):
    assert former.feedback.kept() == [said(rank=2, profile="bm25")]
    assert former.verify() == []
    former.add([document("c")])  # a change that has nothing to do with it
    change(former.feedback)
    assert former.feedback.kept()[0] == said(rank=2, profile="bm25")
    assert former.verify() == []


def test_damaged_feedback_without_judges_is_not_extended(former):
    connection = sqlite3.connect(former.folder / "catalog.sqlite")
    connection.execute("UPDATE feedback SET grade = 3")
    connection.commit()
    connection.close()
    with pytest.raises(DataError, match="table feedback has other rows than were written"):
        former.feedback.keep(said(judge="Zoé"))
