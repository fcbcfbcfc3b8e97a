"""The answer to one question: a page of hits, with facets of all candidates if they are wanted."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, overload

from lexfuse.channels.explanation import Explanation
from lexfuse.channels.lexical.bm25 import expansions_of
from lexfuse.channels.lexical.everyday_words import Expansion
from lexfuse.data.queries import Query
from lexfuse.errors import ConfigError
from lexfuse.search.asked_question import AskedQuestion, read_question
from lexfuse.search.confidence import SEEN, confidence_features
from lexfuse.search.facets import DEPTH, FacetCounts, facets_of
from lexfuse.search.index_version import IndexVersion, OpenedSearch
from lexfuse.search.results import FoundDocument, ResultBuilder, SearchHit, find_documents
from lexfuse.search.spec.confidence_spec import Confidence
from lexfuse.search.stage_clock import StageClock, Timing
from lexfuse.search.words.correction import Spelling, SpellingCorrection
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.storage.postgres.snapshot import PostgresSnapshot

SORTED = 100  # best results that are put in order of their dates


class SortOrder(StrEnum):
    """The order of results."""

    RELEVANCE = "relevance"
    NEWEST = "newest"  # the best SORTED by their dates, newest first
    OLDEST = "oldest"


class HitSequence(Sequence[SearchHit]):
    """An answer that is read like a list of its hits."""

    hits: tuple[SearchHit, ...]

    @overload
    def __getitem__(self, at: int) -> SearchHit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[SearchHit, ...]: ...
    def __getitem__(self, at: int | slice) -> SearchHit | tuple[SearchHit, ...]:
        """The hit at a place from 0."""
        return self.hits[at]

    def __len__(self) -> int:
        """How many hits there are."""
        return len(self.hits)


@dataclass(frozen=True)
class Hits(HitSequence):
    """Hits in their order, with what is known about the whole ranking.

    >>> from lexfuse.search.index_version import IndexVersion
    >>> hits = find_hits(IndexVersion(snapshot), "retard de prêt", 2)
    >>> len(hits), hits[0].rank, hits.profile
    (2, 1, 'words')
    """

    query: Query
    profile: str
    hits: tuple[SearchHit, ...]
    more: bool = False  # whether results follow
    candidates: int = 0  # documents that were ranked; the facets count these
    facets: tuple[FacetCounts, ...] = ()
    notes: tuple[str, ...] = ()  # how operators were read; a cited article that its code does not have
    correction: SpellingCorrection | None = None  # of misspelt words; it says whether the corrected question was searched
    expansions: tuple[Expansion, ...] = ()  # words of the law that were added for everyday words
    confidence: Confidence | None = None  # that the best result answers, where the profile is calibrated
    coverage: DayCoverage | None = None  # of the day that was asked for: documents in force, and documents unknown then
    timing: Timing = field(default_factory=Timing, compare=False)


def find_hits(
    version: IndexVersion,
    question: str | Query,
    k: int = 10,
    *,
    after: int = 0,
    sort: SortOrder = SortOrder.RELEVANCE,
    facets: bool = False,
    filters: Sequence[str] = (),
    as_of: str | datetime.date | None = None,
    language: str = "",
    operators: bool = True,
    spelling: Spelling | str = Spelling.AUTO,
    everyday: bool = True,
    **search: Any,
) -> Hits:
    """The documents that a question cites, then the best matches; `search` is as for `IndexVersion.search_by`.

    `after` is the number of results to skip; the first 1,000 can be paged through. Without `operators` the question is plain
    text, whatever is in it. `spelling` says what happens to words that no document has (`Spelling`); with `everyday`, words of
    the lexicon are also searched as the law writes them.
    """
    if k < 1:
        raise ConfigError(f"k must be at least 1, got {k}")
    clock = StageClock()
    with clock.stage("filter"):
        opened = version.search_by(filters=filters, as_of=as_of, everyday=everyday, **search)
        version = opened.version
        by_words = opened.by_words(question)
        asked = read_question(version, question, language, operators=operators, spelling=spelling, by_words=by_words)
        opened, query = asked.restricted(opened), asked.ranked
    with clock.stage("search"):
        most = max(DEPTH, k)  # a longer page is not cut
        least = SEEN if opened.confidence else 1
        depth = most if facets or sort is not SortOrder.RELEVANCE else max(min(after + k + 1, most), least)
        found = find_documents(opened.retriever, query, depth, within=opened.within, citations=version.citations)[:most]
    with clock.stage("confidence"):
        confidence = _confidence(version, opened, query, found)
    candidates = len(found)
    if sort is not SortOrder.RELEVANCE:
        found = _by_date(version, found[:SORTED], newest=sort is SortOrder.NEWEST)
    with clock.stage("facets"):
        counted = facets_of(version, query, opened, filters, found) if facets else []
    with clock.stage("snippets"):
        page = found[after : after + k]
        explained = PageExplanations(opened, asked, [one.hit.doc for one in page])
        builder = ResultBuilder(opened.retriever.members(query), query, words=version.words, explainer=explained.of)
        hits = builder.answers(page, after=after)
    more = after + k < len(found)
    notes = (*asked.notes, *version.citations.missing(asked.query.text), *(_unexpanded(version, query) if everyday else ()))
    return Hits(
        query=asked.query,
        profile=opened.profile,
        hits=tuple(hits),
        more=more,
        candidates=candidates,
        facets=tuple(counted),
        notes=notes,
        correction=asked.correction,
        expansions=expansions_of(opened.retriever, query),
        confidence=confidence,
        coverage=opened.coverage,
        timing=clock.timing(),
    )


def _unexpanded(version: IndexVersion, query: Query) -> Iterator[str]:
    """What an index in PostgreSQL leaves out: its words are those of the database, to which no lexicon adds."""
    if isinstance(version.snapshot, PostgresSnapshot):
        for one in version.everyday_words().expansions(query.text, query.language):
            yield f"{one.words!r} is searched as it is written: an index in PostgreSQL does not add words of the law"


def _confidence(version: IndexVersion, opened: OpenedSearch, query: Query, found: list[FoundDocument]) -> Confidence | None:
    """How likely it is that the first of all results answers; None without a calibration, or with nothing to judge by."""
    cited = bool(found) and found[0].by == version.citations.name  # the question names the document that it wants
    if opened.confidence is None or cited:
        return None
    features = confidence_features(version, opened.retriever, query, found, opened.confidence)
    return opened.confidence.judge(features) if features else None


class PageExplanations:
    """The explanations of all hits of a page, computed together when the first is asked for."""

    def __init__(self, opened: OpenedSearch, asked: AskedQuestion, ids: Sequence[str]) -> None:
        """Compute nothing yet."""
        self._opened, self._asked, self._ids = opened, asked, ids

    def of(self, id: str) -> Explanation:
        """Why a document has its rank."""
        return self._every[id]

    @cached_property
    def _every(self) -> dict[str, Explanation]:
        opened, ids = self._opened, self._opened.retriever.snapshot.ids
        found = opened.retriever.explain(self._asked.ranked, self._ids, within=opened.within)
        return {one.doc: self._asked.explained(one, ids.ordinal(one.doc)) for one in found}


def _by_date(version: IndexVersion, found: list[FoundDocument], *, newest: bool) -> list[FoundDocument]:
    """Results by their dates, or the day they came into force; undated ones are last, and equals keep their order."""
    dates, starts = version.snapshot.column("date"), version.snapshot.column("valid_from")
    places = [version.snapshot.ids.ordinal(one.hit.doc) for one in found]
    days = [dates[place] or starts[place] or "" for place in places]
    dated = sorted((at for at in range(len(found)) if days[at]), key=days.__getitem__, reverse=newest)
    return [found[at] for at in [*dated, *(at for at in range(len(found)) if not days[at])]]
