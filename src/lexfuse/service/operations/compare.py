"""Two or three profiles on one question: what moved, what is new and what is lost relative to the first."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from lexfuse.errors import ConfigError
from lexfuse.search.words.correction import Spelling
from lexfuse.service.operations.cursor import Cursor
from lexfuse.service.operations.search import MAX_RESULTS, SearchQuery, search
from lexfuse.service.parameters import EVERYDAY, OPERATORS, SPELLING, FilterParameters, Question
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import ProfileComparison, ProfileRanking, RankChange, SearchPage

MIN_PROFILES, MAX_PROFILES = 2, 3

ProfileName = Annotated[str, Field(min_length=1, max_length=200)]


class CompareParameters(FilterParameters):
    """A question, and the profiles to answer it with.

    >>> CompareParameters(query="loi", profiles=["bm25", "bm25"])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: two or three different profiles are compared, got bm25, bm25
    """

    query: Question
    profiles: list[ProfileName] = Field(
        min_length=MIN_PROFILES,
        max_length=MAX_PROFILES,
        description="Two or three different profiles.",
        examples=[["bm25", "hybrid"]],
    )
    k: int = Field(10, ge=1, le=MAX_RESULTS, description="Results of each profile.", examples=[10])
    operators: bool = Field(True, description=OPERATORS)
    spelling: Spelling = Field(Spelling.AUTO, description=SPELLING)
    everyday: bool = Field(True, description=EVERYDAY)

    @model_validator(mode="after")
    def _different(self) -> Self:
        if len(set(self.profiles)) < len(self.profiles):
            raise ConfigError(f"two or three different profiles are compared, got {', '.join(self.profiles)}")
        return self


def compare(registry: IndexRegistry, given: CompareParameters) -> ProfileComparison:
    """The results of every profile, all from one version of the index, with changes relative to the first."""
    served = registry.index(given.index)
    with served.lease() as version:  # held until all have answered, so that none answers from a newer version
        pages = [_page(registry, given, profile, version.generation) for profile in given.profiles]
        rankings = [_ranking(page, pages[0]) for page in pages]
        return ProfileComparison(index=served.name, generation=version.generation, query=given.query, rankings=rankings)


def _page(registry: IndexRegistry, given: CompareParameters, profile: str, generation: int) -> SearchPage:
    """The first page of a profile, from one version of the index: a cursor says from which."""
    asked = SearchQuery(**given.model_dump(exclude={"profiles"}), profile=profile)
    return search(registry, asked.model_copy(update={"cursor": Cursor(0, generation, asked.digest()).text()}))


def _ranking(page: SearchPage, first: SearchPage) -> ProfileRanking:
    before = {result.id: result.rank for result in first.results}
    kept = {result.id for result in page.results}
    return ProfileRanking(
        profile=page.profile,
        results=[RankChange(result=result, before=before.get(result.id)) for result in page.results],
        lost=[result for result in first.results if result.id not in kept],
        timing=page.timing,
    )
