import re
from collections import Counter
from pathlib import Path

import pytest

from lexfuse.errors import ConfigError, DataError
from lexfuse.text.passages import Passage
from lexfuse.text.sentences import boundaries
from lexfuse.text.sentences.splitter import cut_long, sentence_texts, split_sentences

LANGUAGES = ("fr", "en", "de", "nl", "es", "it", "pt")
FIXTURE = Path(__file__).parent / "fixtures" / "boundaries.txt"


def items():
    """Number, language, set, what is tested, text, and the starts of all sentences but the first."""
    for block in FIXTURE.read_text(encoding="utf-8").split("\n## ")[1:]:
        head, marked = block.strip().split("\n", 1)
        name, why = head.split(" | ", 1)
        number, language, part = name.split()
        text, starts = "", set()
        for place, piece in enumerate(marked.replace("⏎", "\n").split("‖")):
            if place:
                starts.add(len(text) + len(piece) - len(piece.lstrip()))
            text += piece
        yield number, language, part, why, text, starts


ITEMS = list(items())


def found(text, language):
    return {span.start for span in split_sentences(text, language)[1:]}


def accuracy(language, part):
    """Share of items that are split exactly, and F1 over boundaries."""
    chosen = [(found(text, language), starts) for _, lang, p, _, text, starts in ITEMS if (lang, p) == (language, part)]
    right = sum(len(got & want) for got, want in chosen)
    total = sum(len(got) + len(want) for got, want in chosen)
    return sum(got == want for got, want in chosen) / len(chosen), 2 * right / total


def test_the_list_is_large_and_in_every_language():
    counts = Counter(item[1] for item in ITEMS)
    assert len(ITEMS) >= 240
    assert min(counts["fr"], counts["en"]) >= 60
    assert min(counts[language] for language in LANGUAGES) >= 24
    assert 0.3 <= sum(item[2] == "held-out" for item in ITEMS) / len(ITEMS) <= 0.36


@pytest.mark.parametrize("item", [item for item in ITEMS if item[2] == "tuned"], ids=lambda item: f"{item[1]}-{item[0]}")
def test_each_tuned_item(item):
    _, language, _, why, text, starts = item
    assert found(text, language) == starts, why


@pytest.mark.parametrize("language", LANGUAGES)
def test_floor_on_the_held_out_items(language):
    exact, f1 = accuracy(language, "held-out")
    assert exact >= 0.9
    assert f1 >= 0.95


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \t\u00a0"])
def test_no_text_has_no_sentences(text):
    assert split_sentences(text, "fr") == []


@pytest.mark.parametrize("text", ["...", "?!", "« »", "—", ". . .", "(*)", "§"])
def test_only_punctuation_is_one_sentence(text):
    assert sentence_texts(text, "en") == [text]


def test_text_without_boundary_is_one_sentence_trimmed():
    assert split_sentences("  no end here  ", "en") == [Passage(2, 13)]


@pytest.mark.parametrize("line_break", ["\n\n", "\n \t\n", "\r\n\r\n", "\r\r", "\u2029\u2029", "\n\n\n"])
def test_a_blank_line_always_ends_a_sentence(line_break):
    text = f"under Art.{line_break}of the"
    assert sentence_texts(text, "en") == ["under Art.", "of the"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The sum is due.\nIt bears interest.", 2),  # closing punctuation
        ("He was fined.\nand released on bail.", 1),  # lower case goes on
        ("The following apply:\nany person in debt;\nany minor", 3),  # colon and semicolon
        ("Writ Petition No.\n12094 of 2007 was dismissed.", 1),  # abbreviation
        ("BANERJEE, J.\nLeave to appeal is granted to the State.", 2),  # judge's name on a short line
        ("BANERJEE, J.\n1. Leave granted.", 2),  # numbered item
        ("The costs\nThe costs of the appeal are borne by the respondent.", 2),  # heading
        ("REASONS\nWhy it is so", 2),  # heading in capitals, though the next word would not fit
        ("Section 2\nDuties of", 2),  # structural heading
        ("the tenant of the\nCommercial Court", 1),  # a wrapped line, before a capital
        ("the tenant of the\ncourt", 1),
        ("he must hold a licence; and\n(b) pay the fee", 2),  # conjunction before an item
    ],
)
def test_single_line_breaks(text, pieces):
    assert len(split_sentences(text, "en")) == pieces


def test_wrapping_does_not_change_the_sentences():
    text = (
        "The parties agreed that every dispute would be submitted to the Commercial Court of Rouen. Mr. Vance signed for the "
        "buyers on 4 May. Nobody at the Ministry of Trade objected to Article 12 of the Agreement, nor to its Annex."
    )
    words = text.split()
    for width in range(25, 90, 7):
        lines = [""]
        for word in words:
            if len(lines[-1]) + 1 + len(word) > width:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1]} {word}".strip()
        wrapped = [" ".join(sentence.split()) for sentence in sentence_texts("\n".join(lines), "en")]
        assert wrapped == sentence_texts(text, "en"), width


def test_an_unknown_language_knows_no_abbreviations():
    text = "Siehe Art. Fünf. Das Gericht wies ab."
    assert len(split_sentences(text, "lv")) == 3
    assert len(split_sentences(text, "en")) == 2


def test_offsets_hold_with_windows_line_ends():
    text = "One.\r\nTwo.\r\n\r\nThree"
    assert sentence_texts(text, "en") == ["One.", "Two.", "Three"]


def test_a_very_long_text_keeps_every_word():
    text = "The court, citing art. 6, dismissed the appeal of Mr. Roe. " * 20_000
    spans = split_sentences(text, "en")
    assert len(spans) == 20_000
    assert sum(len(span.of(text).split()) for span in spans) == len(text.split()) > 200_000


@pytest.mark.parametrize("run", [".", "!?", ".)", " ", "\n", "a.)", ". ", "(a. B ", "A. ", "a\n", "« A. » ", "x"])
def test_runs_are_split_in_linear_work(run):
    # quadratic work on these would take hours, not seconds
    text = run * 100_000
    assert "".join(span.of(text) for span in split_sentences(text, "en")).count("x") == text.count("x")


def test_cut_long_cuts_at_so_many_words():
    text = " ".join(str(number) for number in range(60))
    pieces = cut_long([Passage(0, len(text))], text)
    assert [len(piece.of(text).split()) for piece in pieces] == [25, 25, 10]
    assert " ".join(piece.of(text) for piece in pieces) == text


def test_cut_long_leaves_short_sentences_as_they_are():
    text = "One. Two three."
    spans = split_sentences(text, "en")
    assert cut_long(spans, text, words=2) == spans


@pytest.mark.parametrize("words", [0, -1])
def test_cut_long_refuses_no_words(words):
    with pytest.raises(ConfigError, match=str(words)):
        cut_long([], "", words=words)


def test_a_damaged_list_of_abbreviations_names_its_line(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# comment\nart\n")
    with pytest.raises(DataError, match=re.escape("line 2")):
        boundaries._sections(path)


def test_lists_hold_lower_case_words_without_last_period():
    for language in LANGUAGES:
        words = boundaries.lexicon(language)
        everything = words.all_abbreviations | words.starters
        assert all(word == word.lower() and not word.endswith(".") for word in everything)
        assert not words.never_final & words.abbreviations
