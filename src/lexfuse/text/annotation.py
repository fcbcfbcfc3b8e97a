"""Complete a corpus after reading: detect missing languages and resolve citations."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.document_history import versions_of
from lexfuse.text.analysis.language_table import known_language
from lexfuse.text.analysis.languages import detect_language
from lexfuse.text.citation.resolve import CitationResolver, cited_ids
from lexfuse.text.citation.resolve_in_time import TimeResolver


@dataclass(frozen=True, slots=True)
class Annotation:
    """What `annotate` added, for the report of an import."""

    languages: int
    citations: int  # of the newest versions


def annotate(
    corpus: Corpus, *, language: str = "", progress: Callable[[int], None] = lambda _: None
) -> tuple[Corpus, Annotation]:
    """The corpus with every language detected and every outgoing citation resolved.

    Values from the source stay and come first, but ``language`` replaces that of every document; citations are ids of the same
    corpus. Of documents with history, every version cites what was in force with it. ``progress`` gets the number of finished
    documents.

    >>> corpus = Corpus.of([Document("a", text="La loi est la loi, voir l'article 2", number="1"), Document("b", number="2")])
    >>> annotate(corpus)[0][0].citations
    ('b',)
    """
    spoken = with_languages(corpus, language)
    cited = _cited_in_time(spoken, progress) if any(corpus.history) else _cited(spoken, progress)
    annotation = Annotation(
        languages=sum(now != before for now, before in zip(spoken.language, corpus.language, strict=True)),
        citations=sum(map(len, cited.citations)) - sum(map(len, corpus.citations)),
    )
    return cited, annotation


def _cited(corpus: Corpus, progress: Callable[[int], None]) -> Corpus:
    resolver = CitationResolver(corpus)
    citations = list(corpus.citations)
    for ordinal in range(len(corpus)):
        citations[ordinal] = tuple(dict.fromkeys((*corpus.citations[ordinal], *cited_ids(corpus, resolver, ordinal))))
        progress(ordinal + 1)
    return replace(corpus, citations=tuple(citations))


def _cited_in_time(corpus: Corpus, progress: Callable[[int], None]) -> Corpus:
    """The same for documents with versions; a version without an end is in force until the next one begins."""
    resolver = TimeResolver(corpus)
    citations, history = list(corpus.citations), list(corpus.history)
    for ordinal, document in enumerate(corpus):
        ends = {one.valid_from: one.valid_to for one in versions_of(document)}

        def cited(version: Document, ends: Mapping[datetime.date | None, datetime.date | None] = ends) -> tuple[str, ...]:
            ended = replace(version, valid_to=version.valid_to or ends.get(version.valid_from))
            return tuple(dict.fromkeys((*version.citations, *resolver.cited_ids(ended))))

        citations[ordinal] = cited(document)
        history[ordinal] = tuple(replace(version, citations=cited(version)) for version in document.history)
        progress(ordinal + 1)
    return replace(corpus, citations=tuple(citations), history=tuple(history))


def with_languages(corpus: Corpus, language: str = "") -> Corpus:
    """The corpus with every missing language detected, or with the given language for every document.

    >>> with_languages(Corpus.of([Document("a", text="The court held that the appeal must fail.")])).language
    ('en',)
    """
    if language:
        known = known_language(language)
        history = tuple(tuple(replace(version, language=known) for version in versions) for versions in corpus.history)
        return replace(corpus, language=(known,) * len(corpus), history=history)
    rows = zip(corpus.language, corpus.title, corpus.text, strict=True)
    return replace(corpus, language=tuple(given or detect_language(f"{title} {text}") for given, title, text in rows))
