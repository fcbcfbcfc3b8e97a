"""The scanner: places, overlaps, and numbers that only look like identifiers."""

from itertools import pairwise

import pytest

from lexfuse.text.citation.citation import CitationSystem
from lexfuse.text.citation.identifiers import identifiers_of
from lexfuse.text.citation.scanner import IDENTIFIER, scan


def keys(text):
    return [item.key for item in scan(text)]


def test_the_place_includes_the_prefix():
    text = "voir R. * 123-4, EU:C:2023:373 et C‑60/22 P."
    assert [text[item.start : item.end] for item in scan(text)] == ["R. * 123-4", "EU:C:2023:373", "C‑60/22 P"]


def test_items_come_in_order_and_do_not_overlap():
    text = "articles 6, 8 et 13, L. 1234-1 à 1234-5, 42 U.S.C. §§ 1981, 1983, Joined Cases 115/81 and 116/81"
    text += ", Directives 95/46/EC and 2004/18/EC"
    items = list(scan(text))
    assert len(items) == 11
    assert all(first.end <= second.start for first, second in pairwise(items))


def test_only_the_second_of_a_range_ends_it():
    assert [item.ranges for item in scan("articles 6 à 9 et 11")] == [False, True, False]
    assert [item.ranges for item in scan("L. 1234-1, 1234-2 à 1234-5")] == [False, False, True]


def test_a_list_of_sections_does_not_swallow_the_next_title():
    assert keys("42 U.S.C. §§ 1981, 1983, 28 U.S.C. § 1331") == ["42 U.S.C. § 1981", "42 U.S.C. § 1983", "28 U.S.C. § 1331"]
    assert keys("42 U.S.C. § 1983, 12 March") == ["42 U.S.C. § 1983"]


def test_a_full_stop_without_space_does_not_belong_to_the_ecli():
    assert keys("EU:C:2023:373.The Court") == ["ECLI:EU:C:2023:373"]


@pytest.mark.parametrize(
    "text",
    [
        "1950 S. C. R. 747-8",
        "(1912) I. L. R. 34-5",
        "il y a 12-14 jours",
        "a 100-150 page book",
        "OJ 2010 C 83/47",
        "F4/80 cells",
        "R2D2",
    ],
)
def test_look_alikes(text):
    assert keys(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Il vise L1.", []),
        ("Il vise l'article L1.", ["L1"]),
        ("Il vise les articles L1, L2 et R3.", ["L1", "L2", "R3"]),
        ("Il vise L. 1 et L. 2", ["L1", "L2"]),
        ("Il vise L. 1 et 2", []),
        ("Il vise L. 2 du code du travail", ["L2"]),
        ("L. 1, L. 2", ["L1", "L2"]),
        ("L1", ["L1"]),
        ("(L. 1)", ["L1"]),
    ],
)
def test_a_short_number_needs_words_around_it(text, found):
    assert keys(text) == found


def test_every_branch_has_a_reader():
    assert {
        identifiers_of(match)[0].system
        for match in IDENTIFIER.finditer("L. 12-3; 62016CJ0178; no 19-12.345; section 1 of title 42, U.S. Code")
    } == {
        CitationSystem.FRENCH_ARTICLE,
        CitationSystem.CELEX,
        CitationSystem.FRENCH_CASE,
        CitationSystem.US_CODE,
    }
