"""Documents like a whole document: a text, a file, or a document of the index; the terms that are searched for can be edited."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.lexical.bm25_kli import BM25Kli, ChosenTerms, notes_of, terms_of
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.data.formats.trec_run import stem
from lexfuse.errors import ConfigError, TooLargeError
from lexfuse.fusion.composite_retriever import members_of
from lexfuse.search.results import ResultBuilder, SearchHit, find_documents
from lexfuse.search.rprs_explanation import proportional_relevance
from lexfuse.search.similar import (
    EligibleDocuments,
    SimilarQuery,
    candidates,
    known_day,
    last_day,
    own_documents,
    query_from_document,
    query_from_text,
    with_terms,
)
from lexfuse.service.index_version import IndexVersion
from lexfuse.service.operations.candidate_filter import within_of
from lexfuse.service.operations.explain import alignment_of
from lexfuse.service.operations.search import MOST_RESULTS, StageClock, result_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.similar import QueryTerm, SimilarPage, SimilarResult
from lexfuse.text.kli import TermChoice, TermWeight

LONGEST_WORD = 200  # characters of a term that the caller gives
LONGEST_TEXT = 2_000_000  # characters: several times the longest judgment
USUAL = "similar"  # what the pipeline for whole documents is called where no profile is named


@dataclass(frozen=True, slots=True)
class SimilarRequest:
    """A whole text, or the id of a document of the index, and how to look for documents like it.

    >>> SimilarRequest()
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: give either a text or the id of a document, to find documents like it
    """

    text: str = ""
    document: str = ""
    name: str = ""  # of the file that the text is from: a document of that id is the same one
    index: str = ""
    profile: str = ""
    k: int = 10
    amount: float | None = None  # of terms: a share up to 1, or a number; None for the profile's own, or a tenth and at least ten
    weight: TermWeight = TermWeight.ONCE
    terms: tuple[str, ...] = ()  # these alone, each `word` or `word=weight`
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    exclude_self: bool = True
    before: str = ""  # a day
    before_own_date: bool = False
    mask: bool = False  # hide citations of decisions
    filters: tuple[str, ...] = ()
    as_of: str = ""
    language: str = ""

    def __post_init__(self) -> None:
        """Refuse a query that is none, and a number of results that cannot be."""
        if bool(self.text.strip()) == bool(self.document):
            raise ConfigError("give either a text or the id of a document, to find documents like it")
        if len(self.text) > LONGEST_TEXT:
            raise TooLargeError(f"the text has {len(self.text):,} characters, {LONGEST_TEXT:,} are allowed; give a part of it")
        if not 1 <= self.k <= MOST_RESULTS:
            raise ConfigError(f"k must lie between 1 and {MOST_RESULTS}, got {self.k}")
        for word in (*self.terms, *self.added, *self.dropped):
            if len(word) > LONGEST_WORD:
                raise ConfigError(f"a word has at most {LONGEST_WORD} characters, got {len(word):,}: {word[:40]!r}…")

    @property
    def edits_terms(self) -> bool:
        """Whether it says anything about terms.

        >>> SimilarRequest("The lease.", dropped=("lease",)).edits_terms
        True
        """
        told = self.terms or self.added or self.dropped or self.amount is not None
        return bool(told) or self.weight is not TermWeight.ONCE


def similar(library: IndexRegistry, ask: SimilarRequest) -> SimilarPage:
    """Documents like a whole one, with the terms that were searched for and, where sentences are compared, what met what.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace
    >>> documents = [Document("a", text="The lease ended.", language="en"), Document("b", text="A lease.", language="en")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/cases", documents=documents).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/cases")]) as library:
    ...         page = similar(library, SimilarRequest(document="a", amount=1.0))
    >>> [result.id for result in page.results], page.left_out
    (['b'], {'own': 1})
    """
    return _page(library, ask, searched=True)


def similar_terms(library: IndexRegistry, ask: SimilarRequest) -> SimilarPage:
    """The terms alone, without a search: to be edited first.

    `ConfigError` where the profile has no choice of terms.
    """
    return _page(library, ask, searched=False)


def _page(library: IndexRegistry, ask: SimilarRequest, *, searched: bool) -> SimilarPage:
    clock, shelf = StageClock(), library.shelf(ask.index)
    with shelf.lease() as opened:
        with clock.stage("filter"):
            asked = _asked(opened, ask)
            allowed, notes = _allowed(opened, ask, asked)
        with clock.stage("terms"):
            pipeline = _pipeline(opened, ask)
            chosen = terms_of(members_of(pipeline, asked.query), asked.query)
        if chosen is None and not searched:
            raise ConfigError(f"the profile {ask.profile!r} has no choice of terms; only bm25 with kli has")
        return SimilarPage(
            index=shelf.name,
            generation=opened.generation,
            profile=ask.profile or USUAL,
            words=len(asked.query.text.split()),
            document=asked.document,
            terms=_terms(chosen),
            distinct=chosen.distinct if chosen else 0,
            results=_results(opened, pipeline, asked, allowed, ask.k, clock) if searched else [],
            left_out=_left_out(allowed),
            notes=notes + (notes_of(chosen) if chosen else []),
            timing=clock.timing(),
        )


def _asked(opened: IndexVersion, ask: SimilarRequest) -> SimilarQuery:
    if ask.document:
        return query_from_document(opened.snapshot, ask.document, ask.language, mask=ask.mask)
    return query_from_text(ask.text, ask.language, mask=ask.mask)


def _allowed(opened: IndexVersion, ask: SimilarRequest, asked: SimilarQuery) -> tuple[EligibleDocuments, list[str]]:
    """The documents that may answer, and what to tell about it."""
    day = last_day(asked, known_day(ask.before, "before"), ask.before_own_date)
    names = (PurePath(ask.name).name, stem(ask.name)) if ask.name else ()
    own = own_documents(opened.snapshot, asked, names) if ask.exclude_self else ()
    allowed = candidates(opened.snapshot, within_of(opened, ask.filters, ask.as_of), own=own, before=day)
    return allowed, [f"{allowed.undated:,} documents have no date and were left out"] if allowed.undated else []


def _pipeline(opened: IndexVersion, ask: SimilarRequest) -> Retriever:
    """What searches, with the terms that the caller wants."""
    if not ask.profile:
        return opened.similar_pipeline("", _choice(ask, None))
    pipeline = opened.similar_pipeline(ask.profile)
    if not ask.edits_terms:
        return pipeline
    query = query_from_text(ask.text or ask.document).query
    words = next((one for one in members_of(pipeline, query) if isinstance(one, BM25Kli)), None)
    if words is None:
        raise ConfigError(
            f"the profile {ask.profile!r} has no choice of terms, so there are none to edit; only bm25 with kli has"
        )
    return with_terms(pipeline, _choice(ask, words.choice.amount))


def _choice(ask: SimilarRequest, usual: float | None) -> TermChoice:
    amount = usual if ask.amount is None else ask.amount
    return TermChoice.of(amount, ask.weight, only=ask.terms, added=ask.added, dropped=ask.dropped)


def _results(
    opened: IndexVersion, pipeline: Retriever, asked: SimilarQuery, allowed: EligibleDocuments, k: int, clock: StageClock
) -> list[SimilarResult]:
    query, within = asked.query, allowed.within
    with clock.stage("search"):
        found = find_documents(pipeline, query, k, within=within)
    with clock.stage("snippets"):
        members = [
            one for one in members_of(pipeline, query) if not isinstance(one, DenseRetriever)
        ]  # one vector says little of a judgment
        answers = ResultBuilder(members or [pipeline], query).answers(found)
    with clock.stage("alignment"):
        met = proportional_relevance(pipeline, query, [one.hit.doc for one in found], within=within)

    def result(answer: SearchHit) -> SimilarResult:
        own, text = met.get(answer.document.id), answer.document.text
        return SimilarResult(**dict(result_of(answer)), alignment=alignment_of(own, query.text, text) if own else None)

    return [result(answer) for answer in answers]


def _terms(chosen: ChosenTerms | None) -> list[QueryTerm]:
    return [
        QueryTerm(word=one.word, term=one.term, count=one.count, informativeness=one.informativeness, weight=one.weight)
        for one in (chosen.terms if chosen else ())
    ]


def _left_out(allowed: EligibleDocuments) -> dict[str, int]:
    counts = {"own": len(allowed.own), "later": allowed.later, "undated": allowed.undated}
    return {reason: count for reason, count in counts.items() if count}
