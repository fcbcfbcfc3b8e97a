"""Documents like a whole document: a text, a file, or a document of the index; the terms that are searched for can be edited."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lexfuse.errors import TooLargeError
from lexfuse.search.results import SearchHit
from lexfuse.search.similar_hits import SimilarHits, find_similar
from lexfuse.service.operations.explain import alignment_of
from lexfuse.service.operations.search import MAX_RESULTS, result_of, timing_of
from lexfuse.service.parameters import Day, QuestionParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import DayCoverageCard, QueryTerm, SimilarPage, SimilarResult
from lexfuse.text.kli import TermChoice, TermWeight

MAX_CHARACTERS = 2_000_000  # of a text: several times the longest judgment
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
    added: list[Word] = Field([], max_length=1000, description=f"Search by these too, {_WORDS}.")
    dropped: list[Word] = Field([], max_length=1000, description="Do not search by these.")
    terms_only: bool = Field(False, strict=True, description="Return the terms that would be searched for, without searching.")
    exclude_self: bool = Field(True, strict=True, description="Leave out the document itself, found by its id or its text.")
    before: Day | None = Field(None, description="Only documents dated before this day.", examples=["2020-01-01"])
    before_own_date: bool = Field(False, strict=True, description="Only documents dated before the one given by its id.")
    mask: bool = Field(False, strict=True, description="Hide citations of decisions in the query.")

    @property
    def term_choice(self) -> TermChoice | None:
        """What the request says about terms; None if it says nothing."""
        weight = TermWeight(self.weight)
        choice = TermChoice.of(self.amount, weight, only=self.terms, added=self.added, dropped=self.dropped)
        return None if choice == TermChoice() else choice


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
            **given.model_dump(exclude={"index", "amount", "weight", "terms", "added", "dropped"}),
        )
        return SimilarPage(
            index=served.name,
            generation=version.generation,
            profile=found.profile,
            words=len(found.query.query.text.split()),
            document=found.query.document,
            terms=[QueryTerm.model_validate(term, from_attributes=True) for term in (found.terms.terms if found.terms else ())],
            distinct=found.terms.distinct if found.terms else 0,
            results=[_result(found, hit) for hit in found.hits],
            left_out=_left_out(found),
            notes=list(found.notes),
            coverage=DayCoverageCard.of(found.coverage),
            timing=timing_of(found.timing),
        )


def _result(found: SimilarHits, hit: SearchHit) -> SimilarResult:
    alignment = alignment_of(found.alignments.get(hit.id), found.query.query.text, hit.document.text)
    return SimilarResult(**dict(result_of(hit)), alignment=alignment)


def _left_out(found: SimilarHits) -> dict[str, int]:
    eligible = found.eligible
    counts = {"own": len(eligible.own), "later": eligible.later, "undated": eligible.undated}
    return {reason: count for reason, count in counts.items() if count}
