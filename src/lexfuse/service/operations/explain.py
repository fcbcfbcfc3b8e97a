"""Why a document stands where it stands for a question, or why it is not found: the document by its id or by a citation."""

from __future__ import annotations

from dataclasses import dataclass

from lexfuse.channels.explanation import Explanation, ProportionalRelevance, SourceContribution
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.queries import Query
from lexfuse.data.run import Hit
from lexfuse.errors import ConfigError, EmptyQuestionError
from lexfuse.fusion.registry import default_fusions
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import FoundDocument, ResultBuilder
from lexfuse.service.operations.document_cards import card_of
from lexfuse.service.operations.search import mark_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.explanation import (
    AlignedPair,
    AlignedParagraph,
    ExplainResponse,
    HitExplanation,
    ParagraphAlignment,
    SourceShare,
    TermShare,
    TokenShare,
)
from lexfuse.text.paragraph_map import TextParagraph

LONGEST_NAME = 2000  # characters of an id or a citation


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """A question, and a document by its id or by what cites it.

    >>> ExplainRequest(query="préavis", document=" ")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: name a document, by its id or by a citation
    """

    query: str
    document: str
    index: str = ""
    profile: str = ""
    filters: tuple[str, ...] = ()
    as_of: str = ""
    language: str = ""

    def __post_init__(self) -> None:
        """Refuse a question of nothing, and no document."""
        if not self.query.strip():
            raise EmptyQuestionError("the question is empty; ask with at least one word")
        if not self.document.strip():
            raise ConfigError("name a document, by its id or by a citation")
        if len(self.document) > LONGEST_NAME:
            raise ConfigError(f"the name of a document has at most {LONGEST_NAME:,} characters, got {len(self.document):,}")


def explain(library: IndexRegistry, ask: ExplainRequest) -> ExplainResponse:
    """What every source says about a document, found or not; `NotFoundError` if no document is meant.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace
    >>> documents = [Document("a", text="la loi", number="L1", code="Code civil", language="fr"), Document("b", text="loi, loi")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law", documents=documents).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         why = explain(library, ExplainRequest("loi", "article L. 1 du code civil", language="fr")).why
    >>> why.document.id, why.listed, why.sources[0].source, why.terms[0].term
    ('a', True, 'bm25', 'loi')
    """
    shelf = library.shelf(ask.index)
    with shelf.lease() as opened:
        doc = opened.meant(ask.document)
        profile = ask.profile or opened.default_profile
        pipeline, question = opened.pipeline(profile), Query("q", ask.query, ask.language)
        mask = opened.within(ask.filters, ask.as_of)
        why = _why(opened, pipeline, question, doc, mask)
        return ExplainResponse(index=shelf.name, generation=opened.generation, profile=profile, query=ask.query, why=why)


def _why(opened: IndexVersion, pipeline: Retriever, question: Query, doc: str, mask: Mask | None) -> HitExplanation:
    members = pipeline.members(question)
    [found] = pipeline.explain(question, [doc], within=mask, others=default_fusions())
    ordinal = opened.snapshot.ids.ordinal(doc)
    hit = FoundDocument(pipeline.name, Hit(doc, found.rank, found.score))
    [answer] = ResultBuilder(members, question).answers([hit])
    met = next((one.alignment for one in found.evidence.values() if one.alignment), None)
    return _stage(found, card_of(answer.document)).model_copy(
        update={
            "allowed": mask is None or bool(mask[ordinal]),
            "cited": ordinal in opened.citations.named(question.text),
            "terms": _terms(found),
            "tokens": _tokens(found),
            "snippet": mark_of(answer),
            "alignment": alignment_of(met, question.text, answer.document.text) if met else None,
        }
    )


def _stage(found: Explanation, card: DocumentCard) -> HitExplanation:
    """One stage of a pipeline, with those before it."""
    return HitExplanation(
        document=card,
        rank=found.rank,
        listed=found.listed,
        score=found.score,
        sources=[_source(part) for part in found.parts],
        other_ranks=dict(found.others),
        before=_stage(found.before, card) if found.before else None,
    )


def _source(part: SourceContribution) -> SourceShare:
    return SourceShare(
        source=part.source,
        score=part.score,
        rank=part.rank,
        value=part.value,
        imputed=part.imputed,
        weight=part.weight,
        contribution=part.contribution,
    )


def _terms(found: Explanation) -> list[TermShare]:
    return [
        TermShare(
            source=source,
            term=part.term,
            in_query=part.in_query,
            in_document=part.in_document,
            idf=part.idf,
            contribution=part.contribution,
        )
        for source, evidence in found.evidence.items()
        for part in evidence.terms or ()
    ]


def _tokens(found: Explanation) -> list[TokenShare]:
    return [
        TokenShare(source=source, in_query=met.in_query, in_document=met.in_document, similarity=met.similarity)
        for source, evidence in found.evidence.items()
        for met in evidence.tokens or ()
    ]


PAIRS_LISTED = 20


def alignment_of(met: ProportionalRelevance, query: str, text: str) -> ParagraphAlignment:
    """What RPRS tells of a document, with the paragraphs that met most; the rest is counted.

    >>> from lexfuse.channels.explanation import ParagraphPair
    >>> pair = ParagraphPair(TextParagraph(0, 0, 5, None), TextParagraph(0, 0, 6, "1"), 2, 0.75)
    >>> alignment_of(ProportionalRelevance("a", 0.1, 0.5, 0.2, (), (pair,)), "Rent.", "Lease.").pairs[0].document.text
    'Lease.'
    """
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
    return AlignedParagraph(
        number=paragraph.number, text=text[paragraph.start : paragraph.end], span=(paragraph.start, paragraph.end)
    )
