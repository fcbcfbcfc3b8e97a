"""The state of a search page. All of it is in the address, so that every page can be bookmarked and shared.

People read, keep and share these addresses, so their parameters have short names: `q` and `filter`. The API has its own (`query`,
`filters`); `SearchState` and the forms translate. Unknown parameters are refused here too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from fastapi import Depends
from pydantic import BaseModel
from starlette.datastructures import QueryParams
from starlette.requests import Request

from lexfuse.service.parameters import page_parameters, refuse_unknown

Model = TypeVar("Model", bound=BaseModel)

SEARCH = (
    "q",
    "index",
    "profile",
    "filter",
    "as_of",
    "sort",
    "plain",
    "spelling",
    "everyday",
    "cursor",
)  # those of a `SearchState`
_EVERYWHERE = "lang"
_TRACKING = ("utm_", "fbclid", "gclid", "msclkid")  # other sites append these to the links that people share


def accepts(*names: str) -> Any:
    """A dependency of a page that refuses query parameters with other names.

    >>> from fastapi import APIRouter
    >>> _ = APIRouter().get("/help", dependencies=[accepts()])
    """

    async def check(request: Request) -> None:
        refuse_unknown((name for name in request.query_params if not name.startswith(_TRACKING)), (*names, _EVERYWHERE))

    return Depends(check)


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
    plain: str = ""  # not empty: operators in the question are words
    spelling: str = ""  # off: misspelt words stay
    everyday: str = ""  # off: everyday words are searched as they are written
    cursor: str = ""

    @classmethod
    def of(cls, given: QueryParams) -> SearchState:
        """The state of an address.

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
            plain=given.get("plain", ""),
            spelling=given.get("spelling", ""),
            everyday=given.get("everyday", ""),
            cursor=given.get("cursor", ""),
        )

    def request(self, model: type[Model], **more: Any) -> Model:
        """The parameters of an operation: what of the state they have, and `more`.

        >>> from lexfuse.service.operations.search import SearchQuery
        >>> SearchState("loi").request(SearchQuery, k=5).k
        5
        """
        own = {name: value for name, value in asdict(self).items() if value and name in model.model_fields}
        own |= {"operators": False} if self.plain and "operators" in model.model_fields else {}
        return page_parameters(model, own | more)

    def parameters(self) -> list[tuple[str, str]]:
        """Names and values of the address, always in the same order."""
        pairs = [("q", self.query), ("index", self.index), ("profile", self.profile), *(("filter", one) for one in self.filters),
                 ("as_of", self.as_of), ("sort", self.sort), ("plain", self.plain),
                 ("spelling", self.spelling), ("everyday", self.everyday), ("cursor", self.cursor)]  # fmt: skip
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

    def document(self, document: str, anchor: str = "", **more: str) -> str:
        """The address of a document that keeps the question.

        >>> SearchState("loi", cursor="x").document("a/b", "best", rank="3")
        '/documents/a%2Fb?q=loi&rank=3#best'
        """
        return self.page_of("/documents", document, **more) + (f"#{quote(anchor)}" if anchor else "")

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
