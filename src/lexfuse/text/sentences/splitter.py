"""Sentences of legal text, as spans of it.

`lexfuse.text.sentences.boundaries` decides at punctuation (nupunkt and legal rules), `lexfuse.text.sentences.line_breaks` at line
breaks; this module walks through the text once. Languages without a list of abbreviations use the same rules without them. RPRS
splits long sentences at 25 words: `cut_long`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lexfuse.errors import ConfigError
from lexfuse.text.passages import Passage
from lexfuse.text.sentences.boundaries import BoundaryCandidate, LastWordKind, ending, ends_sentence
from lexfuse.text.sentences.line_breaks import begins_item, ends_line, is_deliberate

# Punctuation with its closing quotes, or a line break, and the white space after it. It begins with a set of characters, which
# the regex engine finds fast, and is possessive, so that no run is read twice.
_CANDIDATE = re.compile(r"[.!?…\n](?:(?<=\n)|(?P<mark>[.!?…]*+[\"')\]}”’»*_]*+(?:[ \u00a0\u202f][»”])?+))\s*+")
SHORT_LINE = 60  # characters; a line of running text is longer
_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n")
_BLANK_LINES = re.compile(r"\n\s*\n")
_WORD = re.compile(r"\S+")
_OTHER_BREAK = re.compile(r"[\r\x0b\x0c\x85\u2028\u2029]")


def split_sentences(text: str, language: str) -> list[Passage]:
    """The sentences of a text in order, without the white space between them.

    Every character that is not white space belongs to exactly one sentence.

    >>> text = "Vu l'art. L. 1234-5 du code. M. X... a fait appel."
    >>> [span.of(text) for span in split_sentences(text, "fr")]
    ["Vu l'art. L. 1234-5 du code.", 'M. X... a fait appel.']
    >>> split_sentences("", "en")
    []
    """
    plain = _with_plain_breaks(text)
    spans, at = [], 0
    for gap in _BLANK_LINES.finditer(plain):
        spans += _in_block(plain[at : gap.start()], at, language)
        at = gap.end()
    return spans + _in_block(plain[at:], at, language)


def _in_block(text: str, shift: int, language: str) -> list[Passage]:
    """The sentences of a block without blank lines that starts at ``shift``; text outside it has no influence."""
    spans = []
    start = len(text) - len(text.lstrip())
    for end, following in _boundaries(text, start, language):
        spans.append(Passage(shift + start, shift + end))
        start = following
    if start < len(text):
        spans.append(Passage(shift + start, shift + len(text.rstrip())))
    return spans


def sentence_texts(text: str, language: str) -> list[str]:
    """The sentences of a text as strings.

    >>> sentence_texts("He was convicted under Sec. 302 I.P.C. The High Court affirmed.", "en")
    ['He was convicted under Sec. 302 I.P.C.', 'The High Court affirmed.']
    """
    return [span.of(text) for span in split_sentences(text, language)]


def cut_long(spans: Iterable[Passage], text: str, words: int = 25) -> list[Passage]:
    """The spans, with those of more than ``words`` words split after every ``words`` words; no word is lost.

    >>> text = "un deux trois quatre cinq"
    >>> [span.of(text) for span in cut_long([Passage(0, 25)], text, words=2)]
    ['un deux', 'trois quatre', 'cinq']
    """
    if words < 1:
        raise ConfigError(f"a sentence cannot be cut at {words} words; give 1 or more (RPRS uses 25)")
    return [piece for span in spans for piece in _pieces(span, text, words)]


def _pieces(span: Passage, text: str, words: int) -> Iterator[Passage]:
    """Split a span into pieces of at most `words` words."""
    found = [match.span() for match in _WORD.finditer(text, span.start, span.end)]
    if len(found) <= words:
        yield span
        return
    for first in range(0, len(found), words):
        yield Passage(found[first][0], found[min(first + words, len(found)) - 1][1])


def _with_plain_breaks(text: str) -> str:
    """The text with a line feed for every kind of line break, with the same length, so that offsets hold."""
    return _OTHER_BREAK.sub("\n", text.replace("\r\n", " \n"))


def _boundaries(text: str, start: int, language: str) -> Iterator[tuple[int, int]]:
    """Where a sentence ends and the next one starts, without the last."""
    width, block_end = 0, -1
    for found in _CANDIDATE.finditer(text, start):
        following = found.end()
        if following == len(text):
            return
        end = found.end("mark")
        if end == following:
            continue  # no white space: within a word or number
        marked = end >= 0
        if not marked:
            end = _without_space(text, found.start())
        breaks = text.count("\n", end, following)
        if breaks == 1 and end >= block_end:
            width, block_end = _block(text, end)
        if breaks > 1:
            ends = True
        elif marked:
            mark = BoundaryCandidate(text, found.start(), end, following, sentence=start)
            ends = ends_sentence(mark, language) or (breaks == 1 and _line_ends_at(mark, width, language))
        else:
            ends = ends_line(_line_before(text, end), text, following, width)
        if ends:
            yield end, following
            start = following


def _without_space(text: str, end: int) -> int:
    """``end`` without the white space before it."""
    while text[end - 1].isspace():
        end -= 1
    return end


def _block(text: str, place: int) -> tuple[int, int]:
    """Width of the longest line from the line of ``place`` to the next blank line, and where that blank line is."""
    blank = _BLANK_LINE.search(text, place)
    end = blank.start() if blank else len(text)
    begin = text.rfind("\n", 0, place) + 1
    return max(len(line.rstrip()) for line in text[begin:end].split("\n")), end


def _line_before(text: str, end: int) -> str:
    """The line that ends here."""
    return text[text.rfind("\n", 0, end) + 1 : end]


def _line_ends_at(mark: BoundaryCandidate, width: int, language: str) -> bool:
    """Whether a line break ends a sentence where punctuation alone does not: after an abbreviation.

    Judges' names and titles are on short lines ("ROY, J."); a long line that ends with an initial was wrapped.
    """
    text = mark.text
    if begins_item(text, mark.following):
        return True
    line = _line_before(text, mark.end)
    ahead = text[mark.following : mark.following + SHORT_LINE].split(None, 1)[0]
    return (
        ahead[0].isupper()
        and (len(line) <= SHORT_LINE or (ahead.isupper() and ahead[:3].isalpha()))
        and ending(language, mark.word) is not LastWordKind.NEVER_FINAL
        and is_deliberate(line, ahead, width)
    )
