"""The tools of the MCP server: each calls an operation of the service and renders its result as text.

Parameters, bounds and results are those of the HTTP API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from lexfuse.service.mcp.history_text import difference_text, history_text
from lexfuse.service.mcp.text import citation_text, document_text, explanation_text, search_text, similar_text
from lexfuse.service.operations.documents import CiteParameters, cite, document
from lexfuse.service.operations.explain import ExplainParameters, explain
from lexfuse.service.operations.history import DiffParameters, HistoryParameters, diff, history
from lexfuse.service.operations.search import SearchParameters, search
from lexfuse.service.operations.similar import SimilarParameters, similar
from lexfuse.service.parameters import Day, IndexParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import DocumentAnswer, ResolvedCitations, ResponseModel
from lexfuse.service.schemas.explanation import ExplainResponse
from lexfuse.service.schemas.history import DocumentDifference, DocumentHistory
from lexfuse.service.schemas.search import SearchPage
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.text.citation.format import paragraph_at

WITH_PARAGRAPHS = ("decision", "other")  # kinds of documents that may number their paragraphs


class FetchParameters(IndexParameters):
    """A document to read."""

    document: str = Field(
        min_length=1, max_length=2000, description="Document id, as in results.", examples=["LEGIARTI000006901112"]
    )
    as_of: Day | None = Field(None, description="Its version of this day; today by default.", examples=["2016-09-30"])


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a tool as a value and as text."""

    value: ResponseModel
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: an operation, its parameters and its result, and how the result reads as text.

    >>> [tool.name for tool in TOOLS]
    ['search', 'similar', 'explain', 'cite', 'fetch', 'history', 'diff']
    """

    name: str
    title: str
    description: str
    parameters: type[BaseModel]
    result: type[ResponseModel]
    operation: Callable[[IndexRegistry, Any], ResponseModel]
    text: Callable[[Any, Mapping[str, str]], str]  # of a result, and the paragraph numbers of its passages

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the parameters."""
        return self.parameters.model_json_schema()

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the result."""
        return self.result.model_json_schema(mode="serialization")

    def call(self, registry: IndexRegistry, given: BaseModel) -> ToolAnswer:
        """The answer to parameters."""
        value = self.operation(registry, given)
        paragraphs = _paragraphs(registry, value) if isinstance(value, SearchPage | SimilarPage) else {}
        return ToolAnswer(value, self.text(value, paragraphs))


def _fetched(registry: IndexRegistry, given: FetchParameters) -> DocumentAnswer:
    return document(registry, given.document, given.index, given.as_of)


def _paragraphs(registry: IndexRegistry, page: SearchPage | SimilarPage) -> dict[str, str]:
    """The paragraph number of each result's passage, by document id, for documents that number their paragraphs."""
    found: dict[str, str] = {}
    with registry.index(page.index).lease(page.generation) as version:
        for result in page.results:
            if result.kind in WITH_PARAGRAPHS:
                number = paragraph_at(version.snapshot.document(result.id).text, result.snippet.text)
                found |= {result.id: number} if number is not None else {}
    return found


TOOLS = (
    Tool(
        "search",
        "Search the law",
        "Search statutes and case law with a question in any words; documents that it cites come first. Returns the best "
        "matches, each with title, pinpoint citation, best passage and id; fetch returns the whole text of an id. Use as_of for "
        'the law on a past day. The question may have operators: "exact phrase", -word, AND OR NOT with parentheses, word*, '
        "word /s word (same sentence), /p (same paragraph), /5 (within five words), title:word.",
        SearchParameters,
        SearchPage,
        search,
        search_text,
    ),
    Tool(
        "similar",
        "Find similar documents",
        "Find documents similar to a whole text, such as a judgment or the facts of a case, or to a document of the index given "
        "by its id. Lists the terms that were searched for, which can be edited, and the paragraphs that correspond if the index "
        "has sentences. Give either text or document.",
        SimilarParameters,
        SimilarPage,
        similar,
        similar_text,
    ),
    Tool(
        "explain",
        "Explain a rank",
        "Why a document has its rank for a question, or why it is not found: the score of every retriever, and the terms that "
        "contribute to it. Give the document by its id or by a citation.",
        ExplainParameters,
        ExplainResponse,
        explain,
        lambda answer, _: explanation_text(answer),
    ),
    Tool(
        "cite",
        "Resolve citations",
        "Find every citation in a text, in any spelling, and the documents of the index it refers to. Use it to check citations, "
        "and to get the id of a document from a citation. For a text that belongs to a code, give the code.",
        CiteParameters,
        ResolvedCitations,
        cite,
        lambda answer, _: citation_text(answer),
    ),
    Tool(
        "fetch",
        "Read a document",
        "The whole text of a document by its id: paragraphs with anchors, how to cite it and them, whether it is in force, the "
        "documents it cites and that cite it, its neighbours and other versions. Read a document before you quote it.",
        FetchParameters,
        DocumentAnswer,
        _fetched,
        lambda answer, _: document_text(answer),
    ),
    Tool(
        "history",
        "List the versions of a document",
        "All versions of a document by its id or a citation, the oldest first, with their periods and texts. Use it to find out "
        "when a provision changed.",
        HistoryParameters,
        DocumentHistory,
        history,
        lambda answer, _: history_text(answer),
    ),
    Tool(
        "diff",
        "Compare a document on two days",
        "What changed in a document from one day to another, word by word: [-removed-] and {+added+}.",
        DiffParameters,
        DocumentDifference,
        diff,
        lambda answer, _: difference_text(answer),
    ),
)
