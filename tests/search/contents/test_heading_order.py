"""Sections are in the order of their numbers, in whichever way these are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse import Document, Index
from lexfuse.search.contents.heading_order import heading_number, in_order
from lexfuse.search.contents.table_of_contents import table_of_contents

ROWS = [
    ["Partie législative", "Partie réglementaire - Décrets en Conseil d'Etat", "Partie réglementaire - Arrêtés", "Annexes"],
    ["Livre préliminaire", "Livre Ier : A", "LIVRE II", "Livre III.", "Livre IV", "Livre IX", "Livre X", "Livre XIV"],
    ["Chapitre 1er", "Chapitre 2", "Chapitre 2 bis", "Chapitre 2 ter", "Chapitre 3", "Chapitre 10"],
    ["Chapitre Ier A : x", "Chapitre Ier B : y", "Chapitre II"],
    ["Première partie", "Deuxième partie", "Troisième partie", "Huitième partie"],
    ["PART I", "PART II", "PART IV", "PART IX", "PART XI"],
    ["Buch 1 Allgemeiner Teil", "Buch 2 Recht der Schuldverhältnisse", "Buch 5 Erbrecht"],
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_numbers_decide(row):
    assert all(heading_number(title) for title in row)
    for at in range(len(row)):
        assert in_order([*row[at:], *reversed(row[:at])]) == row


@pytest.mark.parametrize("title", ["Dispositions communes", "Livre", "Partiel 3", "Section des dissolutions", "Titre civil", ""])
def test_what_is_no_number(title):
    assert heading_number(title) is None


@given(st.lists(st.text(max_size=12) | st.sampled_from([title for row in ROWS for title in row]), unique=True, max_size=12))
def test_nothing_is_lost_and_titles_without_a_number_stay(titles):
    ordered = in_order(titles)
    assert sorted(ordered) == sorted(titles)
    assert all(ordered[at] == title for at, title in enumerate(titles) if heading_number(title) is None)
    assert in_order(ordered) == ordered


def test_the_table_of_contents(tmp_path):
    """Ordered by articles, Livre Ier would come last: its regulations are after the laws of Livre II."""
    places = {"L1": "Livre Ier", "L2": "Livre II", "R1": "Livre Ier", "R1-1": "Livre Ier", "R1-2": "Livre Ier"}
    documents = [Document(number, text="x", code="Code", number=number, headings=(book,)) for number, book in places.items()]
    with Index.build(tmp_path / "law.index", documents) as index:
        [code] = table_of_contents(index.version).sections.values()
        assert list(code.sections) == ["Livre Ier", "Livre II"]
