"""Whatever the text is: tokens agree with terms, encoding with the analyser, masking hides, finding stays in bounds."""

import re
import unicodedata
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lexfuse.storage.index_settings import FieldText
from lexfuse.storage.segments.position_builder import marked_pieces
from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.analysis.languages import detect_language, detected_languages
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary
from lexfuse.text.citation.citation import DECISIONS, EVERYTHING
from lexfuse.text.citation.find import find_citations, mask_citations
from lexfuse.text.letters import fold

PIECES = [
    "L. 1234-5", "L1", "R.*12-3", "l'", "article", "articles", "art.", "6", "§ 1", "à", "et", ",", "(", ")", "C-60/22",
    "EU:C:2023:373", "paragraph 64", "of", "du", "code du travail", "CEDH", "42 U.S.C.", "§§ 1981, 1983",
    "Directive 95/46/EC", "n° 19-12.345", "bis", "A", "été", "e\u0301te\u0301", "\u00ad", "\u0301", "’", "\u00a0",
    "\u202f", "‑", "ﬁ", "Œ", "İ", "ẞ", "Σ", "ﷺ", "½", "²", "_", "a_1", "\ud800", "\x00", "\u2028", "१२", "漢字", "😀",
    "1er", "12/03/2020", ".", ";", "-", "*", "U", "S", "C",
]  # fmt: skip
MIXED = st.lists(st.sampled_from(PIECES)).map(" ".join) | st.lists(st.sampled_from(PIECES)).map("".join)
TEXTS = MIXED | st.text(st.characters(exclude_categories=())) | st.text("LRDCTart.icles 0123456789-/§()'’,à*:EU&\n", max_size=60)
ANALYSERS = st.sampled_from([Analyser(lang, folding=fold) for lang in ("fr", "en", "de", "tr", "hi", "") for fold in Folding])


@given(TEXTS, ANALYSERS)
@settings(max_examples=200, deadline=None)
@example("\ud800é L. 1", Analyser("fr"))
@example("e\u0301L. 12-3\u0301", Analyser("fr"))
def test_tokens_are_the_terms_with_places(text, analyser):
    tokens = analyser.tokens(text)
    assert [term for token in tokens for term in token.terms] == analyser.terms(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(first.end <= second.start for first, second in pairwise(tokens))
    assert all(token.exact == token.exact.lower() or token.citation for token in tokens)
    wanted = {term for token in tokens[::2] for term in token.terms}
    assert analyser.matching(text, wanted) == [token for token in tokens if wanted.intersection(token.terms)]


@given(TEXTS, ANALYSERS)
@settings(max_examples=200, deadline=None)
@example("Vu l'art. L.\ue0001234-5.\n\nVu.", Analyser("fr"))
def test_marks_of_sentences_and_paragraphs_leave_the_terms_as_they_are(text, analyser):
    pieces = marked_pieces(FieldText("text", text, 1.0, ()), analyser)
    assert [term for piece in pieces for term in analyser.terms_of_piece(piece)] == analyser.terms(text)


@given(st.lists(TEXTS, max_size=4), ANALYSERS)
@settings(deadline=None)  # stemmers and tables load on first use
def test_an_encoder_decodes_to_the_terms(texts, analyser):
    encoder = TermEncoder(analyser, Vocabulary())
    for text in texts:
        assert [encoder.vocabulary[number] for number in encoder.encode(text)] == analyser.terms(text)


@given(st.lists(st.sampled_from(PIECES)).map(" ".join) | st.text("aàâcçeéèêëiîïoôuùûüœÉÀÇ '’-.\u00a0"))
@settings(max_examples=150, deadline=None)
def test_composed_or_not_is_the_same_text(text):
    forms = {form: unicodedata.normalize(form, text) for form in ("NFC", "NFD")}
    analyser = Analyser("fr")
    assert analyser.terms(forms["NFC"]) == analyser.terms(forms["NFD"])


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_citations_lie_in_the_text_in_order(text):
    found = find_citations(text)
    assert all(0 <= citation.start < citation.end <= len(text) for citation in found)
    assert [citation.start for citation in found] == sorted(citation.start for citation in found)
    assert all(re.search("[0-9]", text[citation.start : citation.end]) and citation.terms and str(citation) for citation in found)


@given(TEXTS, st.sampled_from([DECISIONS, EVERYTHING]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_masking_hides_what_was_found_and_nothing_without(text, systems, parentheses):
    found = [citation for citation in find_citations(text) if citation.system in systems]
    masked = mask_citations(text, systems, parentheses=parentheses)
    if not found:
        assert masked == text
    else:
        assert len(masked) < len(text)
        digits = sum(character.isdigit() for character in masked)
        assert digits < sum(character.isdigit() for character in text)


@given(TEXTS)
@settings(deadline=None)
def test_detection_answers_for_any_text(text):
    assert detect_language(text) in {*detected_languages(), ""}
    assert detect_language(text, among=("fr", "en")) in {"fr", "en", ""}
    assert fold(fold(text)) == fold(text)
