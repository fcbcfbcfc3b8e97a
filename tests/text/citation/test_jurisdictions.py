"""Laws and decisions outside France: fixtures/jurisdictions.tsv has spellings, not_foreign_citations.txt has look-alikes."""

import re
from pathlib import Path

import pytest

from lexfuse.text.citation.citation import PRESENT, CitationSystem
from lexfuse.text.citation.code_names import full_code
from lexfuse.text.citation.find import find_citations, mask_citations
from lexfuse.text.citation.laws import mean_the_same

FIXTURES = Path(__file__).parent / "fixtures"
SYSTEMS = {
    "section": CitationSystem.SECTION,
    "article": CitationSystem.ARTICLE,
    "usc": CitationSystem.US_CODE,
    "neutral": CitationSystem.NEUTRAL,
    "report": CitationSystem.REPORT,
}
EXPECTED = re.compile(r"(?P<system>\w+) (?P<key>.*?)(?:\.\.(?P<last>.*?))?(?: \{(?P<law>.*)\})?(?: \((?P<parts>[\w,]+)\))?")


def rows():
    """Text and expected citations of every line."""
    for line in (FIXTURES / "jurisdictions.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield tuple(line.split("\t"))


ROWS = list(rows())
NEGATIVES = (FIXTURES / "not_foreign_citations.txt").read_text("utf-8").splitlines()


def expected(written):
    """System, key, last, law and parts of every expected citation."""
    for one in written.split(" ; "):
        match = EXPECTED.fullmatch(one)
        parts = tuple(match["parts"].split(",")) if match["parts"] else ()
        yield SYSTEMS[match["system"]], match["key"], match["last"] or "", match["law"] or "", parts


def names_law(cited, law):
    if not law or law == PRESENT:
        return cited == law
    return mean_the_same(cited, law) or full_code(cited) == full_code(law)


def assert_found(text, written):
    found = [one for one in find_citations(text) if one.system is not CitationSystem.PARAGRAPH]
    wanted = list(expected(written))
    assert [(one.system, one.key, one.last, one.parts) for one in found] == [
        (system, key, last, parts) for system, key, last, _, parts in wanted
    ]
    for one, (*_, law, _) in zip(found, wanted, strict=True):
        assert names_law(one.code, law), (one.code, law)


def test_the_tables_are_large():
    assert len(ROWS) >= 300
    assert len({text for text, _ in ROWS}) == len(ROWS)
    assert len(set(NEGATIVES)) == len(NEGATIVES) >= 100


@pytest.mark.parametrize(("text", "written"), ROWS, ids=[text[:60] for text, _ in ROWS])
def test_found_in_canonical_form(text, written):
    assert_found(text, written)
    assert_found(text.replace(" ", "\u00a0"), written)


@pytest.mark.parametrize(("text", "written"), ROWS, ids=[text[:60] for text, _ in ROWS])
def test_found_in_a_sentence(text, written):
    if text[0].islower() and not text.startswith(("s", "u/", "ss", "art", "the", "sub", "cl", "para", "see")):
        pytest.skip("an abbreviation in lower case is read in a question only")
    if re.search(r"\b(?:ipc|bgb|gg|penal code|rights act)\b", text):
        pytest.skip("an abbreviation in lower case is read in a question only")
    assert_found(f"It was held in the year before (so it was said) that {text}; what precedes is settled.", written)


@pytest.mark.parametrize("text", NEGATIVES)
def test_what_is_no_citation(text):
    assert [str(one) for one in find_citations(text)] == []
    assert [str(one) for one in find_citations(f"It was noted, as follows: {text}, and nothing else.")] == []
    assert mask_citations(text) == text


def test_spans_are_the_citation():
    text = "See s. 302 of the Indian Penal Code, 1860, § 543 Abs. 2 BGB and X v Y [2020] UKSC 5 at [64], then (1992) 175 CLR 1."
    assert [text[one.start : one.end] for one in find_citations(text)] == [
        "s. 302 of the Indian Penal Code, 1860",
        "§ 543 Abs. 2 BGB",
        "[2020] UKSC 5 at [64]",
        "(1992) 175 CLR 1",
    ]


def test_the_act_is_the_one_named_before():
    text = "Section 5 of the Limitation Act, 1963 and section 14 of the Act differ; section 3 of this Act does not."
    assert [one.code for one in find_citations(text)] == ["Limitation Act, 1963", "Limitation Act, 1963", PRESENT]


def test_decisions_can_be_hidden():
    text = "That is settled (X v Y [2020] UKSC 5; 410 U.S. 113), see section 3 of the Human Rights Act 1998."
    decisions = frozenset({CitationSystem.NEUTRAL, CitationSystem.REPORT})
    assert mask_citations(text, decisions) == "That is settled, see section 3 of the Human Rights Act 1998."


@pytest.mark.parametrize("text", ["12 " + "A" * 3_000, "1 " + "A." * 300 + " x", "AIR 1973 " + "S" * 400 + " x 12"])
def test_a_long_word_after_a_number_is_read_once(text):
    assert find_citations(text) == []  # trying its parts as words of a name would take years
