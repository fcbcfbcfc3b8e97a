"""Which paragraphs of a query and of a document met, as values to be shown."""

from __future__ import annotations

from lexfuse.rerank.alignment import ProportionalRelevance
from lexfuse.rerank.layout import TextParagraph
from lexfuse.service.answers.alignment import AlignedPair, AlignedParagraph, Alignment

PAIRS_LISTED = 20


def alignment_of(met: ProportionalRelevance, query: str, text: str) -> Alignment:
    """What RPRS tells of a document, with the paragraphs that met most; the rest is counted.

    >>> from lexfuse.rerank.alignment import ParagraphPair
    >>> pair = ParagraphPair(TextParagraph(0, 0, 5, None), TextParagraph(0, 0, 6, "1"), 2, 0.75)
    >>> alignment_of(ProportionalRelevance("a", 0.1, 0.5, 0.2, (), (pair,)), "Rent.", "Lease.").pairs[0].document.text
    'Lease.'
    """
    return Alignment(
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
