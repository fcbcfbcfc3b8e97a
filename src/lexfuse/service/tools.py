"""What assistants can do with a library: five tools, each a call of the service with what it takes, what it gives and its words.

The parameters are those of the HTTP API with the same bounds, and the answers are the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from lexfuse.errors import TooLargeError
from lexfuse.service.answers.citation import Resolved
from lexfuse.service.answers.document import DocumentAnswer
from lexfuse.service.answers.explanation import Explained
from lexfuse.service.answers.search import Result, SearchPage
from lexfuse.service.answers.similar import SimilarPage
from lexfuse.service.answers.value import Value
from lexfuse.service.bodies import RequestBody
from lexfuse.service.citing import CiteAsk, cite
from lexfuse.service.documents import DocumentAsk, document
from lexfuse.service.explaining import LONGEST_NAME, ExplainAsk, explain
from lexfuse.service.library import Library
from lexfuse.service.pinpointing import paragraph_at
from lexfuse.service.resembling import similar, similar_terms
from lexfuse.service.routes.cite import CiteIn
from lexfuse.service.routes.parameters import Asking
from lexfuse.service.routes.search import SearchIn
from lexfuse.service.routes.similar import SimilarIn
from lexfuse.service.schemas import without_examples
from lexfuse.service.searching import SearchAsk, search
from lexfuse.service.settings import ServiceSettings
from lexfuse.service.telling import told_cited, told_document, told_explained, told_search, told_similar

WITH_PARAGRAPHS = ("decision", "other")  # kinds of documents that may number their paragraphs


class ExplainIn(Asking):
    """A question, and the document to be explained.

    >>> ExplainIn(query="préavis", document="L. 1237-1").profile
    ''
    """

    query: str = Field(min_length=1, description="The question, in any words.", examples=["durée du préavis de démission"])
    document: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="The id of a document, or a citation of it.", examples=["L. 1237-19"]
    )


class FetchIn(RequestBody):
    """A document to be read.

    >>> FetchIn(document="LEGIARTI000006901112").index
    ''
    """

    document: str = Field(
        min_length=1, max_length=2000, description="The id of a document, as results have it.", examples=["LEGIARTI000006901112"]
    )
    index: str = Field("", max_length=100, description="The index; the first one if not given.")


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as a value, and in words.

    >>> Told(Resolved(index="i", generation=1, citations=[]), "no citations").words
    'no citations'
    """

    value: Value
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
    gives: type[Value]
    call: Callable[[Library, Any], Told]

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

    >>> check_length(ExplainIn(query="a" * 21_000, document="a"), ServiceSettings())
    Traceback (most recent call last):
    ...
    lexfuse.errors.TooLargeError: the query has 21,000 characters, 20,000 are allowed; ask for less, or give a whole text to ...
    """
    most = {"query": settings.most_query_characters, "text": settings.most_body_bytes}
    for name, allowed in most.items():
        if len(text := getattr(given, name, "")) > allowed:
            advice = "ask for less, or give a whole text to similar" if name == "query" else "give less of it"
            raise TooLargeError(f"the {name} has {len(text):,} characters, {allowed:,} are allowed; {advice}")


def _search(library: Library, given: SearchIn) -> Told:
    ask = SearchAsk(
        given.query, given.index, given.profile, given.k, given.cursor, tuple(given.filters), given.day, given.language,
        given.sort, given.facets,
    )  # fmt: skip
    page = search(library, ask)
    return Told(page, told_search(page, _paragraphs(library, page.index, page.generation, page.results)))


def _similar(library: Library, given: SimilarIn) -> Told:
    page = (similar_terms if given.terms_only else similar)(library, given.ask())
    return Told(page, told_similar(page, _paragraphs(library, page.index, page.generation, page.results)))


def _explain(library: Library, given: ExplainIn) -> Told:
    ask = ExplainAsk(given.query, given.document, given.index, given.profile, tuple(given.filters), given.day, given.language)
    answer = explain(library, ask)
    return Told(answer, told_explained(answer))


def _cite(library: Library, given: CiteIn) -> Told:
    answer = cite(library, CiteAsk(given.text, given.index, given.code))
    return Told(answer, told_cited(answer))


def _fetch(library: Library, given: FetchIn) -> Told:
    answer = document(library, DocumentAsk(given.document, given.index))
    return Told(answer, told_document(answer))


def _paragraphs(library: Library, index: str, generation: int, results: Sequence[Result]) -> dict[str, str]:
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
        SearchIn,
        SearchPage,
        _search,
    ),
    Tool(
        "similar",
        "Find documents like one",
        "Find documents like a whole text, such as a judgment or the facts of a case, or like a document of the index given by "
        "its id. Tells the terms that were searched for, which can be edited, and which paragraphs correspond where the index "
        "has sentences. Give either text or document.",
        SimilarIn,
        SimilarPage,
        _similar,
    ),
    Tool(
        "explain",
        "Explain a rank",
        "Why a document stands where it stands for a question, or why it is not found: what every retriever says of it, and the "
        "terms that add to its score. The document is given by its id or by a citation.",
        ExplainIn,
        Explained,
        _explain,
    ),
    Tool(
        "cite",
        "Resolve citations",
        "Find every citation in a text, in whatever spelling, and the documents of the index that each means. Use it to check "
        "citations, and to get the id of a document from a citation. For a text that is part of a code, give the code.",
        CiteIn,
        Resolved,
        _cite,
    ),
    Tool(
        "fetch",
        "Read a document",
        "The whole text of a document by its id, paragraph by paragraph with anchors, how to cite it and its paragraphs, whether "
        "it is in force, what it cites and what cites it, its neighbours and other versions. Read it before you quote it.",
        FetchIn,
        DocumentAnswer,
        _fetch,
    ),
)
