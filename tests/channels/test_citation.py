"""Citation lookup: what a query names, in its order, by any spelling."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from lexfuse.channels.citation import CitationLookup, article_order
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import DataError
from lexfuse.storage.folder_names import FILE
from lexfuse.storage.index_folder import IndexFolder

LABOUR, RURAL = "Code du travail", "Code rural et de la pêche maritime"


def article(id, number, code=LABOUR):
    return Document(id, number=number, code=code, kind=DocumentKind.STATUTE, text="…")


def paragraph(number):
    return Document(f"p{number}", number=str(number), kind=DocumentKind.PARAGRAPH, identifiers=("ECLI:EU:C:2023:373", "C-60/22"))


@pytest.fixture
def snapshot(tmp_path):
    """Ids that do not sort as the articles do, in two segments, with a deleted one between."""
    index = IndexFolder.create(tmp_path / "index")
    index.add([article("z", "L1237-9"), article("m", "L1237-10"), article("gone", "L1237-10-1"), article("b", "L1237-11")])
    index.add([article("k", "L1237-19"), article("a", "L1237-19", RURAL), article("c", "R1237-19"), article("e", "L1237-12")])
    index.add([paragraph(number) for number in (63, 64, 65)])
    index.delete(["gone"])
    return index.snapshot()


def ranked(snapshot, text, k=10, **options):
    run = CitationLookup(snapshot).retrieve(Queries.of([Query("q", text)]), k, **options)
    return [(hit.doc, round(hit.score, 3)) for hit in run.hits("q")]


@pytest.mark.parametrize(
    "text",
    ["article L. 1237-19 du code du travail", "L’art. L.1237‑19 du code du travail ?", "L1237-19 du Code du travail"],
)
def test_one_article_in_any_spelling(snapshot, text):
    assert ranked(snapshot, text) == [("k", 1.0)]


def test_without_a_code_all_of_that_number_tie_and_go_by_id(snapshot):
    assert ranked(snapshot, "article L. 1237-19") == [("a", 1.0), ("k", 1.0)]


def test_documents_come_in_the_order_named_each_once(snapshot):
    text = "R. 1237-19, L. 1237-9 et R. 1237-19, puis C-60/22, paragraph 64"
    assert ranked(snapshot, text) == [("c", 1.0), ("z", 0.5), ("p64", 0.333)]


def test_a_range_runs_in_the_order_of_the_code(snapshot):
    text = "les articles L. 1237-9 à L. 1237-12 du code du travail"
    assert ranked(snapshot, text) == [("z", 1.0), ("m", 0.5), ("b", 0.333), ("e", 0.25)]


def test_paragraphs_of_a_judgment(snapshot):
    assert ranked(snapshot, "see C‑60/22, EU:C:2023:373, paragraphs 63 and 65") == [("p63", 1.0), ("p65", 1.0)]
    assert ranked(snapshot, "EU:C:2023:373") == [("p63", 1.0), ("p64", 1.0), ("p65", 1.0)]


@pytest.mark.parametrize("text", ["", "préavis", "L. 9999-1", "C-1/99", "article L. 1237-19 du code civil", "L. 1237-10-1"])
def test_nothing_named_nothing_ranked(snapshot, text):
    assert ranked(snapshot, text) == []


def test_filters_do_not_change_scores(snapshot):
    within = np.array([id in ("m", "e", "k") for id in snapshot.ids])
    text = "les articles L. 1237-9 à L. 1237-12 du code du travail"
    assert ranked(snapshot, text, within=within) == [("m", 0.5), ("e", 0.25)]
    assert ranked(snapshot, text, k=1, within=within) == [("m", 0.5)]


def test_scores_of_any_pair(snapshot):
    lookup = CitationLookup(snapshot)
    queries = Queries.of([Query("none", "préavis"), Query("q", "L. 1237-9 puis R. 1237-19")])
    run = lookup.retrieve(queries, 10)
    assert lookup.score(queries, run).tobytes() == run.score.tobytes()
    pairs = Run.of("pairs", {"q": {"a": 3.0, "c": 2.0, "z": 1.0}, "none": {"c": 1.0}})
    assert lookup.score(queries, pairs).tolist() == [0.0, 0.5, 1.0, 0.0]
    assert (lookup.bounds.low, lookup.bounds.high) == (0.0, 1.0)


def test_an_empty_index(tmp_path):
    assert ranked(IndexFolder.create(tmp_path / "index").snapshot(), "article L. 1 du code du travail") == []


def test_order_of_article_numbers():
    printed = [
        "39",
        "39 bis",
        "39 A",
        "40",
        "L1 A",
        "L1",
        "L2",
        "LO3",
        "L1111-1",
        "L1111-1-1",
        "L1111-2",
        "L1111-10",
        "R*1",
        "D2",
    ]
    assert sorted(reversed(printed), key=article_order) == printed


DAMAGES = {"kind": "UPDATE documents SET kind = ?", "identifiers": "UPDATE documents SET identifiers = ?"}


@pytest.mark.parametrize(
    ("column", "value"), [("kind", "sdatute"), ("identifiers", "[1]"), ("identifiers", "{"), ("identifiers", "3")]
)
def test_a_damaged_catalog_is_named(tmp_path, column, value):
    with IndexFolder.create(tmp_path / "index", documents=[article("a", "L1")]):
        pass
    with closing(sqlite3.connect(tmp_path / "index" / FILE)) as connection, connection:
        connection.execute(DAMAGES[column], (value,))
    with IndexFolder(tmp_path / "index") as index, index.snapshot() as snapshot, pytest.raises(DataError, match="damaged"):
        ranked(snapshot, "article L. 1")
