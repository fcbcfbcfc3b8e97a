"""What assistants can do with a library: five tools, each a call of the service with what it takes, what it gives and its words.

The parameters are those of the HTTP API with the same bounds, and the answers are the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from lexfuse.errors import TooLargeError
from lexfuse.service.mcp.text import citation_text, document_text, explanation_text, search_text, similar_text
from lexfuse.service.operations.cite import CiteRequest, cite
from lexfuse.service.operations.documents import DocumentRequest, document
from lexfuse.service.operations.explain import LONGEST_NAME, ExplainRequest, explain
from lexfuse.service.operations.search import SearchRequest, search
from lexfuse.service.operations.similar import similar, similar_terms
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.cite import CiteBody
from lexfuse.service.routes.parameters import QuestionParameters
from lexfuse.service.routes.search import SearchBody
from lexfuse.service.routes.similar import SimilarBody
from lexfuse.service.schemas.base import ResponseModel, without_examples
from lexfuse.service.schemas.document import DocumentAnswer, ResolvedCitations
from lexfuse.service.schemas.explanation import ExplainResponse
from lexfuse.service.schemas.request_body import RequestBody
from lexfuse.service.schemas.search import SearchPage, SearchResult
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.service.settings import ServiceSettings
from lexfuse.text.citation.format import paragraph_at

WITH_PARAGRAPHS = ("decision", "other")  # kinds of documents that may number their paragraphs


class ExplainBody(QuestionParameters):
    """A question, and the document to be explained.

    >>> ExplainBody(query="préavis", document="L. 1237-1").profile
    ''
    """

    query: str = Field(min_length=1, description="The question, in any words.", examples=["durée du préavis de démission"])
    document: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="The id of a document, or a citation of it.", examples=["L. 1237-19"]
    )


class FetchBody(RequestBody):
    """A document to be read.

    >>> FetchBody(document="LEGIARTI000006901112").index
    ''
    """

    document: str = Field(
        min_length=1, max_length=2000, description="The id of a document, as results have it.", examples=["LEGIARTI000006901112"]
    )
    index: str = Field("", max_length=100, description="The index; the first one if not given.")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """An answer as a value, and in words.

    >>> ToolAnswer(ResolvedCitations(index="i", generation=1, citations=[]), "no citations").words
    'no citations'
    """

    value: ResponseModel
    words: str


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that an assistant can do; `call` takes the library and a `takes`, and its value is a `gives`.

    >>> [tool.name for tool in TOOLS]
    ['search', 'similar', 'explain', 'cite', 'fetch']
    """

    name: str
    title: str
    description: str
    takes: type[BaseModel]
    gives: type[ResponseModel]
    call: Callable[[IndexRegistry, Any], ToolAnswer]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of what it takes.

        >>> TOOLS[0].input_schema["required"]
        ['query']
        """
        return dict(without_examples(self.takes.model_json_schema()))

    @property
    def output_schema(self) -> dict[str, Any]:
        """The schema of what it gives.

        >>> TOOLS[0].output_schema["type"]
        'object'
        """
        return dict(without_examples(self.gives.model_json_schema(mode="serialization")))


def check_length(given: BaseModel, settings: ServiceSettings) -> None:
    """Refuse questions and texts that are longer than the service takes over HTTP.

    >>> check_length(ExplainBody(query="a" * 21_000, document="a"), ServiceSettings())
    Traceback (most recent call last):
    ...
    lexfuse.errors.TooLargeError: the query has 21,000 characters, 20,000 are allowed; ask for less, or give a whole text to ...
    """
    most = {"query": settings.max_query_characters, "text": settings.max_body_bytes}
    for name, allowed in most.items():
        if len(text := getattr(given, name, "")) > allowed:
            advice = "ask for less, or give a whole text to similar" if name == "query" else "give less of it"
            raise TooLargeError(f"the {name} has {len(text):,} characters, {allowed:,} are allowed; {advice}")


def _search(library: IndexRegistry, given: SearchBody) -> ToolAnswer:
    ask = SearchRequest(
        given.query, given.index, given.profile, given.k, given.cursor, tuple(given.filters), given.day, given.language,
        given.sort, given.facets,
    )  # fmt: skip
    page = search(library, ask)
    return ToolAnswer(page, search_text(page, _paragraphs(library, page.index, page.generation, page.results)))


def _similar(library: IndexRegistry, given: SimilarBody) -> ToolAnswer:
    page = (similar_terms if given.terms_only else similar)(library, given.ask())
    return ToolAnswer(page, similar_text(page, _paragraphs(library, page.index, page.generation, page.results)))


def _explain(library: IndexRegistry, given: ExplainBody) -> ToolAnswer:
    ask = ExplainRequest(given.query, given.document, given.index, given.profile, tuple(given.filters), given.day, given.language)
    answer = explain(library, ask)
    return ToolAnswer(answer, explanation_text(answer))


def _cite(library: IndexRegistry, given: CiteBody) -> ToolAnswer:
    answer = cite(library, CiteRequest(given.text, given.index, given.code))
    return ToolAnswer(answer, citation_text(answer))


def _fetch(library: IndexRegistry, given: FetchBody) -> ToolAnswer:
    answer = document(library, DocumentRequest(given.document, given.index))
    return ToolAnswer(answer, document_text(answer))


def _paragraphs(library: IndexRegistry, index: str, generation: int, results: Sequence[SearchResult]) -> dict[str, str]:
    """The numbers of the paragraphs that passages of results stand in, by document, where the document numbers them."""
    found: dict[str, str] = {}
    with library.shelf(index).lease(generation) as opened:
        for result in results:
            if result.kind in WITH_PARAGRAPHS:
                number = paragraph_at(opened.snapshot.document(result.id).text, result.snippet.text)
                found |= {result.id: number} if number is not None else {}
    return found


TOOLS = (
    Tool(
        "search",
        "Search the law",
        "Search statutes and case law with a question in any words; citations in it are understood and stand first. Gives the "
        "best matches with title, pinpoint citation, the passage that answers best and the id, by which fetch gives the whole "
        "text. For what held on a past day give as_of.",
        SearchBody,
        SearchPage,
        _search,
    ),
    Tool(
        "similar",
        "Find documents like one",
        "Find documents like a whole text, such as a judgment or the facts of a case, or like a document of the index given by "
        "its id. Tells the terms that were searched for, which can be edited, and which paragraphs correspond where the index "
        "has sentences. Give either text or document.",
        SimilarBody,
        SimilarPage,
        _similar,
    ),
    Tool(
        "explain",
        "Explain a rank",
        "Why a document stands where it stands for a question, or why it is not found: what every retriever says of it, and the "
        "terms that add to its score. The document is given by its id or by a citation.",
        ExplainBody,
        ExplainResponse,
        _explain,
    ),
    Tool(
        "cite",
        "Resolve citations",
        "Find every citation in a text, in whatever spelling, and the documents of the index that each means. Use it to check "
        "citations, and to get the id of a document from a citation. For a text that is part of a code, give the code.",
        CiteBody,
        ResolvedCitations,
        _cite,
    ),
    Tool(
        "fetch",
        "Read a document",
        "The whole text of a document by its id, paragraph by paragraph with anchors, how to cite it and its paragraphs, whether "
        "it is in force, what it cites and what cites it, its neighbours and other versions. Read it before you quote it.",
        FetchBody,
        DocumentAnswer,
        _fetch,
    ),
)
