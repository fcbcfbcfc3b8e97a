"""Documents like a whole document: a text, a file, or a document of the index; the terms that are searched for can be edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from lexfuse.errors import TooLargeError
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import SearchHit
from lexfuse.search.similar import SENTENCES
from lexfuse.search.similar_hits import SimilarHits, find_similar
from lexfuse.service.operations.explain import explained_hit
from lexfuse.service.operations.paragraph_alignment import alignment_of
from lexfuse.service.operations.search import MAX_RESULTS, result_of, timing_of
from lexfuse.service.parameters import Day, QuestionParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.search import DayCoverageCard
from lexfuse.service.schemas.similar import QueryTerm, SimilarPage, SimilarResult
from lexfuse.text.analysis.languages import detect_language
from lexfuse.text.kli import TermChoice, TermWeight

MAX_CHARACTERS = 2_000_000  # of a text: several times the longest judgment
CITED, CITED_BY_ONE = 50, 5  # documents that a query cites, and that one of its citations means
Word = Annotated[str, Field(min_length=1, max_length=200)]
_WORDS = "each word or word=weight"


class SimilarParameters(QuestionParameters):
    """A whole document as the query."""

    text: str = Field(
        "", description="The whole text; or give document.", examples=["The tenant held over after the lease ended."]
    )
    document: str = Field("", max_length=2000, description="The id of a document of the index; or give text.")
    k: int = Field(10, ge=1, le=MAX_RESULTS, description="Number of results.")
    amount: float | None = Field(
        None,
        gt=0,
        le=100_000,
        description="Terms to use: a share of them up to 1, a number above 1; a tenth and at least ten by default.",
        examples=[0.1],
    )
    weight: Literal["once", "count", "kli"] = Field(
        "once", description="Weight of each term: one, its number of occurrences, or its KLI."
    )
    terms: list[Word] = Field([], max_length=1000, description=f"Search by these alone, {_WORDS}.", examples=[["estoppel=2"]])
    exact_terms: list[Word] = Field(
        [], max_length=1000, description="Search by these alone, each the term of a former response or term=weight."
    )
    added: list[Word] = Field([], max_length=1000, description=f"Search by these too, {_WORDS}.")
    dropped: list[Word] = Field([], max_length=1000, description="Do not search by these.")
    drop_boilerplate: bool = Field(
        False, strict=True, description="Set aside dates and very common words, unless the request names the terms."
    )
    explain: bool = Field(False, strict=True, description="Explain every result.")
    terms_only: bool = Field(False, strict=True, description="Return the terms that would be searched for, without searching.")
    exclude_self: bool = Field(True, strict=True, description="Leave out the document itself, found by its id or its text.")
    before: Day | None = Field(None, description="Only documents dated before this day.", examples=["2020-01-01"])
    before_own_date: bool = Field(False, strict=True, description="Only documents dated before the one given by its id.")
    mask: bool = Field(False, strict=True, description="Hide citations of decisions in the query.")

    @property
    def term_choice(self) -> TermChoice | None:
        """What the request says about terms; None if it says nothing."""
        weight = TermWeight(self.weight)
        choice = TermChoice.of(
            self.amount, weight, only=self.terms, exact=self.exact_terms, added=self.added, dropped=self.dropped
        )
        return None if choice == TermChoice() else choice


@dataclass(frozen=True, slots=True)
class SentenceCoverage:
    """How many documents of an index can be compared with a query sentence by sentence."""

    channel: bool  # whether the index has the channel of sentences, complete or not
    compared: int
    documents: int

    @property
    def complete(self) -> bool:
        """Whether every document can be compared."""
        return self.channel and self.compared == self.documents


def sentence_coverage(version: IndexVersion) -> SentenceCoverage:
    """What the channel of sentences holds; a channel that is being filled counts as far as it is filled.

    >>> with registry.index().lease() as version:
    ...     sentence_coverage(version).complete
    False
    """
    snapshot = version.snapshot
    if SENTENCES not in snapshot.channels:
        return SentenceCoverage(False, 0, len(snapshot))
    compared = version.cached("sentences", lambda: int((snapshot.channel_numbering(SENTENCES).raw >= 0).sum()))
    return SentenceCoverage(True, compared, len(snapshot))


def similar(registry: IndexRegistry, given: SimilarParameters, file_name: str = "") -> SimilarPage:
    """Documents like a whole one, with the terms that were searched for and, where sentences are compared, what met what.

    `file_name` is the name of the file that the text is from: a document of that id counts as the text itself.
    """
    if (length := len(given.text)) > MAX_CHARACTERS:
        raise TooLargeError(f"the text has {length:,} characters, {MAX_CHARACTERS:,} are allowed; give a part of it")
    served = registry.index(given.index)
    with served.lease() as version:
        found = find_similar(
            version,
            file_name=file_name,
            terms=given.term_choice,
            **given.model_dump(exclude={"index", "amount", "weight", "terms", "exact_terms", "added", "dropped", "explain"}),
        )
        language = found.query.query.language or detect_language(found.query.query.text)
        return SimilarPage(
            index=served.name,
            generation=version.generation,
            profile=found.profile,
            words=len(found.query.query.text.split()),
            document=found.query.document,
            terms=[QueryTerm.model_validate(term, from_attributes=True) for term in (found.terms.terms if found.terms else ())],
            set_aside=[QueryTerm.model_validate(term, from_attributes=True) for term in found.set_aside],
            cited=_cited(version, found),
            language=language,
            language_known=not language or language in set(version.snapshot.column("language")),
            sentences=SENTENCES in version.snapshot.channels,
            distinct=found.terms.distinct if found.terms else 0,
            results=[_result(version, found, hit, explain=given.explain) for hit in found.hits],
            left_out=_left_out(found),
            notes=list(found.notes),
            coverage=DayCoverageCard.of(found.coverage),
            timing=timing_of(found.timing),
        )


def _result(version: IndexVersion, found: SimilarHits, hit: SearchHit, *, explain: bool) -> SimilarResult:
    alignment = alignment_of(version, found.alignments.get(hit.id), found.query.query.text, hit.document)
    why = explained_hit(hit.explain(), hit.document) if explain else None
    return SimilarResult(**dict(result_of(hit)), alignment=alignment, why=why)


def _cited(version: IndexVersion, found: SimilarHits) -> list[DocumentCard]:
    """The documents that the query cites, in order of place, without the query itself."""
    ids = version.snapshot.ids
    numbers = [int(number) for _, some in version.citations.cited(found.query.text) for number in some[:CITED_BY_ONE]]
    named = [name for number in dict.fromkeys(numbers) if (name := ids[number]) not in found.eligible.own]
    return [DocumentCard.of(one) for one in version.snapshot.heads(named[:CITED])]


def _left_out(found: SimilarHits) -> dict[str, int]:
    eligible = found.eligible
    counts = {"own": len(eligible.own), "later": eligible.later, "undated": eligible.undated}
    return {reason: count for reason, count in counts.items() if count}
