"""Citations found, normalised, resolved and masked; the spellings are in fixtures/citations.tsv."""

import gzip
import json
import os
import re
import unicodedata
from pathlib import Path

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.citation.citation import DECISIONS, EVERYTHING, Citation, CitationSystem
from lexfuse.text.citation.find import find_citations, mask_citations
from lexfuse.text.citation.resolve import CitationResolver

FIXTURES = Path(__file__).parent / "fixtures"
SHORT = {
    CitationSystem.FRENCH_ARTICLE: "french",
    CitationSystem.ARTICLE: "article",
    CitationSystem.ECHR: "echr",
    CitationSystem.US_CODE: "usc",
    CitationSystem.EU_ACT: "act",
    CitationSystem.ECLI: "ecli",
    CitationSystem.CELEX: "celex",
    CitationSystem.EU_CASE: "case",
    CitationSystem.FRENCH_CASE: "pourvoi",
    CitationSystem.PARAGRAPH: "paragraph",
}


def rows():
    """Text, expected citations and expected documents of every line."""
    for line in (FIXTURES / "citations.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            text, citations, documents = line.split("\t")
            yield re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text).replace("\\n", "\n"), citations, documents


ROWS = list(rows())
NEGATIVES = (FIXTURES / "not_citations.txt").read_text("utf-8").splitlines()


def articles(prefix, code, numbers):
    return [
        Document(f"{prefix}:{number.replace(' ', '')}", kind=DocumentKind.STATUTE, code=code, number=number)
        for number in numbers.split(", ")
    ]


def paragraphs(prefix, identifiers, numbers):
    whole = Document(f"{prefix}:judgment", kind=DocumentKind.DECISION, identifiers=identifiers)
    return [whole] + [Document(f"{prefix}:{n}", kind=DocumentKind.PARAGRAPH, number=n, identifiers=identifiers) for n in numbers]


def invented_corpus():
    labour = (
        "L1, L1-1, R1-1, L2, L3, L1234-1, R1234-1, L1234-2, L1234-5, R1234-4, R*1234-6, A1234-8, L1234-9, L1237-19, "
        "L1237-19-1, D3141-7"
    )
    taxes = "39, 39 bis, 39 bis A, 39 ter, 200-0 A, 1649 quater B, 1649 quater-0 B bis"
    return Corpus.of(
        [
            *articles("ct", "Code du travail", labour),
            *articles("css", "Code de la sécurité sociale", "L1, R123-4, D*123-9, L162-22-3 ter, L311-1, L312-2"),
            *articles("civ", "Code civil", "6, 7, 8, 9, 16-1, 1240, 1241"),
            *articles("cpc", "Code de procédure civile", "700"),
            *articles("cgi", "Code général des impôts", taxes),
            *articles("lpf", "Livre des procédures fiscales", "L16 B"),
            *articles("elec", "Code électoral", "LO141-1"),
            *articles("echr", "European Convention on Human Rights", "6, 8, 13"),
            *articles("p1", "Protocol No. 1 to the European Convention on Human Rights", "1"),
            *articles("coi", "Constitution of India", "13, 19, 21, 21A, 31A, 31B"),
            *articles("tfeu", "Treaty on the Functioning of the European Union", "101, 102"),
            *articles("gdpr", "Regulation (EU) 2016/679", "5, 6"),
            *paragraphs("cj", ("ECLI:EU:C:2023:373", "62022CJ0060", "C-60/22"), ("12", "13", "14", "41", "42", "64")),
            *paragraphs("gc", ("EU:T:2007:289", "62004TJ0201", "T-201/04"), ()),
            Document("cj:schecke", kind=DocumentKind.DECISION, identifiers=("C-92/09", "C-93/09")),
            Document("cj:vangend", kind=DocumentKind.DECISION, identifiers=("C-26/62",)),
            Document("cass:1", kind=DocumentKind.DECISION, identifiers=("19-12.345", "ECLI:FR:CCASS:2023:SO00123")),
            Document("act:gdpr", identifiers=("32016R0679",)),
            Document("act:dpd", identifiers=("31995L0046",)),
            Document("act:procurement", identifiers=("32004L0018",)),
            Document("act:competition", identifiers=("32003R0001",)),
            *(
                Document(f"us:{n}", kind=DocumentKind.STATUTE, identifiers=(f"42 U.S.C. § {n}",))
                for n in ("1981", "1983", "2000e-5")
            ),
        ]
    )


CORPUS = invented_corpus()
RESOLVER = CitationResolver(CORPUS)


def written(citation):
    """A citation in the notation of the fixture."""
    key = f"{citation.key}..{citation.last}" if citation.last else citation.key
    parts = f"({','.join(citation.parts)})" if citation.parts else ""
    code = f"{{{citation.code}}}" if citation.code else ""
    return " ".join(filter(None, (SHORT[citation.system], key, code, parts)))


def test_the_table_is_large():
    assert len(ROWS) >= 260
    assert len(NEGATIVES) >= 70
    assert len({text for text, *_ in ROWS}) == len(ROWS)
    found = " ".join(citations for _, citations, _ in ROWS)
    assert all(f"{short} " in found for short in SHORT.values())


@pytest.mark.parametrize(("text", "citations", "documents"), ROWS, ids=[text[:60] for text, *_ in ROWS])
def test_found_normalised_and_resolved(text, citations, documents):
    assert (" ; ".join(map(written, find_citations(text))) or "-") == citations
    assert (" ".join(CORPUS.ids[ordinal] for ordinal in RESOLVER.resolve_text(text)) or "-") == documents


@pytest.mark.parametrize(("text", "citations", "documents"), ROWS, ids=[text[:60] for text, *_ in ROWS])
def test_surroundings_change_nothing(text, citations, documents):
    """In the middle of a sentence, in another one after it, and with accents as characters of their own."""
    if not text[0].isupper() or text.startswith(("Article", "Art", "Directive", "Regulation")):
        within = f"Il est rappelé par ailleurs (étant observé ce qui suit) que {text} ; ce qui précède est constant."
        assert [(c.system, c.key, c.last, c.parts) for c in find_citations(within)] == [
            (c.system, c.key, c.last, c.parts) for c in find_citations(text)
        ]
    apart = unicodedata.normalize("NFD", text)
    assert [(c.system, c.key, c.last, c.parts) for c in find_citations(apart)] == [
        (c.system, c.key, c.last, c.parts) for c in find_citations(text)
    ]


@pytest.mark.parametrize("text", NEGATIVES)
def test_what_is_no_citation(text):
    assert find_citations(text) == []
    assert find_citations(f"On a noté ceci : {text}, et rien de plus.") == []
    assert mask_citations(text) == text


def test_five_spellings_are_one_term():
    spellings = ["L. 1234-5", "L1234-5", "L.1234-5", "l 1234-5", "article L. 1234-5 du code du travail", "L.\u00a01234\u20115"]
    assert {find_citations(text)[0].terms for text in spellings} == {("l1234_5", "chapter_1234", "title_123")}
    for text in spellings:
        assert "l1234_5" in Analyser("fr").terms(f"selon {text}, il")


def test_spans_are_the_citation():
    text = "Voir l'article L. 1234-5, alinéa 2, du code du travail, puis C‑60/22, EU:C:2023:373, paragraph 64."
    assert [text[c.start : c.end] for c in find_citations(text)] == [
        "article L. 1234-5, alinéa 2, du code du travail",
        "C‑60/22",
        "EU:C:2023:373, paragraph 64",
    ]


def test_a_reader_can_read_them():
    text = "art. 6 § 1 CEDH; articles L. 1 à L. 3 du présent code; 42 USC § 2000e-5(b); C-60/22, para. 64"
    text += "; Directive 95/46/EC; points 3 et 5"
    assert list(map(str, find_citations(text))) == [
        "art. 6(1) ECHR",
        "L1–L3",
        "42 U.S.C. § 2000e-5(b)",
        "C-60/22, § 64",
        "directive 95/46",
        "§ 3, 5",
    ]


def test_a_run_of_paragraphs_is_filled_only_when_it_can_be_one():
    assert find_citations("paragraphs 12 to 15")[0].parts == ("13", "14", "15")
    assert find_citations("paragraphs 12 to 4000")[0].parts == ("4000",)
    assert find_citations("paragraphs 15 to 12")[0].parts == ("12",)


def test_the_same_article_again_has_the_same_code():
    found = find_citations(
        "l'article L. 311-1 du code de la sécurité sociale ; le II du même article L. 311-1 ; l'article L. 311-1"
    )
    assert [citation.code for citation in found] == ["code de la sécurité sociale", "code de la sécurité sociale", ""]


def test_terms_of_an_odd_key():
    assert Citation(0, 0, CitationSystem.EU_CASE, "C-60/22").terms == ("c_60_22",)
    assert Citation(0, 0, CitationSystem.FRENCH_CASE, "19-12.345").terms == ("no_19_12_345",)


# --- masking ---------------------------------------------------------------------------------------------------------------


def test_masking_keeps_a_text_without_citations():
    for text in ["  Rien à  cacher ici ( vraiment ) .\n\n", "", "A, , b ()", *NEGATIVES]:
        assert mask_citations(text) == text


def test_masking_takes_the_parenthesis_that_names_a_decision():
    text = "That is settled (see, to that effect, judgment of 4 May 2023, X v Y (Z), C‑60/22, EU:C:2023:373, paragraph 64)."
    assert mask_citations(text, DECISIONS) == "That is settled."
    left = mask_citations(text, DECISIONS, parentheses=False)
    assert "judgment of 4 May 2023" in left
    assert not re.search("60/22|373|64", left)


def test_masking_only_what_is_asked():
    text = "Article 5 of Regulation (EU) 2016/679, see C-60/22"
    assert mask_citations(text, DECISIONS) == "Article 5 of Regulation (EU) 2016/679, see"
    assert mask_citations(text, frozenset({CitationSystem.EU_ACT})) == "Article 5 of, see C-60/22"


def test_masking_leaves_words_where_there_were_some():
    assert mask_citations("(see C-60/22)", DECISIONS) == "(see)"
    assert mask_citations("C-60/22", DECISIONS) == ""


def data(name):
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder:
        pytest.skip("LEXFUSE_DATA does not name the folder of collections")
    with gzip.open(Path(folder, name), "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


# Written without the scanner: anything that looks like a case number, an ECLI, a CELEX number or a pinpoint.
IDENTIFIER = re.compile(
    r"\b[CTF]\s?[-\u2010-\u2015\u2212]\s?\d{1,4}\s?/\s?\d{2}|\b[CTF] ?\d{1,4}/\d{2}\b|ECLI|EU:[CTF]:|:[12]\d{3}:\d"
    r"|\b[1-9](?:19|20)\d{2}[A-Z]{1,2}\d{3,4}\b|\b(?:joined )?cases? \d{1,4}/\d{2}|(?<![\d/])\d{1,3}/[5-9]\d(?=\s?,?\s?\()"
    r"|\b(?:paragraphs?|paras?\.?|points?)\s\d|§+\s?\d",
    re.IGNORECASE,
)


@pytest.mark.parametrize("parentheses", [True, False])
def test_masking_leaves_no_identifier_on_the_court_of_justice(parentheses):
    texts = data("cjeu/queries.jsonl.gz")
    assert len(texts) == 1054
    assert sum(bool(IDENTIFIER.search(text)) for text in texts) > 1000  # the pattern sees them
    for text in texts:
        masked = mask_citations(text, DECISIONS, parentheses=parentheses)
        assert not IDENTIFIER.search(masked), masked
        assert re.search(r"[a-z]{3}", masked), text


def test_masking_leaves_no_article_on_french_codes():
    number = re.compile(r"\b[LRD]\.?\s?\*?\s?\d+-\d|\barticles?\s(?:[LRD]\.?\s?)?\d")
    texts = data("fr-labour/corpus.jsonl.gz")[::10]
    assert sum(bool(number.search(text)) for text in texts) > 1400
    left = [mask_citations(text, EVERYTHING) for text in texts]
    assert [text for text in left if number.search(text)] == []
