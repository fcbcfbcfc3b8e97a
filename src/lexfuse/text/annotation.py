"""Complete a corpus after reading: detect missing languages and resolve citations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lexfuse.data.corpus import Corpus
from lexfuse.text.analysis.language_table import known_language
from lexfuse.text.analysis.languages import detect_language
from lexfuse.text.citation.resolve import CitationResolver, cited_ids


@dataclass(frozen=True, slots=True)
class Annotation:
    """What `annotate` added, for the report of an import."""

    languages: int
    citations: int


def annotate(
    corpus: Corpus, *, language: str = "", progress: Callable[[int], None] = lambda _: None
) -> tuple[Corpus, Annotation]:
    """The corpus with every language detected and every outgoing citation resolved.

    Values from the source stay and come first, but ``language`` replaces that of every document; citations are ids of the same
    corpus. ``progress`` gets the number of finished documents.

    >>> corpus = Corpus.of([Document("a", text="La loi est la loi, voir l'article 2", number="1"), Document("b", number="2")])
    >>> annotate(corpus)[0][0].citations
    ('b',)
    """
    spoken = with_languages(corpus, language)
    resolver = CitationResolver(corpus)
    citations = list(corpus.citations)
    for ordinal in range(len(corpus)):
        citations[ordinal] = tuple(dict.fromkeys((*corpus.citations[ordinal], *cited_ids(corpus, resolver, ordinal))))
        progress(ordinal + 1)
    annotation = Annotation(
        languages=sum(now != before for now, before in zip(spoken.language, corpus.language, strict=True)),
        citations=sum(map(len, citations)) - sum(map(len, corpus.citations)),
    )
    return replace(spoken, citations=tuple(citations)), annotation


def with_languages(corpus: Corpus, language: str = "") -> Corpus:
    """The corpus with every missing language detected, or with the given language for every document.

    >>> with_languages(Corpus.of([Document("a", text="The court held that the appeal must fail.")])).language
    ('en',)
    """
    if language:
        return replace(corpus, language=(known_language(language),) * len(corpus))
    rows = zip(corpus.language, corpus.title, corpus.text, strict=True)
    return replace(corpus, language=tuple(given or detect_language(f"{title} {text}") for given, title, text in rows))
