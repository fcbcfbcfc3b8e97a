"""Pairs from citations: a text that cites a provision describes it in other words.

A sentence that cites an article of the corpus is a query for that article; a paragraph of a judgment that cites a paragraph of an
earlier one is a query for that (the task of CJEU). Citations are found and resolved as in an import. They are removed from the
query unless they are to be kept: with them, a model could just compare numbers. A paragraph of a judgment keeps the articles that
it names, since they are its subject.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import DocumentKind
from lexfuse.encode.passage_plan import whole_text
from lexfuse.text.citation.citation import DECISIONS, STATUTES
from lexfuse.text.citation.find import find_citations, mask_citations
from lexfuse.text.citation.resolve import CitationResolver
from lexfuse.text.sentences.splitter import split_sentences
from lexfuse.train.examples.training_pair import TrainingPair, word_count

FEW = 5  # articles: a sentence that cites more says little of each
LEAST_WORDS = 8  # of a citing passage without the citation: "Les dispositions de (…) sont applicables" says nothing

_LEADING = re.compile(
    r"(?:\b(?:à|de|par|dans|en|selon|sur|sous|of|in|by|under|to|with)\s)?"
    r"(?:\b(?:[ld]['’]|(?:les|aux?|des|du|le|la|ces|cet|dudit|desdits|auxdits|the|this|that)\s))?\s?$",
    re.IGNORECASE,
)
_JOINING = re.compile(
    r"(?:[\s,;]|['’]|\b(?:et|ou|ainsi|que|à|aux?|de|des|du|les|l|and|or|to|the|of|in)\b)*", re.IGNORECASE
)  # between two citations of a list
_NO_WORDS = re.compile(r"\W+")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"(?<!\s)\s++(?=[,.;:)])")


def cited_pairs(
    corpus: Corpus, left: Counter[str], *, masked: bool = True, cited: Corpus | None = None
) -> Iterator[TrainingPair]:
    """Pairs of the sentence that cites an article and that article, from the same or another corpus.

    >>> texts = ["Le préavis prévu à l'article 2 se compte à partir de la lettre de démission.", "Le préavis dure un mois."]
    >>> corpus = Corpus.of(Document(f"a{n}", text=text, number=str(n), kind=DocumentKind.STATUTE) for n,
    ...     text in enumerate(texts, 1))
    >>> list(cited_pairs(corpus, Counter()))
    [TrainingPair(query='Le préavis prévu se compte à partir de la lettre de démission.', passage='Le préavis dure un mois.')]
    """
    articles = corpus if cited is None else cited
    resolver = CitationResolver(articles)
    for ordinal, text in enumerate(corpus.text):
        itself = ordinal if cited is None else None
        found = [
            (
                citation.start,
                [other for other in meant.tolist() if articles.kind[other] is DocumentKind.STATUTE and other != itself],
            )
            for citation, meant in resolver.resolve_each(text, own_code=corpus.code[ordinal])
        ]
        if not any(meant for _, meant in found):
            continue
        for span in split_sentences(text, corpus.language[ordinal]):
            named = dict.fromkeys(other for start, meant in found if span.start <= start < span.end for other in meant)
            if len(named) > FEW:
                left[f"sentences that cite more than {FEW} articles"] += 1
            elif named and (query := _query(span.of(text), without_articles(span.of(text)), masked, left)):
                yield from (TrainingPair(query, whole_text(articles[other])) for other in named)


def citing_paragraph_pairs(corpus: Corpus, left: Counter[str], *, masked: bool = True) -> Iterator[TrainingPair]:
    """Pairs of a paragraph of a judgment and the paragraph of an earlier judgment that it cites.

    >>> from datetime import date
    >>> text = "A deposit must be paid back within a month of departure (judgment in A, C-1/10, paragraph 7)."
    >>> corpus = Corpus.of([
    ...     Document("later", text=text, kind=DocumentKind.PARAGRAPH, number="3", date=date(2020, 1, 1)),
    ...     Document("earlier", text="A deposit is owed at departure.", kind=DocumentKind.PARAGRAPH, number="7",
    ...         date=date(2012, 1, 1),
    ...              identifiers=("C-1/10",))])
    >>> list(citing_paragraph_pairs(corpus, Counter()))[0].query
    'A deposit must be paid back within a month of departure.'
    """
    resolver = CitationResolver(corpus)
    for ordinal, text in enumerate(corpus.text):
        if corpus.kind[ordinal] is not DocumentKind.PARAGRAPH:
            continue
        cited = _pinpointed(corpus, resolver, ordinal)
        earlier = [other for other in cited if corpus.date[other] < corpus.date[ordinal]]  # no date is never earlier
        left["citations of a paragraph that is not earlier, or without a date"] += len(cited) - len(earlier)
        if earlier and (query := _query(text, mask_citations(text, DECISIONS), masked, left)):
            yield from (TrainingPair(query, whole_text(corpus[other])) for other in earlier)


def _pinpointed(corpus: Corpus, resolver: CitationResolver, ordinal: int) -> list[int]:
    """The paragraphs that a paragraph cites by number; citing a whole judgment cites none of its paragraphs.

    If the text cites none, the citations of the source count, except whole judgments.
    """
    meant = {
        other: None
        for citation, found in resolver.resolve_each(corpus.text[ordinal], own_code=corpus.code[ordinal])
        for other in found.tolist()
        if corpus.kind[other] is DocumentKind.PARAGRAPH and corpus.number[other] in citation.parts and other != ordinal
    }
    given = [
        n for n in corpus.ids.ordinals(corpus.citations[ordinal]).tolist() if n >= 0 and corpus.kind[n] is DocumentKind.PARAGRAPH
    ]
    return list(meant) or (given if len(given) <= FEW else [])


def _query(text: str, bare: str, masked: bool, left: Counter[str]) -> str:
    """The citing text, with or without its citations; empty if little else remains."""
    if word_count(bare) < LEAST_WORDS:
        left[f"citing passages of fewer than {LEAST_WORDS} words without the citation"] += 1
        return ""
    return " ".join((bare if masked else text).split())


def without_articles(text: str) -> str:
    """A sentence without the articles that it cites and the words that introduce them.

    >>> without_articles("La prime prévue aux articles L. 1, L. 2 et R. 5 du code du travail est due.")
    'La prime prévue est due.'
    """
    pieces, at = [], 0
    for citation in find_citations(text):
        if citation.system not in STATUTES or citation.end <= at:
            continue
        if not at or not _JOINING.fullmatch(text, at, citation.start):
            pieces.append(_LEADING.sub("", _SPACES.sub(" ", text[at : citation.start])))
        at = citation.end
    joined = " ".join(" ".join([*pieces, text[at:]]).split())
    return _BEFORE_MARK.sub("", _NO_WORDS.sub(_without_empty, joined)).strip(" ,;")


def _without_empty(between: re.Match[str]) -> str:
    """The text between two words, without empty parentheses."""
    text = between.group()
    start, end = text.find("("), text.rfind(")")
    return text[:start] + text[end + 1 :] if 0 <= start < end else text
