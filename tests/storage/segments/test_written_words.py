"""Words of an index: documents that were deleted no longer count, and versions of other days do."""

import datetime
from dataclasses import replace

import pytest

from lexfuse import Document, Index
from lexfuse.storage.segments.written_words import WordDocuments


@pytest.fixture
def index(tmp_path):
    texts = {"a": "Le bailleur et le locataire.", "b": "Le bailleur donne congé.", "c": "Le juge entend le bailleur."}
    documents = [Document(id, text=text, language="fr") for id, text in texts.items()]
    with Index.build(tmp_path / "law.index", documents) as built:
        yield built


def test_words_of_deleted_documents_do_not_count(index):
    assert index.snapshot.written_words.counts() == {
        "bailleur": 3, "locataire": 1, "donne": 1, "conge": 1, "juge": 1, "entend": 1
    }  # fmt: skip
    index.delete(["a"])
    words = index.snapshot.written_words
    assert words.counts() == {"bailleur": 2, "donne": 1, "conge": 1, "juge": 1, "entend": 1}
    assert (words.first_document("bailleur"), words.first_document("locataire")) == ("b", "")


def test_documents_are_counted_over_all_segments(index):
    index.add([Document("d", text="Congé du bailleur, congé du juge", language="fr")])
    found = index.snapshot.written_words.together(["juge", "conge", "absent"], ["bailleur"])
    assert found == [WordDocuments(2, 2), WordDocuments(2, 2), WordDocuments(0, 0)]
    assert index.snapshot.written_words.counts()["conge"] == 3


def test_words_are_counted_in_the_versions_of_all_days_and_found_in_those_of_one(tmp_path):
    old = Document(
        "a", text="Le bailleur.", language="fr", valid_from=datetime.date(2000, 1, 1), valid_to=datetime.date(2010, 1, 1)
    )
    new = replace(old, text="Le propriétaire.", valid_from=datetime.date(2010, 1, 1), valid_to=None)
    with Index.build(tmp_path / "law.index", [replace(new, history=(old,))]) as built:
        assert built.snapshot.has_history
        for day, held in (
            ("2005-01-01", {"bailleur": "a", "proprietaire": ""}),
            ("2020-01-01", {"bailleur": "", "proprietaire": "a"}),
        ):
            words = built.snapshot.on(datetime.date.fromisoformat(day)).written_words
            assert words.counts() == {"bailleur": 1, "proprietaire": 1}
            assert {word: words.first_document(word) for word in held} == held
