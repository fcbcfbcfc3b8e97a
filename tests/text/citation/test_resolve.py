"""Resolving against a corpus: own codes, ranges in document order, finer places, acts."""

from itertools import product
from random import Random

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.text.citation.citation import Citation, CitationSystem
from lexfuse.text.citation.find import find_citations
from lexfuse.text.citation.parent_law import mentions
from lexfuse.text.citation.resolve import CitationResolver, celex_of_act, cited_ids, identifier_key, number_key

LABOUR, SOCIAL, RURAL = "Code du travail", "Code de la sécurité sociale", "Code rural et de la pêche maritime"


def corpus_of(*articles):
    return Corpus.of(
        Document(f"{code.split()[-1]}:{number}", kind=DocumentKind.STATUTE, code=code, number=number) for code, number in articles
    )


def numbers(corpus, text, own_code=""):
    return [corpus.number[ordinal] for ordinal in CitationResolver(corpus).resolve_text(text, own_code=own_code)]


@pytest.fixture
def labour():
    order = ["L1", "L1-1", "L2", "R1", "L2-1", "L10", "R2", "Annexe I à l'article L10", "D3", "L3", "L4"]
    return corpus_of(*((LABOUR, number) for number in order), (SOCIAL, "L1"), (SOCIAL, "L2"))


def test_ranges_go_by_document_order_and_keep_to_their_letter(labour):
    assert numbers(labour, "articles L. 1 à L. 2 du code du travail") == ["L1", "L1-1", "L2"]
    assert numbers(labour, "articles L. 1 à L. 3 du code du travail") == ["L1", "L1-1", "L2", "L2-1", "L10", "L3"]
    assert numbers(labour, "articles R. 1 à R. 2 du code du travail") == ["R1", "R2"]


def test_a_range_between_letters_has_both(labour):
    assert numbers(labour, "articles R. 1 à D. 3 du code du travail") == ["R1", "R2", "D3"]


def test_a_range_with_an_end_that_is_not_there_is_the_other_end(labour):
    assert numbers(labour, "articles L. 1 à L. 9 du code du travail") == ["L1"]
    assert numbers(labour, "articles L. 7 à L. 4 du code du travail") == ["L4"]
    assert numbers(labour, "articles L. 7 à L. 9 du code du travail") == []


def test_a_range_that_runs_backwards_is_its_ends(labour):
    assert numbers(labour, "articles L. 3 à L. 1 du code du travail") == ["L1", "L3"]


def test_a_range_never_runs_into_another_code(labour):
    assert numbers(labour, "articles L. 1 à L. 2 du code de la sécurité sociale") == ["L1", "L2"]
    resolved = CitationResolver(labour).resolve_text("articles L. 1 à L. 2")
    assert [labour.ids[ordinal] for ordinal in resolved] == ["travail:L1", "travail:L1-1", "travail:L2"]


def ids(corpus, text, own_code=""):
    return [corpus.ids[ordinal] for ordinal in CitationResolver(corpus).resolve_text(text, own_code=own_code)]


def test_the_own_code_is_meant_unless_another_is_named():
    corpus = corpus_of((LABOUR, "L1-1"), (SOCIAL, "L1-1"), (SOCIAL, "L2-2"), (RURAL, "L2-2"))
    assert ids(corpus, "l'article L. 1-1", own_code=LABOUR) == ["travail:L1-1"]
    assert ids(corpus, "l'article L. 1-1 du présent code", own_code=SOCIAL) == ["sociale:L1-1"]
    assert ids(corpus, "l'article L. 1-1 du code de la sécurité sociale", own_code=LABOUR) == ["sociale:L1-1"]
    assert ids(corpus, "l'article L. 1-1") == ["travail:L1-1", "sociale:L1-1"]
    assert ids(corpus, "l'article L. 1-1 du code civil") == []


def test_a_number_that_the_own_code_lacks_is_in_the_code_named_nearest():
    corpus = corpus_of((LABOUR, "L1-1"), (SOCIAL, "L2-2"), (RURAL, "L2-2"))
    assert ids(corpus, "l'article L. 2-2", own_code=LABOUR) == []
    text = "les dispositions du code de la sécurité sociale prévues à l'article L. 2-2"
    assert ids(corpus, text, own_code=LABOUR) == ["sociale:L2-2"]
    assert ids(corpus, "le code civil, puis l'article L. 2-2", own_code=LABOUR) == []
    assert ids(corpus, "au présent code, l'article L. 2-2", own_code=LABOUR) == []


def test_the_same_code_is_the_one_named_before():
    corpus = corpus_of((LABOUR, "L1-1"), (SOCIAL, "L1-1"))
    text = "le livre II du code de la sécurité sociale et l'article L. 1-1 du même code"
    assert ids(corpus, text, own_code=LABOUR) == ["sociale:L1-1"]
    assert ids(corpus, "l'article L. 1-1 du même code", own_code=LABOUR) == []
    assert ids(corpus, "l'article L. 1-1 du code", own_code=LABOUR) == ["travail:L1-1"]


def test_a_law_that_is_no_code_is_not_taken_for_one():
    corpus = corpus_of(("Code civil", "12"), ("Code civil", "6"))
    for text in (
        "l'article 12 de la loi n° 78-753 du 17 juillet 1978",
        "l'article 6 dudit décret",
        "Article 6 of Directive 95/46/EC",
    ):
        assert ids(corpus, text, own_code="Code civil") == []


def test_paragraphs_and_whole_decisions():
    names = ("ECLI:EU:C:2023:373", "C-60/22")
    parts = [Document(f"p{n}", kind=DocumentKind.PARAGRAPH, number=str(n), identifiers=names) for n in (1, 2, 3)]
    only, both = Corpus.of(parts), Corpus.of([Document("whole", kind=DocumentKind.DECISION, identifiers=names), *parts])
    assert ids(only, "C-60/22") == ["p1", "p2", "p3"]
    assert ids(both, "C-60/22") == ["whole"]
    assert ids(both, "C-60/22, paragraphs 2 and 3") == ["p2", "p3"]
    assert ids(only, "C-60/22, paragraph 9") == []
    assert ids(both, "C-60/22, paragraph 9") == ["whole"]
    assert ids(both, "paragraph 2") == []


def test_several_documents_may_carry_one_case_number():
    corpus = Corpus.of([Document("order", identifiers=("C-60/22",)), Document("judgment", identifiers=("C‑60/22 P",))])
    assert ids(corpus, "Case C-60/22") == ["order", "judgment"]


def test_numbers_of_acts():
    assert celex_of_act(find_citations("Directive 95/46/EC")[0]) == ["31995L0046"]
    assert celex_of_act(find_citations("Regulation (EEC) No 1408/71")[0]) == ["31971R1408"]
    assert celex_of_act(find_citations("Framework Decision 2002/584/JHA")[0]) == ["32002D0584", "32002F0584"]


def test_keys():
    assert number_key(" r.*  123‑4 bis ") == "R123-4BIS"
    assert identifier_key("42 usc 1983") == "42 U.S.C. § 1983"
    assert identifier_key(" Xyz 12 ") == "XYZ 12"


def test_a_document_does_not_cite_itself():
    corpus = Corpus.of([Document("a", text="voir les articles 1 et 2", number="1"), Document("b", number="2")])
    assert list(cited_ids(corpus, CitationResolver(corpus), 0)) == ["b"]


def test_the_code_that_is_named_nearest_is_found_whatever_else_is_named():
    """Of all mentions the nearest, as a search through all of them finds it."""
    corpus = corpus_of((SOCIAL, "R1"), (RURAL, "R1"))
    resolver, names = CitationResolver(corpus), ("code de la sécurité sociale", "code rural", "présent code", "code pénal")
    for seed in range(60):
        random = Random(seed)  # noqa: S311 -- the same every time
        pieces = [random.choice((*(f"le {name}." for name in names), "L'article R. 1 dit.", "Rien.")) for _ in range(12)]
        text = " ".join(pieces)
        for citation, found in resolver.resolve_each(text, own_code="Code du travail"):
            near = min(mentions(text), key=lambda one: max(one.start - citation.end, citation.start - one.end), default=None)
            known = {"code de la sécurité sociale": [0], "code rural": [1]}
            assert found.tolist() == (known.get(near.name, []) if near else []), (text, citation)


@pytest.mark.parametrize("text", ["§ 5 Abs. 1 SGB V", "§ 5 SGB 5", "§ 5 des Fünften Buches Sozialgesetzbuch"])
def test_a_code_is_meant_by_the_name_that_its_documents_declare(text):
    title = "Sozialgesetzbuch (SGB) Fünftes Buch (V) - Gesetzliche Krankenversicherung - (Artikel 1 des Gesetzes v. 20. 12. 1988)"
    names = {title: "SGB 5", "Abgabenordnung": "AO 1977"}
    numbered = [(law, number) for law in names for number in ("5", "6")]
    laws = [Document(f"{law}{n}", code=law, number=n, identifiers=(f"§ {n} {names[law]}",)) for law, n in numbered]
    assert CitationResolver(Corpus.of(laws)).resolve_text(text) == [0]


def test_a_missing_number_of_a_code_by_its_declared_name_is_missing():
    resolver = CitationResolver(Corpus.of([Document("a", code="Gesetz über Bücher", number="1", identifiers=("§ 1 BuchG",))]))
    ((citation, found),) = resolver.resolve_each("§ 9 BuchG")
    assert resolver.is_missing(citation, found)


def test_a_range_is_the_same_as_a_walk_through_the_corpus():
    order = ["L1", "R1", "L2", "L2-1", "D1", "R2", "L3", "A1"]
    corpus = corpus_of(*((code, number) for code in (LABOUR, SOCIAL) for number in order))
    for first, last in product(order, repeat=2):
        found = CitationResolver(corpus).resolve(Citation(0, 1, CitationSystem.FRENCH_ARTICLE, first, last=last))
        ends = order.index(first), order.index(last)
        if ends[0] > ends[1]:  # from here into the next code is no range
            expected = sorted({*ends, *(len(order) + end for end in ends)})
        else:
            expected = [n for n in range(ends[0], ends[1] + 1) if order[n][0] in (first[0], last[0])]
        assert found == expected, (first, last)
