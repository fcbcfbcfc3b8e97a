"""The outline of a text: where articles and sections begin, and the headings above each.

A text is a list of blocks: paragraphs, lines and headings. A heading has a level where the format states one (HTML, Markdown,
DOCX, ODT); in plain text and PDF, lines such as ``Chapter II`` and ``Article 12`` are recognised by their words.

Only a text with a sequence of provisions is divided: two headings with a level, or three lines whose numbers ascend. A
judgment that quotes an article stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_NUMBER = r"""(?:(?:LO|[LRDA])\.?\s?\*{0,2}\s?)?\d+(?:er|re)?[a-z]{0,2}\b(?:[-.‑–/]\d+[a-z]?\b)*
    (?:\s(?:bis|ter|quater|[a-z]{2,14}ies)\b)?(?:[-\s](?:\d{1,2}\s)?[A-Z]{1,2}\b(?!-[^\W\d])
    (?:\s(?:bis|ter|quater|[a-z]{2,14}ies)\b)?(?!\s[a-z]))?
    | (?i:premier\b | unique\b | (?:pré)?liminaire\b | annexe\b[^.:]{0,30}
    | (?:primero|segundo|tercero|cuarto|quinto|sexto|s[ée]ptimo|octavo|noveno|d[ée]cimo|[úu]nico)\b)
    | [A-Z]\b(?!\s[a-z]) | (?:[LRDA]\.?\s?)?[IVXLC]+(?:[-.]\d+)*\b"""
_FAMILIES = {  # in this order: where a text has articles, a "Section 2" above them is a heading
    "article": r"(?:articles?|art\.?|artikels?|art[íi]culos?|articol[oi]|artigos?)",
    "paragraph sign": r"§",
    "section": r"(?:sections?|sec\.|s\.|secci[óo]n|rule|regulation|clause)",
}
_PROVISIONS = {
    name: re.compile(rf"(?P<label>(?i:{words})\s?(?:n[°ºo]\s?)?(?P<number>{_NUMBER}))(?P<rest>.*)", re.VERBOSE | re.DOTALL)
    for name, words in ((name, words.replace(" ", r"\ ")) for name, words in _FAMILIES.items())
}
# The words of headings above provisions, from the outermost in.
_RANKS = {
    word: rank
    for rank, words in enumerate((
        "partie part teil deel parte annexe annex anhang anlage schedule bijlage anexo allegato",
        "livre book buch boek libro livro",
        "titre title título titolo titulo titel",
        "sous-titre subtitle untertitel",
        "chapitre chapter kapitel hoofdstuk capítulo capitolo capitulo capo",
        "section abschnitt afdeling sección sezione secção sección division",
        "sous-section subsection unterabschnitt subdivision",
        "paragraphe paragraaf sous-paragraphe",
    ))
    for word in words.split()
}  # fmt: skip
_UNRANKED = len(_RANKS)
_HEADING = re.compile(
    rf"""(?:[IVXLC\d]+\.?\s|erste[rs]?\s|zweite[rs]?\s|dritte[rs]?\s|vierte[rs]?\s|fünfte[rs]?\s|premi[èe]re?\s|deuxi[èe]me\s|
    troisi[èe]me\s|quatri[èe]me\s|cinqui[èe]me\s)?(?P<word>{"|".join(sorted(_RANKS, key=len, reverse=True))})\b
    (?P<number>\s(?:\d|[IVXLC]+(?:er|e|ère)?\b|[A-Z]\b|préliminaire|unique|premier|one\b|two\b|three\b))?""",
    re.IGNORECASE | re.VERBOSE,
)
_LEADERS = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}")  # of a table of contents
_LONGEST_HEADING = 160  # characters of a line that is a heading
_ASCENDING = 0.8  # share of the steps between provisions


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or line; one with a level is a heading, 1 the outermost."""

    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """A provision with the headings above it; without a number, the text between headings and the first provision."""

    number: str
    title: str
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """A block that begins a provision; the rest of its line is its heading, or the beginning of its text."""

    at: int
    number: str
    title: str
    text: str


@dataclass(slots=True)
class _Part:
    """A unit while its text is read."""

    number: str = ""
    title: str = ""
    level: int = 0
    text: list[str] = field(default_factory=list)


def units(blocks: Sequence[Block]) -> list[Unit]:
    """The provisions of a text and what is between them, in order; an empty list if it has no sequence of provisions.

    >>> text = ["Lending Act", "Chapter I", "Article 1", "A book is lent.", "Article 2 – Return", "It is returned."]
    >>> text += ["Article 3. It ends."]
    >>> [(unit.number, unit.title, unit.headings, unit.text) for unit in units([Block(line) for line in text])][1:]
    [('1', 'Article 1', ('Chapter I',), 'A book is lent.'), ('2', 'Article 2 – Return', ('Chapter I',), 'It is returned.'),
     ('3', 'Article 3', ('Chapter I',), 'It ends.')]
    >>> units([Block("He relied on:"), Block("Article 6"), Block("and lost.")])
    []
    """
    marks = _marks(blocks)
    if not marks:
        return []
    found: list[Unit] = []
    above: list[tuple[int, int, str]] = []  # level, rank and text of the open headings
    part = _Part()
    by_place = {mark.at: mark for mark in marks}
    leveled = any(blocks[mark.at].level for mark in marks)

    def close() -> None:
        if part.number or any(part.text):
            headings = tuple(text for _, _, text in (above if part.number else above[:-1]))
            found.append(Unit(part.number, part.title, headings, "\n".join(part.text)))

    for at, block in enumerate(blocks):
        if mark := by_place.get(at):
            close()
            if block.level:
                above = [one for one in above if one[0] < block.level or one[1] < _UNRANKED]
            part = _Part(mark.number, mark.title, block.level, [mark.text] if mark.text else [])
        elif (heading := _heading(block, part, leveled)) is not None:
            close()
            level, rank = heading
            above = [one for one in above if one[0] < level or (one[0] == level and one[1] < rank)]
            above.append((level, rank, block.text))
            part = _Part(title=block.text)
        else:
            part.text.append(block.text)
    close()
    return found


def _heading(block: Block, part: _Part, leveled: bool) -> tuple[int, int] | None:
    """Level and rank of a heading; ``None`` for text, and for a heading inside a provision."""
    match = _HEADING.match(block.text) if len(block.text) <= _LONGEST_HEADING and not _LEADERS.search(block.text) else None
    rank = _RANKS[match["word"].lower()] if match else _UNRANKED
    if block.level:
        inside = part.number and part.level and block.level > part.level and match is None
        return None if inside else (block.level, rank)
    if leveled or match is None or (not match["number"] and not block.text.isupper()) or block.text.endswith((".", ",", ";")):
        return None
    return (1, rank)


def _marks(blocks: Sequence[Block]) -> list[_Mark]:
    """The provisions of the first family that has a sequence of them."""
    every = {
        name: [mark for at, block in enumerate(blocks) if (mark := _mark(at, block, family))]
        for name, family in _PROVISIONS.items()
    }
    for name, found in every.items():
        leveled = [mark for mark in found if blocks[mark.at].level]
        signs = [mark for mark in every["paragraph sign"] if blocks[mark.at].level]
        if (
            name == "article" and len(leveled) > 1 and 2 * len(signs) > len(leveled)
        ):  # articles of a law that has sections in them
            return sorted([*leveled, *signs], key=lambda mark: mark.at)
        if len(leveled) > 1 and _ascending(leveled, repeats=True):  # 46 bis and 46 ter
            return leveled
        if len(found) > 2 and _ascending(found, repeats=False):
            return found
    return []


def _mark(at: int, block: Block, family: re.Pattern[str]) -> _Mark | None:
    match = family.match(block.text)
    if match is None or _LEADERS.search(block.text):
        return None
    label, rest = match["label"].strip(), match["rest"]
    number = re.sub(r"\s+", " ", match["number"]).strip()
    heading = rest.strip(" .:–—-\t")
    if block.level:
        said = rest.lstrip()[:1].islower() and not label.startswith("§")  # "Section 73 gives the tribunal …"
        return None if said or len(block.text) > 3 * _LONGEST_HEADING else _Mark(at, number, block.text, "")
    if not heading:
        return _Mark(at, number, label, "")
    if rest[0] in ".:" or re.match(r"\s?[–—-]\s|\s?\(", rest):  # "Article 5. The lease ends." has its text in the line
        whole = len(heading) > _LONGEST_HEADING or (block.text.rstrip().endswith((".", ";", ":")) and len(heading.split()) > 1)
        return (
            _Mark(at, number, label, rest.strip() if rest[0] == "(" else rest.lstrip(" .:–—-\t").rstrip())
            if whole
            else _Mark(at, number, block.text, "")
        )
    capital = rest[0].isspace() and heading[0].isupper() and len(block.text) <= _LONGEST_HEADING
    return _Mark(at, number, block.text, "") if capital and not block.text.rstrip().endswith((".", ",", ";")) else None


def _ascending(marks: Sequence[_Mark], *, repeats: bool) -> bool:
    """Whether most numbers are above the one before, or equal; numbers such as ``L111-2`` are compared part by part."""
    keys = [[int(digits) for digits in re.findall(r"\d+", mark.number)] for mark in marks]
    steps = [before < after or (repeats and before == after) for before, after in pairwise(keys)]
    return sum(steps) >= _ASCENDING * len(steps)


def text_blocks(text: str) -> Iterator[Block]:
    """The lines of a plain text as blocks, without blank ones."""
    return (Block(stripped) for line in text.split("\n") if (stripped := line.strip()))
