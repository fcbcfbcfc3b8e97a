"""Why a document has its rank for a question, or why it is not found; paragraphs that met where sentences are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from lexfuse.channels.explanation import Explanation
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError
from lexfuse.search.document_explanation import DocumentExplanation, explain_document
from lexfuse.search.words.correction import Spelling
from lexfuse.service.operations.paragraph_alignment import alignment_of
from lexfuse.service.operations.search import correction_of, marked_snippet
from lexfuse.service.parameters import EVERYDAY, OPERATORS, SPELLING, Question, QuestionParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.explanation import (
    ConditionPart,
    ExplainResponse,
    HitExplanation,
    SourceShare,
    StructureSupport,
    TermShare,
    TokenShare,
)

DOCUMENT: dict[str, Any] = {
    "min_length": 1,
    "max_length": 2000,
    "description": "Document id, or a citation of the document.",
    "examples": ["L. 1237-19"],
}


class ExplainQuery(QuestionParameters):
    """The question that a document is explained for."""

    query: Question
    operators: bool = Field(True, description=OPERATORS)
    spelling: Spelling = Field(Spelling.AUTO, description=SPELLING)
    everyday: bool = Field(True, description=EVERYDAY)


class ExplainParameters(ExplainQuery):
    """A question, and the document to explain."""

    document: Annotated[str, Field(**DOCUMENT)]


def explain(registry: IndexRegistry, given: ExplainParameters) -> ExplainResponse:
    """What every source says about a document, found or not; `NotFoundError` if no document is meant.

    >>> why = explain(registry, ExplainParameters(query="retard de prêt", document="article L. 4")).why
    >>> why.document.id, why.listed, why.sources[0].source
    ('lib-4', True, 'structure')
    """
    if not given.document.strip():
        raise ConfigError("name a document, by its id or by a citation")
    served = registry.index(given.index)
    with served.lease() as version:
        how = given.model_dump(include={"language", "profile", "filters", "as_of", "operators", "spelling", "everyday"})
        found = explain_document(version, given.query, given.document, **how)
        return ExplainResponse(
            index=served.name,
            generation=version.generation,
            profile=found.opened.profile,
            query=given.query,
            correction=correction_of(found.correction),
            why=_hit_explanation(found),
        )


def _hit_explanation(found: DocumentExplanation) -> HitExplanation:
    document = found.hit.document
    lexical = [one.name for one in found.opened.retriever.members(found.query) if one.marks_words]
    everyday = {(source, term): one.words for source in lexical for one in found.expansions for term in one.terms}
    return explained_hit(found.explanation, document, everyday).model_copy(
        update={
            "allowed": found.allowed,
            "cited": found.cited,
            "snippet": marked_snippet(found.hit),
            "alignment": alignment_of(found.version, found.alignment, found.query.text, document),
            "structure": _structure(found),
        }
    )


def _structure(found: DocumentExplanation) -> StructureSupport | None:
    if found.structure is None:
        return None
    values = asdict(found.structure)
    for role in ("best_document", "citing_document"):
        if values[role] is not None:
            [document] = found.version.snapshot.heads([values[role]])
            values[role] = DocumentCard.of(document)
    return StructureSupport(**values)


def explained_hit(
    found: Explanation, document: Document, everyday: Mapping[tuple[str, str], str] | None = None
) -> HitExplanation:
    """An explanation with the terms, tokens and conditions of every source.

    `everyday` has the everyday words that a term of a source was added for.
    """
    evidence, everyday = found.evidence.items(), everyday or {}
    return _stage(found, DocumentCard.of(document)).model_copy(
        update={
            "conditions": [ConditionPart(**asdict(one)) for one in found.conditions],
            "terms": [
                TermShare(source=source, **asdict(part), everyday=everyday.get((source, part.term), ""))
                for source, one in evidence
                for part in one.terms or ()
            ],
            "tokens": [TokenShare(source=source, **asdict(met)) for source, one in evidence for met in one.tokens or ()],
        }
    )


def _stage(found: Explanation, card: DocumentCard) -> HitExplanation:
    """One stage of a pipeline, with those before it."""
    return HitExplanation(
        document=card,
        rank=found.rank,
        listed=found.listed,
        score=found.score,
        sources=[SourceShare(**asdict(part)) for part in found.parts],
        other_ranks=dict(found.others),
        before=_stage(found.before, card) if found.before else None,
    )
