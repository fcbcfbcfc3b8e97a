"""From text to index terms: words are normalised, stemmed and folded; citations become terms.

It is fast because Python code runs once per distinct word: two passes in C (`bytes.translate`, `bytes.split`) split a text at
punctuation, and a table of known pieces gives the terms of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from lexfuse.deadline import check
from lexfuse.errors import ConfigError
from lexfuse.text.analysis.language_table import CURRENT_VERSION, FoldingOrder, StemmedLanguage, language_of, languages
from lexfuse.text.citation.identifiers import Identifier, follows_initial, identifiers_of, usual_terms
from lexfuse.text.citation.scanner import IDENTIFIER
from lexfuse.text.letters import compose, fold

# A word: letters, digits and underscores, with combining accents and soft hyphens inside. Unicode counts the modifier
# apostrophe as a letter, but in French it is the apostrophe of an elision.
WORD = re.compile(r"(?:[^\W\u02bc]++|[\u0300-\u036f\u00ad]++)++")
# The vowels and signs of Hebrew, Arabic, Devanagari and Tamil script are marks inside a word too.
_MARKED_WORD = re.compile(
    r"(?:[^\W\u02bc]++|[\u0300-\u036f\u00ad\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0b82-\u0bd7]++)++"
)
_MARKED_LANGUAGES = ("ar", "fa", "hi", "ne", "ta", "yi")
_TURKISH_CAPITALS = str.maketrans("Iİ", "ıi")

# ASCII punctuation becomes a space and capitals become lower case; other bytes are left to `WORD`.
_CUT = bytes(
    (byte | 32 if 65 <= byte <= 90 else byte) if byte >= 128 or chr(byte).isalnum() or byte == 95 else 32 for byte in range(256)
)
# Common marks outside ASCII. The result is the same without them, but "l’article" as one piece would fill the table.
_MARKS = "’‘“”«»–—‑‐…•·\u00a0\u202f\u2009°§€"
_CACHE_LIMIT = 2_000_000  # distinct pieces; then the table is cleared
# Marks between pieces, of private use: they are no words, and texts have none.
SENTENCE, PARAGRAPH, STRETCH, FURTHER = "\ue000", "\ue001", "\ue002", "\ue003"
LONGEST_KEPT = 200  # bytes of a piece in the tables; a longer one is not a word and may be a whole text


class Folding(StrEnum):
    """The treatment of accents."""

    KEEP = "keep"  # congé and conge are two terms
    FOLD = "fold"  # one term, without accents
    BESIDE = "beside"  # the exact term, and the folded one if it differs


class Token(NamedTuple):
    """A word or citation and its place; `terms` is empty if it is not indexed (stop words, single letters).

    >>> token = Analyser("fr").tokens("L'Employé")[1]
    >>> token.exact, token.terms
    ('employé', ('employ',))
    """

    start: int
    end: int
    text: str
    exact: str  # the word in lower case with its accents, not stemmed; the key of a citation
    terms: tuple[str, ...]
    citation: bool = False


class _TermPieces(NamedTuple):
    """Pieces that were met, and those of each term."""

    met: set[bytes]
    by_term: dict[str, set[bytes]]


@dataclass(frozen=True)
class Analyser:
    """Turns text of one language into index terms; documents and queries must use the same analyser.

    A language without a stemmer (see `lexfuse.text.analysis.language_table`) has neither stems nor stop words.

    >>> Analyser("fr").terms("L’article L. 1234-5 s'applique aux salariés licenciés")
    ['articl', 'l1234_5', 'chapter_1234', 'title_123', 'appliqu', 'salar', 'licenc']
    """

    language: str = "en"
    stems: bool = True
    stop_words: bool = True
    citations: bool = True
    folding: Folding = Folding.FOLD
    version: int = CURRENT_VERSION  # of the analysis; 1 stems French and English only
    _terms: dict[bytes, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    _pieces: list[_TermPieces] = field(default_factory=lambda: [_TermPieces(set(), {})], repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse an invalid language code and an unknown version."""
        if self.language and not re.fullmatch("[a-z]{2,3}", self.language):
            known = ", ".join(sorted(languages()))
            raise ConfigError(f"language must be a code like fr or en, got {self.language!r}; languages with stems are {known}")
        if not 1 <= self.version <= CURRENT_VERSION:
            raise ConfigError(f"version of the analysis must be 1 to {CURRENT_VERSION}, got {self.version}; update LexFuse")

    def terms(self, text: str) -> list[str]:
        """Index terms in text order.

        >>> Analyser("en").terms("Whether the employers' notices were given")
        ['whether', 'employ', 'notic', 'given']
        """
        return [term for piece in self.pieces(text) for term in self.terms_of_piece(piece)]

    def tokens(self, text: str) -> list[Token]:
        """Every word and citation with its place in the text; the terms equal those of `terms`.

        >>> [(t.text, t.terms) for t in Analyser("fr").tokens("l'art. L. 1")]
        [('l', ()), ('art', ('art',)), ('L. 1', ('l1_',))]
        """
        tokens: list[Token] = []
        at = 0
        for item in self._citations(text):
            tokens += self._words(text, at, item.start)
            tokens.append(Token(item.start, item.end, text[item.start : item.end], item.key, item.terms, citation=True))
            at = item.end
        return tokens + list(self._words(text, at, len(text)))

    def matching(self, text: str, wanted: Set[str]) -> list[Token]:
        """The `tokens` that have one of these terms; faster, since other words are only looked up in a table.

        >>> [token.text for token in Analyser("fr").matching("les salariés de l'art. L. 1", {"salar", "l1_"})]
        ['salariés', 'L. 1']
        """
        parts, cited, at = list[str](), list[Token](), 0
        for item in self._citations(text):
            parts += (text[at : item.start], " " * (item.end - item.start))  # spaces, so that words keep their places
            at = item.end
            if not wanted.isdisjoint(item.terms):
                cited.append(Token(item.start, item.end, text[item.start : item.end], item.key, item.terms, citation=True))
        words = self._matching_words("".join((*parts, text[at:])), wanted)
        return sorted([*words, *cited]) if cited else list(words)

    def pieces(self, text: str) -> list[bytes]:
        """The text split at white space and ASCII punctuation, with citations replaced by their terms.

        >>> Analyser("en").pieces("Case C-60/22, a.")
        [b'case', b'c_60_22', b'a']
        """
        parts: list[str] = []
        at = 0
        for start, end, terms in self._cited(text):
            parts += (text[at:start], *terms)
            at = end
        return _cut(self._lowered(" ".join((*parts, text[at:])) if parts else text)).split()

    def marked_pieces(self, text: str, marks: Sequence[tuple[int, str]] = ()) -> list[bytes]:
        r"""The `pieces` with a mark before some places, in ascending order; a mark inside a citation comes after it.

        All terms of a citation but the first begin with `FURTHER`: they belong to the place of the first. The terms are those of
        `terms`, since marks have none.

        >>> [piece.decode() for piece in Analyser("fr").marked_pieces("Vu l'art. L. 1234-5. Vu.", [(21, SENTENCE)])]
        ['vu', 'l', 'art', 'l1234_5', '\ue003chapter_1234', '\ue003title_123', '\ue000', 'vu']
        """
        parts: list[str] = []
        at, waiting = 0, 0
        for start, end, terms in (*self._cited(text), (len(text), len(text), ())):
            while waiting < len(marks) and marks[waiting][0] <= start:
                place, mark = marks[waiting]
                parts += (text[at:place], mark) if place >= at else (mark,)
                at, waiting = max(at, place), waiting + 1
            parts += (text[at:start], *terms[:1], *(f"{FURTHER}{term}" for term in terms[1:]))
            at = end
        return _cut(self._lowered(" ".join(parts))).split()

    def _cited(self, text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Start, end and terms of every citation, in order."""
        at = 0
        for match in IDENTIFIER.finditer(text) if self.citations else ():
            start, end = match.span()
            terms = usual_terms(text[start - 3 : end])
            if terms and not follows_initial(text, start - 3):
                yield start - 3, end, terms
                at = end
                continue
            for item in identifiers_of(match):
                if item.start >= at:
                    yield item.start, item.end, item.terms
                    at = item.end

    def terms_of_piece(self, piece: bytes) -> tuple[str, ...]:
        """Index terms of one piece, cached in a table.

        >>> Analyser("fr").terms_of_piece("congés".encode())
        ('cong',)
        """
        terms = self._terms.get(piece)
        if terms is None:
            check()
            terms = tuple(term for word in self._words_in(piece) for term in self._terms_of_word(word))
            if len(piece) <= LONGEST_KEPT:
                if len(self._terms) >= _CACHE_LIMIT:
                    self._terms.clear()
                self._terms[piece] = terms
        return terms

    def words_of_piece(self, piece: bytes) -> list[tuple[str, tuple[str, ...]]]:
        """Every word of a piece as it is written, in lower case without accents, and its terms; stop words have none.

        >>> Analyser("fr").words_of_piece("congés".encode()), Analyser("fr").words_of_piece(b"de")
        ([('conges', ('cong',))], [('de', ())])
        """
        return [(fold(word), self._terms_of_word(word)) for word in self._words_in(piece)]

    def written_words(self, text: str) -> list[tuple[str, tuple[str, ...]]]:
        """Every word of a text as `words_of_piece` gives it; a citation is one word, its first term.

        >>> Analyser("fr").written_words("l'art. L. 12-3")
        [('l', ()), ('art', ('art',)), ('l12_3', ('l12_3',))]
        """
        pieces = [piece for piece in self.marked_pieces(text) if not piece.startswith(FURTHER.encode())]
        return [word for piece in pieces for word in self.words_of_piece(piece)]

    def _words_in(self, piece: bytes) -> Sequence[str]:
        """The words of a piece, composed and in lower case."""
        word, find = _decoded(piece), self._word.findall
        return (word,) if word.isascii() else find(" ".join(map(compose, find(word))).lower())

    def _citations(self, text: str) -> list[Identifier]:
        if not self.citations:
            return []
        items: list[Identifier] = []
        at = 0
        for match in IDENTIFIER.finditer(text):
            for item in identifiers_of(match):
                if item.start >= at:
                    items.append(item)
                    at = item.end
        return items

    def _words(self, text: str, start: int, end: int) -> Iterator[Token]:
        for word in self._word.finditer(text, start, end):
            check()
            yield self._token(word)

    def _token(self, place: re.Match[str]) -> Token:
        word = self._lowered(place.group())
        return Token(place.start(), place.end(), place.group(), compose(word).lower(), self.terms_of_piece(_piece(word)))

    def _matching_words(self, text: str, wanted: Set[str]) -> Iterator[Token]:
        cut = _cut(self._lowered(text))
        line, start, before, narrow = b" %b " % cut, 0, 0, cut.isascii()
        found = self._pieces_with(wanted, set(cut.split()))
        for at, piece in sorted((at, one) for one in found for at in _places(line, one)):
            start += at - before if narrow else len(_decoded(cut[before:at]))
            before = at
            yield from self._tokens_of_piece(text, start, piece, wanted)

    def _pieces_with(self, wanted: Set[str], pieces: set[bytes]) -> set[bytes]:
        """The pieces that have one of these terms, by a table of the pieces of each term."""
        table = self._pieces[-1]
        if len(table.met) >= _CACHE_LIMIT:
            table = self._pieces[-1] = _TermPieces(set(), {})  # other threads may still read the old one
        found = set[bytes]()
        for piece in pieces.difference(table.met):
            terms = self.terms_of_piece(piece)
            if len(piece) > LONGEST_KEPT:
                found.update(() if wanted.isdisjoint(terms) else (piece,))
                continue
            for term in terms:
                table.by_term.setdefault(term, set()).add(piece)
            table.met.add(piece)
        return found | pieces.intersection(set().union(*(table.by_term.get(term, ()) for term in wanted)))

    def _tokens_of_piece(self, text: str, start: int, piece: bytes, wanted: Set[str]) -> Iterator[Token]:
        """The tokens at a place where a piece was found; most pieces are one word."""
        word = _decoded(piece)
        end = start + len(word)
        if piece.isascii() or (text[start:end] == word and self._word.fullmatch(word)):
            yield Token(start, end, text[start:end], compose(word).lower(), self.terms_of_piece(piece))
            return
        for place in self._word.finditer(text, start, end):
            token = self._token(place)
            if not wanted.isdisjoint(token.terms):
                yield token

    def _terms_of_word(self, word: str) -> tuple[str, ...]:
        if len(word) < 2 or (self.stop_words and self._own and word in stop_words(self.language)):
            return ()
        if "_" in word and word.isascii() and any(letter.isdigit() for letter in word):
            return (word,)  # a citation
        stem = stem_of(self.language) if self.stems and self._own else str
        if self.folding is Folding.KEEP:
            return (stem(word),)
        order = self._own.folding if self._own else FoldingOrder.BEFORE
        if order is FoldingOrder.NEVER:
            return (stem(word),)
        folded = stem(fold(word)) if order is FoldingOrder.BEFORE else fold(stem(word)).replace("ı", "i")
        return (folded,) if self.folding is Folding.FOLD else tuple(dict.fromkeys((stem(word), folded)))

    @cached_property
    def _own(self) -> StemmedLanguage | None:
        return language_of(self.language, self.version)

    @cached_property
    def _word(self) -> re.Pattern[str]:
        return _MARKED_WORD if self._own and self.language in _MARKED_LANGUAGES else WORD

    def _lowered(self, text: str) -> str:
        """The text with Turkish I and İ in lower case, which differ from those of other languages."""
        return text.translate(_TURKISH_CAPITALS) if self.language == "tr" and self._own else text


def _piece(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass").translate(_CUT)


def _decoded(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogatepass")


def _cut(text: str) -> bytes:
    """A text in lower case with spaces for punctuation; characters outside ASCII stay, but for common marks."""
    if not text.isascii():
        for mark in _MARKS:
            text = text.replace(mark, " ")
    return _piece(text)


def _places(line: bytes, piece: bytes) -> Iterator[int]:
    """The bytes before each place of a piece in a text that was cut, which has a space before and after it here."""
    wanted = b" %b " % piece
    at = line.find(wanted)
    while at >= 0:
        yield at
        at = line.find(wanted, at + len(piece) + 1)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words too common to index, in exact and folded form; empty for languages without a list.

    >>> "où" in stop_words("fr"), "für" in stop_words("de"), stop_words("xx")
    (True, True, frozenset())
    """
    for line in (files("lexfuse.text.analysis") / "stop_words.txt").read_text("utf-8").splitlines():
        codes, words = line.split(":")
        if language in codes.split():
            return frozenset(words.split()) | frozenset(map(fold, words.split()))
    return frozenset()


@cache
def stem_of(language: str) -> Callable[[str], str]:
    """The stemmer of a language (Snowball).

    >>> stem_of("en")("notices")
    'notic'
    """
    import Stemmer

    # Without its cache: the analyser stems every word once.
    stem: Callable[[str], str] = Stemmer.Stemmer(languages()[language].stemmer, maxCacheSize=0).stemWord
    return stem
