"""Documents like a whole document: a text, a file, or a document of the index; the terms that are searched for can be edited."""

from __future__ import annotations

from dataclasses import dataclass

from lexfuse.channels.lexical.bm25_kli import ChosenTerms
from lexfuse.errors import ConfigError, TooLargeError
from lexfuse.search.results import SearchHit
from lexfuse.search.similar_hits import SimilarHits, find_similar
from lexfuse.service.operations.explain import alignment_of
from lexfuse.service.operations.search import MOST_RESULTS, result_of, timing_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.similar import QueryTerm, SimilarPage, SimilarResult
from lexfuse.text.kli import TermChoice, TermWeight

LONGEST_WORD = 200  # characters of a term that the caller gives
LONGEST_TEXT = 2_000_000  # characters: several times the longest judgment


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
    def term_choice(self) -> TermChoice | None:
        """What the request says about terms; None if it says nothing."""
        choice = TermChoice.of(self.amount, self.weight, only=self.terms, added=self.added, dropped=self.dropped)
        return None if choice == TermChoice() else choice


def similar(library: IndexRegistry, ask: SimilarRequest) -> SimilarPage:
    """Documents like a whole one, with the terms that were searched for and, where sentences are compared, what met what."""
    return _page(library, ask, terms_only=False)


def similar_terms(library: IndexRegistry, ask: SimilarRequest) -> SimilarPage:
    """The terms alone, without a search: to be edited first. `ConfigError` where the profile has no choice of terms."""
    return _page(library, ask, terms_only=True)


def _page(library: IndexRegistry, ask: SimilarRequest, *, terms_only: bool) -> SimilarPage:
    shelf = library.shelf(ask.index)
    with shelf.lease() as version:
        found = find_similar(
            version,
            ask.text,
            ask.k,
            document=ask.document,
            file_name=ask.name,
            terms=ask.term_choice,
            terms_only=terms_only,
            exclude_self=ask.exclude_self,
            before=ask.before,
            before_own_date=ask.before_own_date,
            mask=ask.mask,
            profile=ask.profile,
            filters=ask.filters,
            as_of=ask.as_of,
            language=ask.language,
        )
        return SimilarPage(
            index=shelf.name,
            generation=version.generation,
            profile=found.profile,
            words=len(found.query.query.text.split()),
            document=found.query.document,
            terms=_terms(found.terms),
            distinct=found.terms.distinct if found.terms else 0,
            results=[_result(found, hit) for hit in found.hits],
            left_out=_left_out(found),
            notes=list(found.notes),
            timing=timing_of(found.timing),
        )


def _result(found: SimilarHits, hit: SearchHit) -> SimilarResult:
    met = found.alignments.get(hit.id)
    alignment = alignment_of(met, found.query.query.text, hit.document.text) if met else None
    return SimilarResult(**dict(result_of(hit)), alignment=alignment)


def _terms(chosen: ChosenTerms | None) -> list[QueryTerm]:
    return [
        QueryTerm(word=one.word, term=one.term, count=one.count, informativeness=one.informativeness, weight=one.weight)
        for one in (chosen.terms if chosen else ())
    ]


def _left_out(found: SimilarHits) -> dict[str, int]:
    eligible = found.eligible
    counts = {"own": len(eligible.own), "later": eligible.later, "undated": eligible.undated}
    return {reason: count for reason, count in counts.items() if count}
