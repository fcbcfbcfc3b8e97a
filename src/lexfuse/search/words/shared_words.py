"""The words that two paragraphs share and that say something about them: not those that many documents have."""

from __future__ import annotations

from lexfuse.search.index_version import IndexVersion
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.text.passages import Passage

COMMON = 0.25  # share of the documents above which a word says nothing about a paragraph


def shared_words(
    version: IndexVersion, first: str, second: str, language: str
) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
    """Where two paragraphs have the same words, in the order of each text; nothing if all of their words are the same.

    >>> version = IndexVersion(snapshot)
    >>> [one.of("Le retard coûte.") for one in shared_words(version, "Le retard coûte.", "Un retard de prêt.", "fr")[0]]
    ['retard']
    """
    analyser = version.snapshot.settings.analyser(language)
    ours, theirs = list(analyser.terms(first)), list(analyser.terms(second))
    if ours == theirs:
        return (), ()
    shared = {term for term in set(ours).intersection(theirs) if _share(version, term) <= COMMON}
    found = (analyser.matching(text, shared) if shared else () for text in (first, second))
    one, two = (tuple(Passage(token.start, token.end) for token in tokens) for tokens in found)
    return one, two


def _share(version: IndexVersion, term: str) -> float:
    """The share of documents that have a term; an index in PostgreSQL does not say it."""
    if isinstance(version.snapshot, PostgresSnapshot):
        return 0.0
    postings = version.snapshot.postings(LEXICAL)
    number = postings.vocabulary.find(term)
    return int(postings.document_frequency[number]) / max(postings.documents, 1) if number is not None else 0.0
