"""A question to an index: one page of results, with facets if wanted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lexfuse.errors import ConfigError
from lexfuse.search.hits import SortOrder, checked_query, find_hits
from lexfuse.search.results import SearchHit
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.stage_clock import Timing
from lexfuse.service.operations.cursor import Cursor, digest
from lexfuse.service.operations.document_cards import facts_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import Facet, MarkedSpan, SearchPage, SearchResult, SearchTiming
from lexfuse.text.sentences.splitter import split_sentences

MOST_RESULTS = 100  # on one page


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked; an empty text means the default.

    >>> SearchRequest("loi", k=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: k must lie between 1 and 100, got 0
    """

    query: str
    index: str = ""
    profile: str = ""
    k: int = 10
    cursor: str = ""
    filters: tuple[str, ...] = ()
    as_of: str = ""
    language: str = ""
    sort: SortOrder = SortOrder.RELEVANCE
    facets: bool = False
    spec: SearchSpec | None = None  # instead of a profile
    most: int = field(default=MOST_RESULTS, compare=False)  # of k; an export may have more on its one page

    def __post_init__(self) -> None:
        """Refuse an impossible page size and an empty question."""
        if not 1 <= self.k <= self.most:
            raise ConfigError(f"k must lie between 1 and {self.most}, got {self.k}")
        if self.profile and self.spec:
            raise ConfigError("give either a profile or a spec, not both")
        checked_query(self.query)

    @property
    def digest(self) -> str:
        """The same for two pages of one ranking, exactly."""
        return digest(replace(self, cursor="", facets=False))


def search(library: IndexRegistry, ask: SearchRequest) -> SearchPage:
    """One page of results."""
    shelf = library.shelf(ask.index)
    cursor = Cursor.parse(ask.cursor, ask.digest) if ask.cursor else None
    after = cursor.after if cursor else 0
    with shelf.lease(cursor.generation if cursor else None) as version:
        hits = find_hits(
            version,
            ask.query,
            ask.k,
            after=after,
            sort=ask.sort,
            facets=ask.facets,
            filters=ask.filters,
            as_of=ask.as_of,
            language=ask.language,
            profile=ask.spec or ask.profile,
        )
        return SearchPage(
            index=shelf.name,
            generation=version.generation,
            profile=hits.profile,
            query=ask.query,
            results=[result_of(hit) for hit in hits],
            facets=[Facet.model_validate(facet, from_attributes=True) for facet in hits.facets],
            candidates=hits.candidates if ask.facets else None,
            next_cursor=Cursor(after + ask.k, version.generation, ask.digest).text() if hits.more else None,
            timing=timing_of(hits.timing),
        )


def timing_of(timing: Timing) -> SearchTiming:
    """The stages of a call, for an answer."""
    return SearchTiming(total=timing.total, stages=timing.stages)


def result_of(hit: SearchHit) -> SearchResult:
    """A hit as a result of an answer."""
    return SearchResult(
        **facts_of(hit.document),
        rank=hit.rank,
        found=hit.found,
        score=hit.score,
        snippet=mark_of(hit),
        sources={name: None if score != score else score for name, score in hit.sources.items()},  # NaN: it has none
    )


def mark_of(hit: SearchHit) -> MarkedSpan:
    """The part of a hit's text that is shown; its best sentence is the one with the most matching words.

    >>> from lexfuse.data.document import Document
    >>> from lexfuse.text.snippets import Snippet
    >>> from lexfuse.text.sentences.splitter import SentenceSpan
    >>> document = Document("a", text="Il dit. La loi est la loi.", language="fr")
    >>> mark_of(SearchHit(1, "bm25", 0.5, document, Snippet(SentenceSpan(0, 26), (SentenceSpan(11, 14), SentenceSpan(22,
    ...     25))), ())).best
    (8, 26)
    """
    span, text = hit.snippet.span, hit.document.text
    shown = span.of(text)
    matches = [(match.start - span.start, match.end - span.start) for match in hit.snippet.matches]
    parts = split_sentences(shown, hit.document.language)

    def worth(start: int, end: int) -> int:
        return len({shown[match[0] : match[1]].casefold() for match in matches if start <= match[0] < end})

    best = max(parts, key=lambda part: (worth(part.start, part.end), -part.start)) if len(parts) > 1 and matches else None
    return MarkedSpan(
        text=shown,
        matches=matches,
        best=(best.start, best.end) if best else None,
        cut_before=bool(text[: span.start].strip()),
        cut_after=bool(text[span.end :].strip()),
    )
