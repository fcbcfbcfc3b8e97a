"""A document that is read with its question: its place among the results, and the matching words in its text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lexfuse.data.document import Document
from lexfuse.search.asked_question import read_question
from lexfuse.search.hits import find_hits
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import SearchHit
from lexfuse.search.words.correction import Spelling
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.passages import Passage
from lexfuse.text.snippets import citing_terms, telling

LOOKED_AT = 100  # results that a document is looked for in, if it is not where it was


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """A result with the results before and after it."""

    hit: SearchHit
    previous: SearchHit | None = None
    next: SearchHit | None = None


def result_place(version: IndexVersion, question: str, id: str, *, rank: int = 0, **search: Any) -> ResultPlace | None:
    """The place of a document among the results of a question; None if it is not one of the first.

    `rank` says where the document was: if it is still there, three results are read. `search` is as for `find_hits`.

    >>> place = result_place(IndexVersion(snapshot), "retard de prêt", "lib-3", rank=2)
    >>> place.hit.rank, place.previous.id, place.next
    (2, 'lib-4', None)
    """
    windows = [(max(rank - 2, 0), 3)] if rank else []
    for after, k in (*windows, (0, LOOKED_AT)):
        hits = find_hits(version, question, k, after=after, **search).hits
        at = next((at for at, hit in enumerate(hits) if hit.id == id), None)
        ends = (at == 0 and after > 0) or at == k - 1 < LOOKED_AT - 1
        if at is None or ends:
            continue  # it is elsewhere, or at an end of the window: what comes before it or after it is not known
        return ResultPlace(hits[at], hits[at - 1] if at else None, hits[at + 1] if at + 1 < len(hits) else None)
    return None


def question_matches(
    version: IndexVersion, question: str, document: Document, *, operators: bool = True, language: str = ""
) -> tuple[Passage, ...]:
    """The words and citations of a question in the whole text of a document, and the words of the law for its everyday words.

    >>> version = IndexVersion(snapshot)
    >>> document = snapshot.document("lib-4")
    >>> [document.text[match.start : match.end] for match in question_matches(version, "retards", document)][:1]
    ['retard']
    """
    asked = read_question(version, question, language, operators=operators, spelling=Spelling.AUTO).ranked
    words = version.words
    expansions = version.everyday_words().expansions(asked.text, asked.language)
    law = {term for one in expansions for term in one.terms}
    held = document.id in words.snapshot.ids
    found = words.evidence(asked, [document.id])[0].terms if held else None
    analyser = _analyser(version, document)
    citing = citing_terms(asked.text, analyser)
    if found is None:
        return text_matches(version, document, law | {*analyser.terms(asked.text)} - citing)
    weights = {part.term: part.idf for part in found if part.term not in citing}
    if law:  # common words of an expression, such as those of "contrat de travail", are left out as those of the question are
        added = replace(asked, text=" ".join(text for one in expansions for text in one.law))
        parts = words.evidence(added, [document.id])[0].terms or ()
        weights |= {part.term: part.idf for part in parts if part.term in law}
    return text_matches(version, document, set(telling(weights)))


def words_in_document(version: IndexVersion, words: str, document: Document) -> tuple[Passage, ...]:
    """The words of a search inside one document, in all their forms, in the order of the text.

    >>> version = IndexVersion(snapshot)
    >>> len(words_in_document(version, "bibliothèques", snapshot.document("lib-5")))
    1
    """
    return text_matches(version, document, {*_analyser(version, document).terms(words)})


def text_matches(version: IndexVersion, document: Document, terms: set[str]) -> tuple[Passage, ...]:
    """Where the text of a document has one of these terms.

    >>> text_matches(IndexVersion(snapshot), snapshot.document("lib-5"), set())
    ()
    """
    if not terms:
        return ()
    tokens = _analyser(version, document).matching(document.text, terms)
    return tuple(Passage(one.start, one.end) for one in tokens if not one.citation or one.terms[0] in terms)


def _analyser(version: IndexVersion, document: Document) -> Analyser:
    return version.snapshot.settings.analyser(document.language)
