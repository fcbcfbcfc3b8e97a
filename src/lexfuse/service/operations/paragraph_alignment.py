"""The paragraphs of a query and of a document that met, where sentences are compared, with the words that they share."""

from __future__ import annotations

from lexfuse.channels.explanation import ParagraphPair, ProportionalRelevance
from lexfuse.data.document import Document
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.words.shared_words import shared_words
from lexfuse.service.schemas.explanation import AlignedPair, AlignedParagraph, ParagraphAlignment
from lexfuse.text.paragraphs import TextParagraph

PAIRS_LISTED = 20


def alignment_of(
    version: IndexVersion, met: ProportionalRelevance | None, query: str, document: Document
) -> ParagraphAlignment | None:
    """How RPRS compared a document, if it did, with the paragraphs that met most; the rest is counted.

    >>> from lexfuse.channels.explanation import ParagraphPair
    >>> pair = ParagraphPair(TextParagraph(0, 0, 5, None), TextParagraph(0, 0, 6, "1"), 2, 0.75)
    >>> met = ProportionalRelevance("a", 0.1, 0.5, 0.2, (), (pair,))
    >>> with registry.index().lease() as version:
    ...     alignment_of(version, met, "Rent.", Document("a", text="Lease.")).pairs[0].document.text
    'Lease.'
    """
    if met is None:
        return None
    return ParagraphAlignment(
        query_proportion=met.query_proportion,
        document_proportion=met.document_proportion,
        pairs=[_pair(version, pair, query, document) for pair in met.paragraphs[:PAIRS_LISTED]],
        more=max(len(met.paragraphs) - PAIRS_LISTED, 0),
    )


def _pair(version: IndexVersion, pair: ParagraphPair, query: str, document: Document) -> AlignedPair:
    ours, theirs = _paragraph(query, pair.query), _paragraph(document.text, pair.doc)
    marked = shared_words(version, ours.text, theirs.text, document.language)
    ours, theirs = (
        one.model_copy(update={"matches": [(match.start, match.end) for match in matches]})
        for one, matches in zip((ours, theirs), marked, strict=True)
    )
    return AlignedPair(query=ours, document=theirs, meetings=pair.meetings, cosine=pair.cosine)


def _paragraph(text: str, paragraph: TextParagraph) -> AlignedParagraph:
    span = (paragraph.start, paragraph.end)
    return AlignedParagraph(number=paragraph.number, text=text[slice(*span)], span=span)
