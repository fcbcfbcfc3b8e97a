"""Why a document stands where it stands for a question, or why it is not found: the document by its id or by a citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.data.queries import Query
from lexfuse.data.run import Hit
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.fuse.composite import explanations_of, members_of
from lexfuse.fuse.explaining import Explanation, SourcePart
from lexfuse.fuse.methods import usual_fusions
from lexfuse.rerank.comparing import proportional_relevance
from lexfuse.retrieve.answering import Found, Shower
from lexfuse.retrieve.colbert import Colbert
from lexfuse.retrieve.lexical import LexicalRetriever
from lexfuse.retrieve.retriever import Mask, Retriever
from lexfuse.service.aligning import alignment_of
from lexfuse.service.answers.card import Card
from lexfuse.service.answers.explanation import Explained, SourceShare, TermShare, TokenShare, Why
from lexfuse.service.cards import card_of
from lexfuse.service.library import Library
from lexfuse.service.opened import Opened
from lexfuse.service.searching import mark_of, within_of

LONGEST_NAME = 2000  # characters of an id or a citation


@dataclass(frozen=True, slots=True)
class ExplainAsk:
    """A question, and a document by its id or by what cites it.

    >>> ExplainAsk(query="préavis", document=" ")
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
            raise ConfigError("the question is empty; ask with at least one word")
        if not self.document.strip():
            raise ConfigError("name a document, by its id or by a citation")
        if len(self.document) > LONGEST_NAME:
            raise ConfigError(f"the name of a document has at most {LONGEST_NAME:,} characters, got {len(self.document):,}")


def explain(library: Library, ask: ExplainAsk) -> Explained:
    """What every source says about a document, found or not; `NotFoundError` if no document is meant.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.service.library import IndexPlace
    >>> documents = [Document("a", text="la loi", number="L1", code="Code civil", language="fr"), Document("b", text="loi, loi")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Index.create(f"{folder}/law", documents=documents).close()
    ...     with Library.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         why = explain(library, ExplainAsk("loi", "article L. 1 du code civil", language="fr")).why
    >>> why.document.id, why.listed, why.sources[0].source, why.terms[0].term
    ('a', True, 'bm25', 'loi')
    """
    shelf = library.shelf(ask.index)
    with shelf.lease() as opened:
        doc = document_meant(opened, ask.document)
        profile = ask.profile or opened.default_profile
        pipeline, question = opened.pipeline(profile), Query("q", ask.query, ask.language)
        mask = within_of(opened, ask.filters, ask.as_of)
        why = _why(opened, pipeline, question, doc, mask)
        return Explained(index=shelf.name, generation=opened.generation, profile=profile, query=ask.query, why=why)


def document_meant(opened: Opened, name: str) -> str:
    """The id of the document that a name means: its id, or a citation; of several that it cites, the first."""
    if name in opened.snapshot.ids:
        return name
    found = next((int(numbers[0]) for _, numbers in opened.citations.cited(name) if len(numbers)), None)
    if found is None:
        raise NotFoundError(f"the index has no document {name!r}, and none that it cites; check the id or the citation")
    return opened.snapshot.ids[found]


def _why(opened: Opened, pipeline: Retriever, question: Query, doc: str, mask: Mask | None) -> Why:
    members = members_of(pipeline, question)
    others = usual_fusions()
    [found] = explanations_of(pipeline, question, [doc], within=mask, others=others)
    ordinal = opened.snapshot.ids.ordinal(doc)
    hit = Found(pipeline.name, Hit(doc, found.rank, found.score))
    [answer] = Shower(members, question).answers([hit])
    met = proportional_relevance(pipeline, question, [doc], within=mask).get(doc)
    return _stage(found, card_of(answer.document)).model_copy(
        update={
            "allowed": mask is None or bool(mask[ordinal]),
            "cited": ordinal in opened.citations.named(question.text),
            "terms": _terms(members, question, doc),
            "tokens": _tokens(members, question, doc),
            "snippet": mark_of(answer),
            "alignment": alignment_of(met, question.text, answer.document.text) if met else None,
        }
    )


def _stage(found: Explanation, card: Card) -> Why:
    """One stage of a pipeline, with those before it."""
    return Why(
        document=card,
        rank=found.rank,
        listed=found.listed,
        score=found.score,
        sources=[_source(part) for part in found.parts],
        other_ranks=dict(found.others),
        before=_stage(found.before, card) if found.before else None,
    )


def _source(part: SourcePart) -> SourceShare:
    return SourceShare(
        source=part.source,
        score=part.score,
        rank=part.rank,
        value=part.value,
        imputed=part.imputed,
        weight=part.weight,
        contribution=part.contribution,
    )


def _terms(members: Sequence[Retriever], question: Query, doc: str) -> list[TermShare]:
    return [
        TermShare(
            source=member.name,
            term=part.term,
            in_query=part.in_query,
            in_document=part.in_document,
            idf=part.idf,
            contribution=part.contribution,
        )
        for member in members
        if isinstance(member, LexicalRetriever)
        for part in member.explain(question, doc)
    ]


def _tokens(members: Sequence[Retriever], question: Query, doc: str) -> list[TokenShare]:
    return [
        TokenShare(source=member.name, in_query=met.in_query, in_document=met.in_document, similarity=met.similarity)
        for member in members
        if isinstance(member, Colbert) and member.holds(doc)
        for met in member.explain(question, doc)
    ]
