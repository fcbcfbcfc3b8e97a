"""A question to an index: one page of results, with facets if wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from time import perf_counter

from lexfuse.data.queries import Query
from lexfuse.deadline import check
from lexfuse.errors import ConfigError
from lexfuse.fuse.composite import members_of
from lexfuse.index.filters import Condition, within
from lexfuse.retrieve.answering import Answer, Found, Shower, found_by
from lexfuse.retrieve.resembling import known_day
from lexfuse.retrieve.retriever import Mask
from lexfuse.service.answers.search import Mark, Result, SearchPage, Timing
from lexfuse.service.cards import facts_of
from lexfuse.service.cursor import Cursor, digest
from lexfuse.service.faceting import facets_of
from lexfuse.service.library import Library
from lexfuse.service.opened import Opened
from lexfuse.text.sentences import sentences

MOST_RESULTS = 100  # on one page
DEPTH = 1000  # results that can be paged through, and that the facets count
SORTED = 100  # best results that are put in order of their dates, where that is wanted


class Sort(StrEnum):
    """The order of results.

    >>> Sort("newest")
    <Sort.NEWEST: 'newest'>
    """

    RELEVANCE = "relevance"
    NEWEST = "newest"  # the best SORTED by their dates, newest first
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class SearchAsk:
    """What is asked; an empty text stands for what is usual.

    >>> SearchAsk("loi", k=0)
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
    sort: Sort = Sort.RELEVANCE
    facets: bool = False
    most: int = field(default=MOST_RESULTS, compare=False)  # of k; an export may have more on its one page

    def __post_init__(self) -> None:
        """Refuse a page that cannot be, and a question of nothing."""
        if not 1 <= self.k <= self.most:
            raise ConfigError(f"k must lie between 1 and {self.most}, got {self.k}")
        if not self.query.strip():
            raise ConfigError("the question is empty; ask with at least one word")

    @property
    def digest(self) -> str:
        """The same for two pages of one ranking, exactly."""
        return digest(replace(self, cursor="", facets=False))


class Clock:
    """Measures the stages of a call.

    >>> clock = Clock()
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

    def timing(self) -> Timing:
        """Everything so far, in milliseconds."""
        return Timing(
            total=round(1000 * (perf_counter() - self._start), 3),
            stages={name: round(value, 3) for name, value in self._stages.items()},
        )


def search(library: Library, ask: SearchAsk) -> SearchPage:
    """One page of results.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.service.library import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     documents = [Document("a", text="la loi", language="fr"), Document("b", text="une loi, deux lois", language="fr")]
    ...     Index.create(f"{folder}/law.index", documents=documents).close()
    ...     with Library.open([IndexPlace.of(f"{folder}/law.index")]) as library:
    ...         page = search(library, SearchAsk("lois", k=1, language="fr"))
    ...         [result.id for result in search(library, SearchAsk("lois", k=1, language="fr", cursor=page.next_cursor)).results]
    ['b']
    """
    clock = Clock()
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
            depth = DEPTH if ask.facets or ask.sort is not Sort.RELEVANCE else min(after + ask.k + 1, DEPTH)
            found = found_by(pipeline, question, depth, within=mask, citations=opened.citations)[:DEPTH]
        candidates = len(found)
        if ask.sort is not Sort.RELEVANCE:
            found = _by_date(opened, found[:SORTED], newest=ask.sort is Sort.NEWEST)
        with clock.stage("facets"):
            facets = facets_of(opened, question, ask.filters, ask.as_of, profile, found) if ask.facets else []
        with clock.stage("snippets"):
            shower = Shower(members_of(pipeline, question), question, words=opened.words)
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


def within_of(opened: Opened, filters: Sequence[str], as_of: str) -> Mask | None:
    """The mask of filters as they are written, and of a day.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.service.library import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Index.create(f"{folder}/law.index", documents=[Document("a", code="Code civil")]).close()
    ...     with Library.open([IndexPlace.of(f"{folder}/law.index")]) as library, library.shelf().lease() as opened:
    ...         within_of(opened, ["code=Code civil"], "").tolist()
    [True]
    """
    return within(opened.snapshot, [Condition.parse(text) for text in filters], as_of=known_day(as_of, "as_of"))


def result_of(answer: Answer) -> Result:
    """An answer as a result.

    >>> from lexfuse.data.document import Document
    >>> from lexfuse.text.snippets import Snippet
    >>> from lexfuse.text.sentences import Span
    >>> result_of(Answer(1, "bm25", 0.5, Document("a", text="la loi"), Snippet(Span(0, 6), (Span(3, 6),)), ())).snippet.matches
    [(3, 6)]
    """
    return Result(
        **facts_of(answer.document),
        rank=answer.rank,
        found=answer.found,
        score=answer.score,
        snippet=mark_of(answer),
        sources={name: None if score != score else score for name, score in answer.sources.items()},  # NaN: it has none
    )


def mark_of(answer: Answer) -> Mark:
    """The part of the text of an answer that is shown; its best sentence is the one where most words match.

    >>> from lexfuse.data.document import Document
    >>> from lexfuse.text.snippets import Snippet
    >>> from lexfuse.text.sentences import Span
    >>> document = Document("a", text="Il dit. La loi est la loi.", language="fr")
    >>> mark_of(Answer(1, "bm25", 0.5, document, Snippet(Span(0, 26), (Span(11, 14), Span(22, 25))), ())).best
    (8, 26)
    """
    span, text = answer.snippet.span, answer.document.text
    shown = span.of(text)
    matches = [(match.start - span.start, match.end - span.start) for match in answer.snippet.matches]
    parts = sentences(shown, answer.document.language)

    def worth(start: int, end: int) -> int:
        return len({shown[match[0] : match[1]].casefold() for match in matches if start <= match[0] < end})

    best = max(parts, key=lambda part: (worth(part.start, part.end), -part.start)) if len(parts) > 1 and matches else None
    return Mark(
        text=shown,
        matches=matches,
        best=(best.start, best.end) if best else None,
        cut_before=bool(text[: span.start].strip()),
        cut_after=bool(text[span.end :].strip()),
    )


def _by_date(opened: Opened, found: list[Found], *, newest: bool) -> list[Found]:
    """Results by their dates, or the day they came into force; those without any are last, and equals stay in their order."""
    dates, starts = opened.snapshot.column("date"), opened.snapshot.column("valid_from")
    places = [opened.snapshot.ids.ordinal(one.hit.doc) for one in found]
    days = [dates[place] or starts[place] or "" for place in places]
    dated = sorted((at for at in range(len(found)) if days[at]), key=days.__getitem__, reverse=newest)
    return [found[at] for at in [*dated, *(at for at in range(len(found)) if not days[at])]]
