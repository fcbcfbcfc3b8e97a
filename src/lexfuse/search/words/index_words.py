"""The words of an index as they are written, with how often each occurs: what corrections and suggestions are made from.

These are all words of the documents. In PostgreSQL, and where an older LexFuse wrote a segment, they are the words of titles and
headings.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import I64
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.analyser import WORD
from lexfuse.text.everyday.spelling_distance import longest_distance, spelling_distance
from lexfuse.text.letters import compose, fold

SHORTEST = 3  # letters of a word that is kept
COMMON = 0.2  # how much distance a word that is ten times as frequent makes up for
COMPLETED = 24  # frequent words among which a completion is looked for
TOGETHER = 2  # rarest words of a question that a completion should be found with
_LAST = "\U0010ffff"
_LETTERS = 32  # classes of letters that are counted to find similar words


class _WordShapes(NamedTuple):
    """Words by length, shortest first, their lengths, and a row for each class of letters with its counts in every word."""

    words: list[str]
    lengths: I64
    letters: NDArray[np.int8]


class IndexWords:
    """The words of a snapshot; they are read when they are first asked for, once for all snapshots with the same documents.

    >>> words = IndexWords(snapshot)
    >>> words.similar("bibliotheke", "fr"), words.spelled("bibliotheque"), words.beginning("bibl")
    (['bibliotheque'], 'bibliothèque', ['bibliotheques', 'bibliotheque'])
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Keep the snapshot."""
        self._snapshot = snapshot

    @property
    def headings(self) -> Counter[str]:
        """Every heading of the documents, with how many documents are directly or indirectly below it."""
        return self._snapshot.derived("headings", self._counted_headings)

    def _counted_headings(self) -> Counter[str]:
        codes, paths = self._snapshot.coded("headings")
        counts, found = np.bincount(codes, minlength=len(paths)).tolist(), Counter[str]()
        for path, count in zip(paths, counts, strict=True):
            for heading in dict.fromkeys(json.loads(path) if path else ()):
                found[heading] += count
        return found

    @property
    def _spellings(self) -> dict[str, str]:
        """The most frequent spelling, with accents, of each word of titles and headings, and of others that were looked up."""
        return self._snapshot.derived("spellings", self._spellings_of_titles)

    def _spellings_of_titles(self) -> dict[str, str]:
        counts: dict[str, Counter[str]] = {}
        for text, number in self._titles():
            for word in WORD.findall(text):
                spelled = compose(word).lower()
                counts.setdefault(fold(spelled), Counter())[spelled] += number
        return {word: min(found, key=lambda one: (-found[one], one)) for word, found in counts.items()}

    def _titles(self) -> Iterator[tuple[str, int]]:
        yield from self.headings.items()
        codes, titles = self._snapshot.coded("title")
        yield from zip(titles, np.bincount(codes, minlength=len(titles)).tolist(), strict=True)

    @property
    def _counts(self) -> dict[str, int]:
        """How often each word occurs, in the order of letters."""
        return self._snapshot.derived("word counts", self._counted_words)

    def _counted_words(self) -> dict[str, int]:
        words, found = self._snapshot.written_words, Counter[str]()
        if words is not None:
            found.update(words.counts())
        else:
            for text, number in self._titles():
                for word in WORD.findall(text):
                    found[fold(compose(word).lower())] += number
        kept = {word: number for word, number in found.items() if len(word) >= SHORTEST and word.isalpha()}
        return dict(sorted(kept.items()))

    @property
    def _words(self) -> list[str]:
        return self._snapshot.derived("words", lambda: list(self._counts))

    @property
    def _shapes(self) -> _WordShapes:
        return self._snapshot.derived("word shapes", self._shaped_words)

    def _shaped_words(self) -> _WordShapes:
        words = sorted(self._words, key=len)
        return _WordShapes(words, np.array([len(word) for word in words]), np.ascontiguousarray(signatures(words).T))

    def __contains__(self, word: str) -> bool:
        """Whether a word occurs as it is written, without accents."""
        return word in self._counts

    def count(self, word: str) -> int:
        """How often a word occurs."""
        return self._counts.get(word, 0)

    def spelled(self, word: str) -> str:
        """A word with its accents, as titles and headings write it, or else a document that has it."""
        if word not in self._spellings:
            self._spellings[word] = self._spelled_in_text(word) or word
        return self._spellings[word]

    def _spelled_in_text(self, word: str) -> str:
        words = self._snapshot.written_words
        id = words.first_document(word) if words is not None else ""
        for document in self._snapshot.documents([id]) if id else ():
            for token in WORD.findall(" ".join((document.title, *document.headings, document.text))):
                if fold(spelled := compose(token).lower()) == word:
                    return spelled
        return ""

    def beginning(self, prefix: str, most: int = 20) -> list[str]:
        """The words that begin with some letters, the most frequent first."""
        words, wanted = self._words, fold(prefix.lower())
        some = words[bisect_left(words, wanted) : bisect_left(words, wanted + _LAST)]
        return sorted(some, key=lambda word: (-self._counts[word], word))[:most]

    def following(self, prefix: str, others: Sequence[str], most: int = 4) -> list[str]:
        """The words that begin with some letters, first those that are mostly found together with other words.

        Letters that are typed with accents come first where words have them.

        >>> IndexWords(snapshot).following("bibl", ["horaires"])
        ['bibliotheque', 'bibliotheques']
        """
        words, typed = self.beginning(prefix, COMPLETED), compose(prefix).lower()
        known = sorted((word for word in {*others} if word in self._counts), key=self.count)[:TOGETHER]
        together = self._together(words, known) if known else {}
        accents = typed != fold(typed)
        words.sort(key=lambda word: (accents and not self.spelled(word).startswith(typed), -together.get(word, 0)))
        return words[:most]

    def _together(self, words: Sequence[str], others: Sequence[str]) -> dict[str, float]:
        """How much each word belongs to the others: documents that have all, squared, over those that have the word."""
        written = self._snapshot.written_words
        if written is None:
            return {}
        found = zip(words, written.together(words, others), strict=True)
        return {word: one.together**2 / max(one.documents, 1) for word, one in found}

    def similar(self, word: str, language: str = "", most: int = 5) -> list[str]:
        """The words that may have been meant by a misspelt one, the likeliest first."""
        typed = fold(word.lower())
        limit = longest_distance(len(typed))
        if not limit or not typed.isalpha() or not self._words:
            return []
        found = []
        for candidate in self._candidates(typed, limit):
            distance = spelling_distance(typed, candidate, language, limit)
            if distance <= limit:
                found.append((distance - COMMON * np.log10(self._counts[candidate]), candidate))
        return [candidate for _, candidate in sorted(found)[:most]]

    def _candidates(self, typed: str, limit: float) -> Sequence[str]:
        """The words whose letters differ by no more than this many edits of the cheapest kind could change."""
        words, lengths, letters = self._shapes
        edits = int(np.ceil(limit / 0.5)) if limit <= 1 else 3
        near = slice(*np.searchsorted(lengths, (len(typed) - edits, len(typed) + edits + 1)).tolist())
        differing = np.abs(letters[:, near] - signatures([typed]).T).sum(axis=0, dtype=np.int16)
        return [words[near.start + at] for at in np.flatnonzero(differing <= 4).tolist()]


def signatures(words: Sequence[str]) -> NDArray[np.int8]:
    """How often letters of each class occur in each word; a class is a few letters, one of them of the Latin alphabet.

    >>> signatures(["abba"])[0, 1:3].tolist()
    [2, 2]
    """
    found = np.zeros((len(words), _LETTERS), dtype=np.int8)
    codes = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32) % _LETTERS
    rows = np.repeat(np.arange(len(words)), [len(word) for word in words])
    np.add.at(found, (rows, codes), 1)
    return found


def is_indexed(snapshot: Snapshot, terms: Sequence[str]) -> bool:
    """Whether a document that is not deleted holds one of these terms.

    >>> is_indexed(snapshot, ["bibliothequ"]), is_indexed(snapshot, ["bibliothek"])
    (True, False)
    """
    postings = snapshot.postings(LEXICAL)
    numbers = (postings.vocabulary.find(term) for term in terms)
    return any(number is not None and postings.document_frequency[number] > 0 for number in numbers)
