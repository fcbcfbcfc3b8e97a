"""A document as the query, its own document found again, and candidates by date."""

import datetime

import numpy as np
import pytest

from lexfuse.data.document import Document
from lexfuse.data.queries import Query
from lexfuse.errors import DataError
from lexfuse.search.similar import candidates, query_of, same_documents
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings

DAY = datetime.date(2020, 5, 1)
DOCUMENTS = [
    Document("a", "Lease", "The lease\n ended by notice.", "en", headings=("Book I", "Rent"), date=DAY),
    Document("b", "Twin", "The lease ended by notice.", "en", date=datetime.date(2019, 1, 1)),
    Document("c", "Other", "The lease ended by notice of the court.", "en", date=datetime.date(2021, 1, 1)),
    Document("d", "Undated", "Another lease.", "en"),
]


@pytest.fixture
def snapshot(tmp_path):
    with IndexFolder.create(tmp_path / "index", documents=DOCUMENTS) as index, index.snapshot() as snapshot:
        yield snapshot


def test_a_document_is_asked_by_all_that_is_indexed_of_it(snapshot, tmp_path):
    query = query_of(snapshot, DOCUMENTS[0])
    assert (query.text, query.language, query.date) == ("Lease\nBook I \nRent\nThe lease\n ended by notice.", "en", DAY)
    with IndexFolder.create(tmp_path / "titles", IndexSettings(fields={"title": 1.0})) as index, index.snapshot() as titles:
        assert query_of(titles, DOCUMENTS[0]).text == "Lease"
        with pytest.raises(DataError, match="'e' has no words"):
            query_of(titles, Document("e", text="text only"))


def test_documents_of_the_same_text_are_found_however_spaced(snapshot):
    assert same_documents(snapshot, Query("q", "\tThe  lease ended by\n\nnotice. ")) == ("a", "b")
    assert same_documents(snapshot, Query("q", "The lease ended by notice")) == ()
    assert same_documents(snapshot, Query("q", "xyzzy")) == ()


def test_nothing_asked_for_changes_nothing(snapshot):
    assert candidates(snapshot, None).within is None
    given = np.array([True, False, True, False])
    assert candidates(snapshot, given).within is given


def test_own_and_later_documents_are_no_candidates_and_are_counted(snapshot):
    ids, given = list(snapshot.ids), np.ones(4, dtype=bool)
    found = candidates(snapshot, given, own=("a",), before=DAY)
    assert [id for id, kept in zip(ids, found.within.tolist(), strict=True) if kept] == ["b"]
    assert (found.own, found.later, found.undated) == (("a",), 1, 1)
    assert given.all()  # the caller's mask stays as it is
    only_later = candidates(snapshot, np.array([id == "c" for id in ids]), before=DAY)
    assert (int(only_later.within.sum()), only_later.later, only_later.undated) == (0, 1, 0)
    same_day = candidates(snapshot, None, before=DAY)
    assert not same_day.within[ids.index("a")]  # dated on the day, not before it
