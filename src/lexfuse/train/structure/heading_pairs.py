"""Pairs from headings: the heading of a section is a short query for its content.

"Section 2 : Rupture conventionnelle" becomes *Rupture conventionnelle*: numbers of divisions say nothing about the content. Many
headings are not specific either ("Dispositions générales" occurs in 300 places of four French codes), so a query extends from the
innermost heading outward until it identifies a place, in three words or more: "Rupture conventionnelle : Dispositions générales".
A second query has one more heading. The law and its decrees have the same headings in several parts of a code, hence `PLACES`.
Judgments share most of their headings ("The second ground of appeal"); theirs must have a distinctive word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from lexfuse.data.corpus import Corpus
from lexfuse.encode.passage_plan import whole_text
from lexfuse.text.citation.find import mask_citations
from lexfuse.train.examples.training_pair import LEAST_WORDS, TrainingPair, stable_random, word_count

JOINED = " : "
PLACES = 3  # that may share a heading before it no longer identifies its content
WITHOUT_HEADINGS = 0.5  # of the pairs have passages without the headings that the query was made of
SECTION_WORDS = 200  # of the running text of a section: the window of BSARD

_DIVISION = (
    r"(?:sous-?\s?)?(?:partie|livre|titre|chapitre|section|paragraphe|annexe|part|book|title|chapter|division|schedule|appendix)"
)
_NUMERAL = (
    r"(?:[0-9]+(?:[.-][0-9]+)*(?:er|re|e|ème)?|[IVXLC]+(?:er|re|e)?(?:[.-][0-9]+)*|[A-Z]|unique|préliminaire|premi(?:er|ère))"
    r"(?:\s(?:bis|ter|quater|quinquies|sexies|septies|octies|nonies|[A-Z]))*"
)
_LABEL = re.compile(
    rf"(?:{_DIVISION}\s{_NUMERAL}|\w+\spartie|(?:[0-9]{{1,2}}|[IVX]{{1,5}}|[A-Z])(?=\s?[.)°]))(?!\w)[\s.:)°–—-]*", re.IGNORECASE
)
# The parts of a French code by who made them, and of a collective agreement.
_PART = re.compile(
    r"(?:nouvelle\s)?partie\s(?:législative|réglementaire)\b.*|annexes?|textes?\s(?:de\sbase|attachés|salaires)|…\W*",
    re.IGNORECASE,
)
_ENDS = " .:;…–—-"
_NAMELESS = "headings that have too few words or occur in many places"


def heading_pairs(corpus: Corpus, distinct: list[int], seed: int, left: Counter[str]) -> Iterator[TrainingPair]:
    """Pairs of heading path and article, at most two queries for each.

    >>> headings = ("Livre Ier : Location", "Titre II : Fin du bail", "Section 1 : Congé")
    >>> document = Document("a", text="Le congé se donne par lettre.", code="Code", headings=headings)
    >>> [pair.query for pair in heading_pairs(Corpus.of([document]), [0], 1, Counter())]
    ['Fin du bail : Congé', 'Location : Fin du bail : Congé']
    """
    naming = _HeadingNames(corpus)
    for ordinal in distinct:
        document, names = corpus[ordinal], names_of(corpus.headings[ordinal])
        depth = naming.depth(ordinal, names)
        if not names:
            left["documents without an informative heading"] += 1
        elif depth > len(names) and not document.code:
            left[f"documents under {_NAMELESS}"] += 1
        else:
            path = (document.code, *names) if depth > len(names) else names
            for length in dict.fromkeys((depth, min(depth + 1, len(path)))):
                query = JOINED.join(path[-length:])
                yield TrainingPair(
                    query, whole_text(document, stable_random(seed, "headings", document.id, query) >= WITHOUT_HEADINGS)
                )


def title_pairs(corpus: Corpus, distinct: list[int], left: Counter[str]) -> Iterator[TrainingPair]:
    """Pairs of title and body: the title of a document with its text, the title of a section with the text of its documents.

    A title that is only a code and number, or that many documents have, makes no pair. Neither title nor headings are in the
    passage.

    >>> titled = Document("a", title="Code, art. 1: duty to pay rent", text="The tenant pays rent.", code="Code", number="1")
    >>> [pair.query for pair in title_pairs(Corpus.of([titled]), [0], Counter())]
    ['duty to pay rent']
    """
    naming = _HeadingNames(corpus)
    sections: dict[tuple[str, ...], list[int]] = defaultdict(list)
    titles = [own_title(corpus.title[ordinal], corpus.code[ordinal], corpus.number[ordinal]) for ordinal in distinct]
    shared = Counter(titles)
    for ordinal, title in zip(distinct, titles, strict=True):
        if title and shared[title] <= PLACES:
            yield TrainingPair(title, corpus.text[ordinal])
        else:
            left["documents whose title is empty, shared by many, or only a code and a number"] += 1
        if corpus.headings[ordinal]:
            sections[_place(corpus, ordinal)].append(ordinal)
    for ordinals in sections.values():
        names = names_of(corpus.headings[ordinals[0]])
        depth = naming.depth(ordinals[0], names)
        if len(ordinals) == 1 or not names or depth > len(names):
            left[f"sections of one document, or under {_NAMELESS}"] += 1
            continue
        yield TrainingPair(JOINED.join(names[-depth:]), _running(corpus, ordinals))


def names_of(headings: tuple[str, ...]) -> tuple[str, ...]:
    """Headings without the numbers of their divisions; headings that are only a number are omitted.

    >>> names_of(("Partie législative", "Livre II : Le contrat", "Chapitre unique.", "B. - Préavis."))
    ('Le contrat', 'Préavis')
    """
    return tuple(filter(None, map(_name, headings)))


def own_title(title: str, code: str, number: str) -> str:
    """The title without code and number.

    >>> own_title("Code du travail, art. L. 1234-5", "Code du travail", "L1234-5"), own_title("Article 21. Liberty", "", "21")
    ('', 'Liberty')
    """
    bare = mask_citations(title.replace(code, "") if code else title)
    bare = re.sub(rf"\b(?:articles?|art\.?)?\s?{re.escape(number)}(?!\w)", "", bare, flags=re.IGNORECASE) if number else bare
    return " ".join(bare.split()).strip(" ,.:;()–—-")


def _name(heading: str) -> str:
    plain = " ".join(heading.split())
    label = _LABEL.match(plain)
    return "" if _PART.fullmatch(plain) else plain[label.end() if label else 0 :].strip(_ENDS)


def _running(corpus: Corpus, ordinals: list[int]) -> str:
    running: list[str] = []
    for ordinal in ordinals:
        running += corpus.text[ordinal].split()
        if len(running) >= SECTION_WORDS:
            break
    return " ".join(running[:SECTION_WORDS])


class _HeadingNames:
    """Which headings of a corpus identify a place in it."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._places: Counter[tuple[str, ...]] = Counter()  # of each end of a heading path
        works: dict[str, set[str]] = defaultdict(set)  # that have each word in their headings
        for place, ordinal in {_place(corpus, ordinal): ordinal for ordinal in range(len(corpus))}.items():
            key = _key(names_of(corpus.headings[ordinal]))
            self._places.update(key[-length:] for length in range(1, len(key) + 1))
            for word in " ".join(key).split():
                works[word].add(place[0])
        self._rare = {word for word, found in works.items() if len(found) <= PLACES}

    def depth(self, ordinal: int, names: tuple[str, ...]) -> int:
        """How many headings, from the innermost outward, name a place in words enough; more than there are if all do not."""
        key, code = _key(names), self._corpus.code[ordinal]
        for length in range(1, len(key) + 1):
            path = key[-length:]
            own = code or not self._rare.isdisjoint(" ".join(path).split())
            if own and self._places[path] <= PLACES and sum(map(word_count, path)) >= LEAST_WORDS:
                return length
        return len(key) + 1


def _place(corpus: Corpus, ordinal: int) -> tuple[str, ...]:
    """The place of a document: its code or decision, and its heading path."""
    work = corpus.code[ordinal] or next(iter(corpus.identifiers[ordinal]), "")
    return (work, *corpus.headings[ordinal])


def _key(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)
