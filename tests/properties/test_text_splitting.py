from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.text.paragraphs import paragraphs
from lexfuse.text.passages import numbered_passages, passages, word_offsets
from lexfuse.text.sentences.splitter import cut_long, split_sentences

LEGAL = st.lists(
    st.sampled_from(
        ["art.", "M.", "X...", "The", "le", "v.", "12.", "1°", "(a)", "« Il", "non. »", "?", "!", "…", ".", "(", ")", "\n",
         "\n\n", "\r\n", "\u00a0", "\u2028", "§ 12", "No.", "Ltd.", "COURT", ";", ":", "L. 12-3", "2.", "3.", "4 The",
         "1976", "\t", "-", "\\."]
    )
).map(" ".join)  # fmt: skip
TEXTS = LEGAL | LEGAL.map(lambda text: text.replace(" ", "")) | st.text()
LANGUAGES = st.sampled_from(["fr", "en", "de", ""])


def assert_covers(spans, text):
    """In order, trimmed, not empty, and nothing but white space between."""
    end = 0
    for span in spans:
        assert end <= span.start < span.end
        assert not text[end : span.start].strip()
        piece = text[span.start : span.end]
        assert piece == piece.strip()
        end = span.end
    assert not text[end:].strip()


@given(TEXTS, LANGUAGES)
@settings(max_examples=150)
def test_sentences_cover_the_text(text, language):
    spans = split_sentences(text, language)
    assert_covers(spans, text)
    assert spans == split_sentences(text, language)


@given(TEXTS, st.integers(1, 5))
def test_cut_sentences_cover_the_text_and_are_short(text, words):
    pieces = cut_long(split_sentences(text, "fr"), text, words)
    assert_covers(pieces, text)
    assert all(len(piece.of(text).split()) <= words for piece in pieces)


@given(TEXTS, TEXTS)
def test_a_blank_line_makes_texts_independent(first, second):
    joined = split_sentences(f"{first}\n\n{second}", "en")
    shift = len(first) + 2
    apart = [(span.start, span.end) for span in split_sentences(first, "en")]
    apart += [(span.start + shift, span.end + shift) for span in split_sentences(second, "en")]
    assert [(span.start, span.end) for span in joined] == apart


@given(TEXTS)
def test_paragraphs_cover_the_text_in_ascending_order(text):
    found = paragraphs(text)
    assert_covers(found, text)
    numbers = [int(paragraph.number) for paragraph in found if paragraph.number is not None]
    assert numbers == sorted(set(numbers))
    assert all(paragraph.start <= paragraph.body <= paragraph.end for paragraph in found)


@given(st.lists(st.sampled_from(["The court held.", "He paid 5 pounds.", "La cour casse."]), min_size=2, max_size=40))
def test_numbered_lines_are_recovered(bodies):
    text = "\n".join(f"{number}. {body}" for number, body in enumerate(bodies, start=1))
    assert [paragraph.of(text) for paragraph in paragraphs(text)] == bodies


@given(TEXTS, st.integers(1, 6), st.data())
def test_passages_hold_every_word_and_no_more_than_their_size(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    for cut in (passages, numbered_passages):
        found = cut(text, size=size, overlap=overlap)
        covered = {place for passage in found for place in range(passage.start, passage.end)}
        assert all(place in covered for start, end in word_offsets(text) for place in range(start, end))
        assert all(len(passage.of(text).split()) <= size for passage in found)
