import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.passages import Passage
from lexfuse.text.snippets import Snippet, snippet, whole_sentences

FRENCH = Analyser("fr")


def terms(query: str) -> dict[str, float]:
    return dict.fromkeys(FRENCH.terms(query), 1.0)


def marked(text: str, query: str, width: int = 280) -> str:
    return snippet(text, FRENCH, terms(query), width=width).marked(text, "[", "]")


def test_elisions_are_not_marked_and_inflected_words_are():
    assert marked("L’employeur notifie aux salariés l'échéance.", "employeurs salarié échéances") == (
        "L’[employeur] notifie aux [salariés] l'[échéance]."
    )


@pytest.mark.parametrize("spelling", ["L. 1237-19", "L.1237‑19", "L1237-19"])
def test_a_citation_is_marked_as_a_whole_in_any_spelling(spelling):
    assert f"[{spelling}]" in marked(f"Vu l'article {spelling} du code.", "article L 1237-19")


def test_the_window_with_most_distinct_terms_wins():
    text = "Le préavis. " + "Rien à voir ici. " * 40 + "Le préavis de démission est réduit. " + "Encore autre chose. " * 40
    assert "[préavis] de [démission]" in marked(text, "préavis démission", width=80)


def test_without_a_match_it_is_the_beginning():
    text = "Premiers mots. " + "Suite. " * 100
    found = snippet(text, FRENCH, terms("inconnu"), width=50)
    assert found.span.start == 0
    assert found.matches == ()
    assert found.marked(text, "[", "]").endswith(" …")


def test_empty_text_and_a_word_longer_than_the_window():
    assert snippet("", FRENCH, terms("loi")) == Snippet(Passage(0, 0), ())
    long = "x" * 500
    assert snippet(f"{long} loi", FRENCH, {long: 1.0}, width=100).matches == (Passage(0, 500),)


@given(st.text(alphabet="aéloi'’ .\n-L1234", max_size=400), st.integers(20, 120))
def test_matches_lie_in_order_inside_the_snippet_and_the_snippet_in_the_text(text, width):
    found = snippet(text, FRENCH, terms("loi aloi L1"), width=width)
    assert 0 <= found.span.start <= found.span.end <= len(text)
    places = [(match.start, match.end) for match in found.matches]
    assert places == sorted(places)
    assert all(found.span.start <= start < end <= found.span.end for start, end in places)
    assert snippet(text, FRENCH, terms("loi aloi L1"), width=width) == found


@given(st.text("aeé lL.1-5'’\u0301\u00ad,", max_size=60), st.sets(st.sampled_from(["ae", "l1_5", "l1_", "lal", "aee", "55"])))
def test_words_that_match_are_those_among_all_tokens(text, wanted):
    every = [token for token in FRENCH.tokens(text) if wanted.intersection(token.terms)]
    assert Analyser("fr").matching(text, wanted) == FRENCH.matching(text, wanted) == every


def test_a_word_longer_than_the_window_is_cut_where_the_window_ends():
    text = "It is so. " + "word" * 100 + ". And more of it."
    shown = snippet(text, Analyser("en"), {"word" * 100: 1.0}, width=40)
    assert shown.matches == (Passage(10, 410),)
    assert shown.span == Passage(10, 410)


def test_a_window_that_begins_in_blanks_and_ends_in_a_long_word():
    text = "\0" * 7 + "\ufffd . XLM." + "\b" * 88 + ". "
    shown = snippet(text, Analyser("de"), {"xlm": 1.0}, width=40)
    assert 0 <= shown.span.start <= shown.span.end <= len(text)


def test_a_number_stays_with_its_letter():
    text = "Il est dit que chacun peut encore, selon l'article L. 1237-13, en un délai de quinze jours, y renoncer par lettre."
    for width in range(60, 100):
        assert not snippet(text, Analyser("fr"), {"del": 1.0}, width=width).text.startswith("1237-13")


def test_a_snippet_begins_with_its_sentence_where_that_starts_shortly_before():
    sentence = "À défaut d'accord, les heures accomplies au-delà de la durée donnent lieu à une majoration de salaire de 25 %."
    text = f"{'Autre chose. ' * 20}{sentence} {'Et encore autre chose. ' * 20}"
    found = snippet(text, Analyser("fr"), {"heur": 1.0, "salair": 2.0}, width=100)
    assert found.text.startswith("À défaut d'accord, les heures")


SENTENCES = ("Le salarié licencié a droit à une indemnité.", "Les modalités de calcul suivent.", "Un décret les fixe.")


@pytest.mark.parametrize(
    ("term", "width", "expected"),
    [
        ("indemn", 20, SENTENCES[:1]),  # it is completed at both ends
        ("calcul", 20, SENTENCES[1:2]),  # what has no match is left out
        ("calcul", 40, SENTENCES[1:2]),  # so is the beginning of a sentence after it
        ("absent", 20, SENTENCES[:1]),  # without a match it is the sentence in which the snippet begins
    ],
)
def test_a_passage_has_whole_sentences(term, width, expected):
    text = "\n".join(SENTENCES)
    shown = snippet(text, FRENCH, {term: 1.0}, width=width)
    assert whole_sentences(text, shown, "fr").of(text) == "\n".join(expected)


def test_a_sentence_that_is_too_long_stays_cut():
    text = f"Vu la demande, {'considérant ceci, ' * 100} le préavis est dû."
    shown = snippet(text, FRENCH, terms("préavis"))
    assert whole_sentences(text, shown, "fr") == shown.span


@given(st.text(alphabet="aéloi'’ .\n-L1234", max_size=400), st.integers(20, 120))
def test_whole_sentences_lie_in_the_text_and_keep_the_matches(text, width):
    shown = snippet(text, FRENCH, terms("loi aloi L1"), width=width)
    whole = whole_sentences(text, shown, "fr")
    assert 0 <= whole.start <= whole.end <= len(text)
    assert all(whole.start <= match.start and match.end <= whole.end for match in shown.matches)
