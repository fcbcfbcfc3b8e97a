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


IPC, BGB = "Indian Penal Code", "Bürgerliches Gesetzbuch"


@pytest.fixture
def mixed(tmp_path):
    """Laws of three countries, and decisions with identifiers of many kinds."""
    index = IndexFolder.create(tmp_path / "mixed")
    index.add([article(f"ipc-{number}", number, IPC) for number in ("299", "300", "302", "304-A")])
    index.add([article(f"bgb-{number}", f"§ {number}", BGB) for number in ("433", "434", "543", "823")])
    index.add([article(f"ct-{number}", number) for number in ("L3141-3", "L1234-9", "L1234-5", "R1234-5")])
    index.add([article("usc-1983", "1983", "Title 42 of the United States Code")])
    decisions = {"roe": "410 U.S. 113", "mabo": "(1992) 175 C.L.R. 1", "x": "[2020] UKSC 5", "hr": "HR-2019-123-A", "plain": "12"}
    index.add([Document(id, kind=DocumentKind.DECISION, identifiers=(name,)) for id, name in decisions.items()])
    return index.snapshot()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("section 302 of the Indian Penal Code", ["ipc-302"]),
        ("302 IPC", ["ipc-302"]),
        ("ss. 299 and 300, I.P.C.", ["ipc-299", "ipc-300"]),
        ("sections 299 to 302 of the Indian Penal Code, 1860", ["ipc-299", "ipc-300", "ipc-302"]),
        ("s. 304A IPC", ["ipc-304-A"]),
        ("§ 543 Abs. 2 Nr. 1 BGB", ["bgb-543"]),
        ("§ 543 des Bürgerlichen Gesetzbuches", ["bgb-543"]),
        ("§ 543", ["bgb-543"]),
        ("42 U.S.C. § 1983", ["usc-1983"]),
        ("section 1983 of title 42", ["usc-1983"]),
        ("410 US 113", ["roe"]),
        ("Mabo, 175 CLR 1", ["mabo"]),
        ("[2020] UKSC 5 at [64]", ["x"]),
    ],
)
def test_laws_and_decisions_of_other_countries(mixed, text, found):
    assert [id for id, _ in ranked(mixed, text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3141-3", ["ct-L3141-3"]),
        ("art. 1234-9", ["ct-L1234-9"]),
        ("1234-9 du code du travail", ["ct-L1234-9"]),
        ("302", ["ipc-302"]),
        ("1234-5", []),  # L1234-5 and R1234-5
        ("1234-9 code civil", []),
        ("3141-3 jours de congé", []),
        ("il y a 3141-3 jours", []),
    ],
)
def test_a_bare_number_means_the_only_article_that_has_it(mixed, text, found):
    assert [id for id, _ in ranked(mixed, text)] == found


@pytest.mark.parametrize("text", ["HR-2019-123-A", "hr 2019 123 a", "HR.2019.123.A", "hr2019-123a", "is HR 2019-123 A law?"])
def test_declared_identifiers_in_any_spelling(mixed, text):
    assert [id for id, _ in ranked(mixed, text)] == ["hr"]


@pytest.mark.parametrize("text", ["HR 2019 12 3 A", "hr 2019 1234 a", "there are 12 months", "chr 2019 123 a"])
def test_what_is_no_declared_identifier(mixed, text):
    assert ranked(mixed, text) == []


def test_a_number_that_is_an_identifier_must_be_the_whole_question(mixed):
    assert ranked(mixed, "12") == [("plain", 1.0)]


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("section 999 of the Indian Penal Code", (f"{IPC} has no section 999",)),
        ("§ 9999 BGB", (f"{BGB} has no section 9999",)),
        ("l'article L. 9999-1 du code du travail renvoie aux autres", (f"{LABOUR} has no article L9999-1",)),
        ("sections 302 and 999 IPC", (f"{IPC} has no section 999",)),
        ("section 302 IPC", ()),
        ("article 9999 du code civil", ()),  # a code that the corpus does not have
        ("section 999", ()),
        ("préavis", ()),
    ],
)
def test_missing_articles_of_known_codes(mixed, text, notes):
    assert CitationLookup(mixed).missing(text) == notes
