"""Two or three profiles side by side on one question: what moved, what is new, what is lost beside the first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lexfuse.errors import ConfigError
from lexfuse.service.operations.cursor import Cursor
from lexfuse.service.operations.search import SearchRequest, search
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.comparison import ProfileComparison, ProfileRanking, RankChange
from lexfuse.service.schemas.search import SearchPage

FEWEST, MOST = 2, 3


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """A question, and the profiles that answer it.

    >>> CompareRequest("loi", ("bm25",))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: two or three different profiles are compared, got bm25
    """

    query: str
    profiles: tuple[str, ...]
    index: str = ""
    k: int = 10
    filters: tuple[str, ...] = ()
    as_of: str = ""
    language: str = ""

    def __post_init__(self) -> None:
        """Refuse profiles that cannot be compared."""
        if not FEWEST <= len(self.profiles) <= MOST or len(set(self.profiles)) < len(self.profiles):
            raise ConfigError(f"two or three different profiles are compared, got {', '.join(self.profiles) or 'none'}")


def compare(library: IndexRegistry, ask: CompareRequest) -> ProfileComparison:
    """The results of every profile, all from one version of the index, with moves beside the first.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.search.spec.spec import SearchSpec
    >>> from lexfuse.service.registry import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law", documents=[Document("a", text="la loi"), Document("b", text="le droit")]).close()
    ...     SearchSpec.of("tfidf", name="cosine").save(f"{folder}/cosine.toml")
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")], [f"{folder}/cosine.toml"]) as library:
    ...         compared = compare(library, CompareRequest("loi", ("bm25", "cosine"), language="fr"))
    >>> [(ranking.profile, [move.before for move in ranking.results], ranking.lost) for ranking in compared.rankings]
    [('bm25', [1], []), ('cosine', [1], [])]
    """
    shelf = library.shelf(ask.index)
    with shelf.lease() as opened:  # held until all have answered, so that none answers from a newer version
        pages = [_page(library, ask, profile or opened.default_profile, opened.generation) for profile in ask.profiles]
        rankings = [_ranking(page, pages[0]) for page in pages]
        return ProfileComparison(index=shelf.name, generation=opened.generation, query=ask.query, rankings=rankings)


def _page(library: IndexRegistry, ask: CompareRequest, profile: str, generation: int) -> SearchPage:
    """The first page of a profile, from one version of the index: a cursor says from which."""
    asked = SearchRequest(ask.query, ask.index, profile, ask.k, filters=ask.filters, as_of=ask.as_of, language=ask.language)
    return search(library, replace(asked, cursor=Cursor(0, generation, asked.digest).text()))


def _ranking(page: SearchPage, first: SearchPage) -> ProfileRanking:
    before = {result.id: result.rank for result in first.results}
    kept = {result.id for result in page.results}
    return ProfileRanking(
        profile=page.profile,
        results=[RankChange(result=result, before=before.get(result.id)) for result in page.results],
        lost=[result for result in first.results if result.id not in kept],
        timing=page.timing,
    )
