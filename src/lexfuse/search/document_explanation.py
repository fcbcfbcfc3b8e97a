"""Why one document has its rank for a question, or which rank it would have; the document by its id or by a citation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lexfuse.channels.explanation import Explanation, ProportionalRelevance, StructureEvidence
from lexfuse.channels.lexical.bm25 import expansions_of
from lexfuse.channels.lexical.everyday_words import Expansion
from lexfuse.data.queries import Query
from lexfuse.data.run import Hit
from lexfuse.fusion.registry import default_fusions
from lexfuse.search.asked_question import read_question
from lexfuse.search.index_version import IndexVersion, OpenedSearch
from lexfuse.search.results import FoundDocument, ResultBuilder, SearchHit
from lexfuse.search.words.correction import Spelling, SpellingCorrection


@dataclass(frozen=True)
class DocumentExplanation:
    """The explanation of a document, and what else is known about it; that is computed when it is asked for."""

    version: IndexVersion
    opened: OpenedSearch
    query: Query
    explanation: Explanation
    correction: SpellingCorrection | None = None

    @property
    def allowed(self) -> bool:
        """Whether the filters, the day and the operators of the question allow the document."""
        return self.opened.within is None or bool(self.opened.within[self._ordinal])

    @property
    def cited(self) -> bool:
        """Whether the question cites the document, which then comes first whatever its score."""
        return self._ordinal in self.version.citations.named(self.query.text)

    @cached_property
    def hit(self) -> SearchHit:
        """The document as a result, with its snippet."""
        retriever, found = self.opened.retriever, self.explanation
        one = FoundDocument(retriever.name, Hit(found.doc, found.rank, found.score))
        [hit] = ResultBuilder(retriever.members(self.query), self.query).answers([one])
        return hit

    @property
    def expansions(self) -> tuple[Expansion, ...]:
        """Words of the law that were added for everyday words."""
        return expansions_of(self.opened.retriever, self.query)

    @property
    def alignment(self) -> ProportionalRelevance | None:
        """The sentences and paragraphs that met, where RPRS compared the document."""
        return next((one.alignment for one in self.explanation.evidence.values() if one.alignment), None)

    @property
    def structure(self) -> StructureEvidence | None:
        """What supported the document, where documents were reranked by the structure of the law."""
        return next((one.structure for one in self.explanation.evidence.values() if one.structure), None)

    @property
    def _ordinal(self) -> int:
        return self.version.snapshot.ids.ordinal(self.explanation.doc)


def explain_document(
    version: IndexVersion,
    question: str | Query,
    document: str,
    *,
    language: str = "",
    operators: bool = True,
    spelling: Spelling | str = Spelling.AUTO,
    everyday: bool = True,
    **search: Any,
) -> DocumentExplanation:
    """Explain a document, by its id or a citation; `search` is as for `IndexVersion.search_by`.

    >>> explain_document(IndexVersion(snapshot), "retard de prêt", "article L. 4").explanation.rank
    1
    """
    opened = version.search_by(everyday=everyday, **search)
    version = opened.version
    by_words = opened.by_words(question)
    asked = read_question(version, question, language, operators=operators, spelling=spelling, by_words=by_words)
    id = version.meant(document)
    opened = asked.restricted(opened)
    [found] = opened.retriever.explain(asked.ranked, [id], within=opened.within, others=default_fusions())
    explained = asked.explained(found, version.snapshot.ids.ordinal(id))
    return DocumentExplanation(version, opened, asked.ranked, explained, asked.correction)
