"""A question to an index: one page of results, with facets if wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from time import perf_counter

from lexfuse.data.queries import Query
from lexfuse.deadline import check
from lexfuse.errors import ConfigError, EmptyQuestionError
from lexfuse.fusion.composite_retriever import members_of
from lexfuse.search.results import FoundDocument, ResultBuilder, SearchHit, find_documents
from lexfuse.service.index_version import IndexVersion
from lexfuse.service.operations.candidate_filter import DEPTH, within_of
from lexfuse.service.operations.cursor import Cursor, digest
from lexfuse.service.operations.document_cards import facts_of
from lexfuse.service.operations.facets import facets_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import MarkedSpan, SearchPage, SearchResult, SearchTiming
from lexfuse.text.sentences.splitter import split_sentences

MOST_RESULTS = 100  # on one page
SORTED = 100  # best results that are put in order of their dates, where that is wanted


class SortOrder(StrEnum):
    """The order of results.

    >>> SortOrder("newest")
    <SortOrder.NEWEST: 'newest'>
    """

    RELEVANCE = "relevance"
    NEWEST = "newest"  # the best SORTED by their dates, newest first
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked; an empty text stands for what is usual.

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
    most: int = field(default=MOST_RESULTS, compare=False)  # of k; an export may have more on its one page

    def __post_init__(self) -> None:
        """Refuse a page that cannot be, and a question of nothing."""
        if not 1 <= self.k <= self.most:
            raise ConfigError(f"k must lie between 1 and {self.most}, got {self.k}")
        if not self.query.strip():
            raise EmptyQuestionError("the question is empty; ask with at least one word")

    @property
    def digest(self) -> str:
        """The same for two pages of one ranking, exactly."""
        return digest(replace(self, cursor="", facets=False))


class StageClock:
    """Measures the stages of a call.

    >>> clock = StageClock()
    >>> with clock.stage("search"):
    ...     pass
    >>> list(clock.timing().stages)
    ['search']
    """

    def __init__(self) -> None:
        """Start."""
        self._start = perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """One stage; the same name adds up. None begins after the deadline of the call."""
        check()
        start = perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + 1000 * (perf_counter() - start)

    def timing(self) -> SearchTiming:
        """Everything so far, in milliseconds."""
        return SearchTiming(
            total=round(1000 * (perf_counter() - self._start), 3),
            stages={name: round(value, 3) for name, value in self._stages.items()},
        )


def search(library: IndexRegistry, ask: SearchRequest) -> SearchPage:
    """One page of results.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     documents = [Document("a", text="la loi", language="fr"), Document("b", text="une loi, deux lois", language="fr")]
    ...     IndexFolder.create(f"{folder}/law.index", documents=documents).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law.index")]) as library:
    ...         page = search(library, SearchRequest("lois", k=1, language="fr"))
    ...         [result.id for result in search(library, SearchRequest("lois", k=1, language="fr",
    ...             cursor=page.next_cursor)).results]
    ['b']
    """
    clock = StageClock()
    shelf = library.shelf(ask.index)
    cursor = Cursor.parse(ask.cursor, ask.digest) if ask.cursor else None
    with shelf.lease(cursor.generation if cursor else None) as opened:
        after = cursor.after if cursor else 0
        profile = ask.profile or opened.default_profile
        question = Query("q", ask.query, ask.language)
        with clock.stage("filter"):
            mask = within_of(opened, ask.filters, ask.as_of)
        with clock.stage("search"):
            pipeline = opened.pipeline(profile)
            depth = DEPTH if ask.facets or ask.sort is not SortOrder.RELEVANCE else min(after + ask.k + 1, DEPTH)
            found = find_documents(pipeline, question, depth, within=mask, citations=opened.citations)[:DEPTH]
        candidates = len(found)
        if ask.sort is not SortOrder.RELEVANCE:
            found = _by_date(opened, found[:SORTED], newest=ask.sort is SortOrder.NEWEST)
        with clock.stage("facets"):
            facets = facets_of(opened, question, ask.filters, ask.as_of, profile, found) if ask.facets else []
        with clock.stage("snippets"):
            shower = ResultBuilder(members_of(pipeline, question), question, words=opened.words)
            results = [result_of(answer) for answer in shower.answers(found[after : after + ask.k], after=after)]
        more = after + ask.k < len(found)
        following = Cursor(after + ask.k, opened.generation, ask.digest).text() if more else None
        return SearchPage(
            index=shelf.name,
            generation=opened.generation,
            profile=profile,
            query=ask.query,
            results=results,
            facets=facets,
            candidates=candidates if ask.facets else None,
            next_cursor=following,
            timing=clock.timing(),
        )


def result_of(answer: SearchHit) -> SearchResult:
    """An answer as a result.

    >>> from lexfuse.data.document import Document
    >>> from lexfuse.text.snippets import Snippet
    >>> from lexfuse.text.sentences.splitter import SentenceSpan
    >>> result_of(SearchHit(1, "bm25", 0.5, Document("a", text="la loi"), Snippet(SentenceSpan(0, 6), (SentenceSpan(3, 6),)),
    ...     ())).snippet.matches
    [(3, 6)]
    """
    return SearchResult(
        **facts_of(answer.document),
        rank=answer.rank,
        found=answer.found,
        score=answer.score,
        snippet=mark_of(answer),
        sources={name: None if score != score else score for name, score in answer.sources.items()},  # NaN: it has none
    )


def mark_of(answer: SearchHit) -> MarkedSpan:
    """The part of the text of an answer that is shown; its best sentence is the one where most words match.

    >>> from lexfuse.data.document import Document
    >>> from lexfuse.text.snippets import Snippet
    >>> from lexfuse.text.sentences.splitter import SentenceSpan
    >>> document = Document("a", text="Il dit. La loi est la loi.", language="fr")
    >>> mark_of(SearchHit(1, "bm25", 0.5, document, Snippet(SentenceSpan(0, 26), (SentenceSpan(11, 14), SentenceSpan(22,
    ...     25))), ())).best
    (8, 26)
    """
    span, text = answer.snippet.span, answer.document.text
    shown = span.of(text)
    matches = [(match.start - span.start, match.end - span.start) for match in answer.snippet.matches]
    parts = split_sentences(shown, answer.document.language)

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


def _by_date(opened: IndexVersion, found: list[FoundDocument], *, newest: bool) -> list[FoundDocument]:
    """Results by their dates, or the day they came into force; those without any are last, and equals stay in their order."""
    dates, starts = opened.snapshot.column("date"), opened.snapshot.column("valid_from")
    places = [opened.snapshot.ids.ordinal(one.hit.doc) for one in found]
    days = [dates[place] or starts[place] or "" for place in places]
    dated = sorted((at for at in range(len(found)) if days[at]), key=days.__getitem__, reverse=newest)
    return [found[at] for at in [*dated, *(at for at in range(len(found)) if not days[at])]]
