"""Why a document has its rank for a question, or why it is not found; paragraphs that met where sentences are compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from lexfuse.channels.explanation import Explanation, ProportionalRelevance
from lexfuse.errors import ConfigError
from lexfuse.search.document_explanation import DocumentExplanation, explain_document
from lexfuse.service.operations.search import marked_snippet
from lexfuse.service.parameters import OPERATORS, Question, QuestionParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.search import (
    AlignedPair,
    AlignedParagraph,
    ConditionPart,
    ExplainResponse,
    HitExplanation,
    ParagraphAlignment,
    SourceShare,
    TermShare,
    TokenShare,
)
from lexfuse.text.paragraphs import TextParagraph

PAIRS_LISTED = 20
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


class ExplainParameters(ExplainQuery):
    """A question, and the document to explain."""

    document: Annotated[str, Field(**DOCUMENT)]


def explain(registry: IndexRegistry, given: ExplainParameters) -> ExplainResponse:
    """What every source says about a document, found or not; `NotFoundError` if no document is meant.

    >>> why = explain(registry, ExplainParameters(query="retard de prêt", document="article L. 4")).why
    >>> why.document.id, why.listed, why.sources[0].source
    ('lib-4', True, 'bm25')
    """
    if not given.document.strip():
        raise ConfigError("name a document, by its id or by a citation")
    served = registry.index(given.index)
    with served.lease() as version:
        how = given.model_dump(include={"language", "profile", "filters", "as_of", "operators"})
        found = explain_document(version, given.query, given.document, **how)
        return ExplainResponse(
            index=served.name,
            generation=version.generation,
            profile=found.opened.profile,
            query=given.query,
            why=_hit_explanation(found),
        )


def _hit_explanation(found: DocumentExplanation) -> HitExplanation:
    document, evidence = found.hit.document, found.explanation.evidence.items()
    return _stage(found.explanation, DocumentCard.of(document)).model_copy(
        update={
            "allowed": found.allowed,
            "cited": found.cited,
            "conditions": [ConditionPart(**asdict(one)) for one in found.explanation.conditions],
            "terms": [TermShare(source=source, **asdict(part)) for source, one in evidence for part in one.terms or ()],
            "tokens": [TokenShare(source=source, **asdict(met)) for source, one in evidence for met in one.tokens or ()],
            "snippet": marked_snippet(found.hit),
            "alignment": alignment_of(found.alignment, found.query.text, document.text),
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


def alignment_of(met: ProportionalRelevance | None, query: str, text: str) -> ParagraphAlignment | None:
    """How RPRS compared a document, if it did, with the paragraphs that met most; the rest is counted.

    >>> from lexfuse.channels.explanation import ParagraphPair
    >>> pair = ParagraphPair(TextParagraph(0, 0, 5, None), TextParagraph(0, 0, 6, "1"), 2, 0.75)
    >>> alignment_of(ProportionalRelevance("a", 0.1, 0.5, 0.2, (), (pair,)), "Rent.", "Lease.").pairs[0].document.text
    'Lease.'
    """
    if met is None:
        return None
    return ParagraphAlignment(
        query_proportion=met.query_proportion,
        document_proportion=met.document_proportion,
        pairs=[
            AlignedPair(
                query=_paragraph(query, pair.query),
                document=_paragraph(text, pair.doc),
                meetings=pair.meetings,
                cosine=pair.cosine,
            )
            for pair in met.paragraphs[:PAIRS_LISTED]
        ],
        more=max(len(met.paragraphs) - PAIRS_LISTED, 0),
    )


def _paragraph(text: str, paragraph: TextParagraph) -> AlignedParagraph:
    span = (paragraph.start, paragraph.end)
    return AlignedParagraph(number=paragraph.number, text=text[slice(*span)], span=span)
