"""The corpus as columns."""

from datetime import date

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.errors import DataError, NotFoundError

FULL = Document(
    "L1",
    title="Article L1",
    text="Tout projet de réforme…",
    language="fr",
    kind=DocumentKind.STATUTE,
    code="Code du travail",
    number="L1",
    headings=("Partie législative", "Titre I"),
    court="",
    date=date(2007, 3, 12),
    valid_from=date(2008, 5, 1),
    valid_to=None,
    status=DocumentStatus.IN_FORCE,
    identifiers=("JORF 61",),
    citations=("L2",),
    extra={"nota": None, "nested": {"a": [1, 2]}},
)


def test_a_document_comes_back_as_it_went_in():
    corpus = Corpus.of([Document("a"), FULL])
    assert corpus[1] == FULL
    assert corpus[0] == Document("a")
    assert list(corpus) == [Document("a"), FULL]


def test_dates_are_a_column_that_compares():
    corpus = Corpus.of([FULL, Document("a")])
    assert (corpus.valid_from <= np.datetime64("2010-01-01")).tolist() == [True, False]
    assert np.isnat(corpus.valid_to).all()


def test_duplicate_ids_are_refused():
    with pytest.raises(DataError, match="'a' is repeated"):
        Corpus.of([Document("a"), Document("a")])


def test_an_unknown_document_is_not_found():
    with pytest.raises(NotFoundError):
        Corpus.of([FULL]).document("L9")


def test_select_keeps_the_order_asked_for():
    corpus = Corpus.of([Document("a"), Document("b"), FULL])
    assert [document.id for document in corpus.select(np.array([2, 0]))] == ["L1", "a"]


def test_columns_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        Corpus.of([FULL]).date[0] = np.datetime64("2020-01-01")
