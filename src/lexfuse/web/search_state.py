"""The state of a search page. All of it is in the address, so that every page can be bookmarked and shared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams


@dataclass(frozen=True, slots=True)
class SearchState:
    """The question, the index and the options; empty values are defaults and are not in addresses.

    >>> SearchState("préavis", filters=("code=Code du travail",)).url()
    '/?q=pr%C3%A9avis&filter=code%3DCode+du+travail'
    """

    query: str = ""
    index: str = ""
    profile: str = ""
    filters: tuple[str, ...] = ()
    as_of: str = ""
    sort: str = ""
    cursor: str = ""

    @classmethod
    def of(cls, given: QueryParams) -> SearchState:
        """The state of an address.

        >>> from starlette.datastructures import QueryParams
        >>> SearchState.of(QueryParams("q=loi&filter=kind%3Dstatute&filter=")).filters
        ('kind=statute',)
        """
        return cls(
            query=given.get("q", ""),
            index=given.get("index", ""),
            profile=given.get("profile", ""),
            filters=tuple(dict.fromkeys(each for each in given.getlist("filter") if each.strip())),
            as_of=given.get("as_of", "").strip(),
            sort=given.get("sort", ""),
            cursor=given.get("cursor", ""),
        )

    def parameters(self) -> list[tuple[str, str]]:
        """Names and values of the address, always in the same order."""
        pairs = [("q", self.query), ("index", self.index), ("profile", self.profile), *(("filter", one) for one in self.filters),
                 ("as_of", self.as_of), ("sort", self.sort), ("cursor", self.cursor)]  # fmt: skip
        return [(name, value) for name, value in pairs if value]

    def url(self, path: str = "/", **more: str) -> str:
        """The address of this state on a page; `more` are parameters of that page."""
        pairs = [*self.parameters(), *more.items()]
        return f"{path}?{urlencode(pairs)}" if pairs else path

    def page_of(self, path: str, document: str, **more: str) -> str:
        """The address of this state on a page about one document: ``/why/ID?q=…``.

        >>> SearchState("loi", cursor="x").page_of("/why", "a/b")
        '/why/a%2Fb?q=loi'
        """
        return replace(self, cursor="").url(f"{path}/{quote(document, safe='')}", **more)

    def but(self, **changes: Any) -> SearchState:
        """The same with changes, from the first page unless they include a cursor.

        >>> SearchState("loi", cursor="x").but(sort="date").url()
        '/?q=loi&sort=date'
        """
        return replace(self, **{"cursor": "", **changes})

    def without(self, condition: str) -> SearchState:
        """Without one filter.

        >>> SearchState(filters=("kind=statute",)).without("kind=statute").filters
        ()
        """
        return self.but(filters=tuple(each for each in self.filters if each != condition))
