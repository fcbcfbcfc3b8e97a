import pytest

from lexfuse.errors import ConfigError
from lexfuse.text.passages import Passage, numbered_passages, passages, word_offsets

WORDS = " ".join(f"w{number}" for number in range(450))


def test_windows_of_bsard():
    found = [passage.of(WORDS).split() for passage in passages(WORDS)]
    assert [len(words) for words in found] == [200, 200, 90]
    assert found[0][-20:] == found[1][:20]
    assert found[1][-20:] == found[2][:20]


def test_no_window_lies_within_the_one_before():
    text = " ".join("abcdefgh")
    assert len(passages(text, size=8, overlap=4)) == 1
    assert [p.of(text) for p in passages(text, size=6, overlap=4)] == ["a b c d e f", "c d e f g h"]


def test_short_and_empty_texts():
    assert passages(" un mot ") == [Passage(1, 7)]
    assert passages("") == passages(" \n") == []


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, 6), (5, -1)])
@pytest.mark.parametrize("cut", [passages, numbered_passages])
def test_impossible_windows(cut, size, overlap):
    with pytest.raises(ConfigError, match=r"size|overlap"):
        cut("text", size=size, overlap=overlap)


def test_tokens_as_units():
    def pairs(text):
        yield 0, 0  # a special token
        yield from ((place, min(place + 2, len(text))) for place in range(0, len(text), 2))
        yield 0, 0

    assert [p.of("abcdefg") for p in passages("abcdefg", size=2, overlap=1, unit=pairs)] == ["abcd", "cdef", "efg"]


def test_text_that_no_token_holds_is_kept():
    def capitals(text):
        return [(place, place + 1) for place, character in enumerate(text) if character.isupper()]

    found = [p.of("xxAyyBzz") for p in passages("xxAyyBzz", size=1, overlap=0, unit=capitals)]
    assert found == ["xxAyy", "Bzz"]
    assert [p.of("xyz") for p in passages("xyz", unit=capitals)] == ["xyz"]


def test_several_tokens_of_one_character():
    def twice(text):
        return [(place, place + 1) for place in range(len(text)) for _ in (1, 2)]

    assert [p.of("ab") for p in passages("ab", size=1, overlap=0, unit=twice)] == ["a", "a", "b", "b"]


@pytest.mark.parametrize("offsets", [[(0, 9)], [(2, 1)], [(2, 3), (0, 1)], [(-1, 1)]])
def test_wrong_offsets_are_refused(offsets):
    with pytest.raises(ConfigError, match="offsets"):
        passages("abc", unit=lambda text: offsets)


def test_numbered_paragraphs_keep_their_number_in_every_window():
    text = f"Facts\n1. Short.\n2. {WORDS}\n3. End."
    found = numbered_passages(text)
    assert [passage.number for passage in found] == [None, "1", "2", "2", "2", "3"]
    assert found[2].of(text).startswith("2. w0")
    assert found[4].of(text).endswith("w449")
    assert {word for p in found for word in p.of(text).split()} == set(text.split())


def test_words_are_what_white_space_separates():
    assert word_offsets("L. 1234-5\u00a0: non") == [(0, 2), (3, 9), (10, 11), (12, 15)]
