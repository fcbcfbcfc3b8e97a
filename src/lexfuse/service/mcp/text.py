"""Responses as short plain text for LLM clients: rank, name, citation, passage and id.

Text of documents is put on one line wherever lines have a meaning, so that no title can pass for another result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from lexfuse.service.schemas.document import DocumentAnswer, DocumentCard, ResolvedCitations
from lexfuse.service.schemas.explanation import ExplainResponse, HitExplanation, ParagraphAlignment, StructureSupport
from lexfuse.service.schemas.search import Facet, MarkedSpan, SearchPage, SearchResult
from lexfuse.service.schemas.similar import SimilarPage, SimilarResult
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.text.citation.format import format_citation

TERMS = 12  # in the text; the structured result has all
PAIRS = 3


def search_text(page: SearchPage, paragraphs: Mapping[str, str]) -> str:
    """A page of results; `paragraphs` has the paragraph number of passages, by document.

    >>> from lexfuse.service.schemas.search import SearchTiming
    >>> result = SearchResult(id="a", title="Article 1", rank=1, found="bm25", score=2.0, snippet=MarkedSpan(text="la loi"))
    >>> page = SearchPage(index="i", generation=1, profile="bm25", query="loi", results=[result], timing=SearchTiming(total=0.0))
    >>> print(search_text(page, {}))
    1 result, ranks 1 to 1, from the index "i" (version 1) by the profile "bm25".
    <BLANKLINE>
    1. Article 1
       Cite as: Article 1
       id: "a"
       Passage: la loi
    """
    lines = [_head(page.index, page.generation, page.profile, page.results), *_question(page)]
    lines += _results(page.results, paragraphs)
    lines += [line for facet in page.facets for line in ("", *_facet(facet))]
    lines += ["", f"There are more: ask the same again with cursor {_quoted(page.next_cursor)}."] if page.next_cursor else []
    return "\n".join([*lines, *_notes(page)])


def _question(page: SearchPage) -> Iterator[str]:
    """How the question was read: corrected words, and words of the law that were added."""
    if page.correction is not None:
        how = "Searched instead" if page.correction.applied else "Did you mean"
        yield f"{how}: {_quoted(page.correction.question)}."
    if page.confidence is not None and not page.confidence.answers:
        yield "Nothing here clearly answers the question; these are the nearest documents."
    for one in page.expansions:
        yield f"Everyday words {_quoted(one.words)} were also searched as: {', '.join(map(_line, one.law))}."


def similar_text(page: SimilarPage, paragraphs: Mapping[str, str]) -> str:
    """Documents similar to a whole one.

    >>> from lexfuse.service.schemas.search import SearchTiming
    >>> page = SimilarPage(index="i", generation=1, profile="similar", words=4, results=[], timing=SearchTiming(total=0.0))
    >>> print(similar_text(page, {}))
    No results from the index "i" (version 1) by the profile "similar".
    """
    lines = [_head(page.index, page.generation, page.profile, page.results)]
    if page.terms:
        more = f" and {len(page.terms) - TERMS} more" if len(page.terms) > TERMS else ""
        lines.append(f"Searched by: {', '.join(_line(term.word) for term in page.terms[:TERMS])}{more}.")
    lines += _results(page.results, paragraphs)
    if page.left_out:
        lines += ["", "Left out: " + ", ".join(f"{count} {reason}" for reason, count in page.left_out.items()) + "."]
    return "\n".join([*lines, *_notes(page)])


def explanation_text(answer: ExplainResponse) -> str:
    """The explanation of a document.

    >>> why = HitExplanation(document=DocumentCard(id="a", title="Article 1"), rank=3, listed=False, score=0.5, sources=[])
    >>> print(explanation_text(ExplainResponse(index="i", generation=1, profile="bm25", query="loi", why=why)))
    Article 1
    Cite as: Article 1
    id: "a"
    Rank 3 with the score 0.5 by the profile "bm25"; not among the candidates of the search.
    """
    why = answer.why
    lines = [_name(why.document), *_card(why.document)]
    listed = "among the candidates" if why.listed else "not among the candidates of the search"
    lines.append(f"Rank {why.rank} with the score {why.score:.4g} by the profile {_quoted(answer.profile)}; {listed}.")
    if why.cited:
        lines.append("The question cites it: it comes first whatever its score.")
    if not why.allowed:
        lines.append("The filters, the day or the operators of the question leave it out.")
    if why.conditions:
        parts = "; ".join(f"{_line(one.condition)}: {'holds' if one.holds else 'does not hold'}" for one in why.conditions)
        lines.append(f"Conditions of the question: {parts}.")
    lines += _stages(why)
    if why.terms:
        terms = ", ".join(f"{_line(term.term)} ({_line(term.source)}: {term.contribution:.3g})" for term in why.terms[:TERMS])
        lines.append(f"Terms that add most: {terms}{_more(len(why.terms) - TERMS)}.")
    if why.tokens:
        tokens = ", ".join(
            f"{_line(one.in_query)} ~ {_line(one.in_document)} ({one.similarity:.2f})" for one in why.tokens[:TERMS]
        )
        lines.append(f"Tokens that met: {tokens}{_more(len(why.tokens) - TERMS)}.")
    lines += _alignment(why.alignment)
    lines += _structure(why.structure)
    if ranks := why.other_ranks or (why.before.other_ranks if why.before else {}):
        before = " before it was reranked" if why.before else ""
        lines.append(f"Rank under other fusions{before}: " + ", ".join(f"{name} {rank}" for name, rank in ranks.items()) + ".")
    return "\n".join([*lines, *([f"Passage: {_passage(why.snippet)}"] if why.snippet else [])])


def citation_text(answer: ResolvedCitations) -> str:
    """The citations of a text.

    >>> print(citation_text(ResolvedCitations(index="i", generation=1, citations=[])))
    The text has no citation that is understood.
    """
    if not answer.citations:
        return "The text has no citation that is understood."
    lines = []
    for one in answer.citations:
        known = "" if one.documents else ": no document of the index"
        lines.append(f"{_line(one.text)} ({one.system}, {_line(one.key)}){known}")
        lines += [f"   {format_citation(card)}, id: {_quoted(card.id)}" for card in one.documents]
        lines += [f"   and {one.more} more documents"] if one.more else []
    return "\n".join(lines)


def document_text(answer: DocumentAnswer) -> str:
    """A whole document: its card, every paragraph with its anchor, and its context.

    >>> from lexfuse.service.schemas.document import DocumentParagraph, WholeDocument
    >>> paragraph = DocumentParagraph(anchor="p3", number="3", span=(0, 8), text="3. Held.")
    >>> document = WholeDocument(id="a", title="Smith", kind="decision", text="3. Held.", etag="", paragraphs=[paragraph])
    >>> print(document_text(DocumentAnswer(index="i", generation=1, document=document)))
    Smith
    Cite as: Smith; its paragraphs as: Smith, § 3
    id: "a"
    <BLANKLINE>
    [p3] 3. Held.
    """
    found = answer.document
    numbered = next((one.number for one in found.paragraphs if one.number is not None), None)
    name, cited, *rest = [_name(found), *_card(found)]
    lines = [name, f"{cited}; its paragraphs as: {format_citation(found, numbered)}" if numbered is not None else cited, *rest]
    lines += [f"Headings: {_line(' > '.join(found.headings))}"] if found.headings else []
    for paragraph in found.paragraphs:
        lines += ["", f"[{paragraph.anchor}] {paragraph.text}"]
    around = (("Cites", found.cites, 0), ("Cited by", found.cited_by, found.cited_by_count - len(found.cited_by)))
    for title, cards, more in (*around, ("Other versions", found.versions, 0)):
        if cards:
            lines += ["", f"{title}:", *(f"- {format_citation(card)}, id: {_quoted(card.id)}" for card in cards)]
            lines += [f"- and {more} more"] if more else []
    neighbours = [(way, card) for way, card in (("Before it", found.previous), ("After it", found.next)) if card]
    return "\n".join([*lines, *(f"{way}: {format_citation(card)}, id: {_quoted(card.id)}" for way, card in neighbours)])


def _notes(page: SearchPage | SimilarPage) -> Iterator[str]:
    """What the reader must know about the results, such as documents that could not be searched."""
    yield from (f"Note: {_line(note)}" for note in page.notes)
    if page.coverage is not None and page.coverage.unknown:
        yield f"Note: {DayCoverage(**page.coverage.model_dump()).note}"


def _head(index: str, generation: int, profile: str, results: Sequence[SearchResult]) -> str:
    where = f"from the index {_quoted(index)} (version {generation}) by the profile {_quoted(profile)}."
    if not results:
        return f"No results {where}"
    many = f"{len(results)} result{'s' if len(results) > 1 else ''}, ranks {results[0].rank} to {results[-1].rank},"
    return f"{many} {where}"


def _results(results: Sequence[SearchResult], paragraphs: Mapping[str, str]) -> Iterator[str]:
    for result in results:
        yield ""
        yield f"{result.rank}. {_name(result)}"
        yield from (f"   {line}" for line in _card(result, paragraphs.get(result.id)))
        if result.metadata:
            yield f"   Metadata: {'; '.join(_field(name, value) for name, value in result.metadata.items())}"
        yield f"   Passage: {_passage(result.snippet)}"
        if isinstance(result, SimilarResult):
            yield from (f"   {line}" for line in _alignment(result.alignment))


def _field(name: str, value: object) -> str:
    return f"{_line(name)}: {_line(', '.join(map(str, value)) if isinstance(value, list) else str(value))}"


def _card(card: DocumentCard, paragraph: str | None = None) -> Iterator[str]:
    """Citation, state and id of a document."""
    yield f"Cite as: {format_citation(card, paragraph)}"
    if card.valid_from or card.valid_to or card.status not in ("", "unknown"):
        since = f" from {card.valid_from}" if card.valid_from else ""
        until = f" until before {card.valid_to}" if card.valid_to else ""
        yield f"State: {card.status.replace('_', ' ') or 'in force'}{since}{until}"
    yield f"id: {_quoted(card.id)}"


def _stages(why: HitExplanation) -> Iterator[str]:
    """The contribution of every source at every stage of the pipeline, the last stage first."""
    for part in why.sources:
        score = "no score" if part.score is None else f"score {part.score:.4g}"
        rank = "no rank" if part.rank is None else f"rank {part.rank}"
        made = (
            f"value {part.value:.4g}{' (imputed)' if part.imputed else ''} × weight {part.weight:.3g} = {part.contribution:.4g}"
        )
        yield f"- {_line(part.source)}: {score}, {rank}; {made}"
    if why.before:
        yield f"Before it was reranked: rank {why.before.rank}, score {why.before.score:.4g}."
        yield from _stages(why.before)


def _alignment(alignment: ParagraphAlignment | None) -> Iterator[str]:
    for pair in alignment.pairs[:PAIRS] if alignment else ():
        there, here = (f"§ {one.number}" if one.number else _quoted(_short(one.text)) for one in (pair.query, pair.document))
        yield f"Meets: {there} of the query and {here} of the document (cosine {pair.cosine:.2f})"


def _structure(found: StructureSupport | None) -> Iterator[str]:
    if not found:
        return
    citing = f"{_name(found.citing_document)}, which cites it," if found.citing_document else "documents that cite it"
    parts = ", ".join(f"{name} {value:.3g}" for name, value in (
        ("its own score", found.own), (f"the best one, {_name(found.best_document)},", found.section), (citing, found.cited),
    ))  # fmt: skip
    where = f"{_line(' > '.join(found.path))}; " if found.path else "it alone; "
    yield f"Section: {where}{found.candidates} of {found.documents} documents are candidates; added by {parts}."


def _facet(facet: Facet) -> Iterator[str]:
    values = ", ".join(f"{_line(one.value)} ({one.count})" for one in facet.values)
    yield f"By {facet.field}: {values}{_more(facet.more)}"


def _passage(mark: MarkedSpan) -> str:
    return f"{'… ' if mark.cut_before else ''}{_line(mark.text)}{' …' if mark.cut_after else ''}"


def _name(card: DocumentCard) -> str:
    return _line(card.title) or format_citation(card)


def _short(text: str) -> str:
    line = _line(text)
    return line if len(line) <= 80 else f"{line[:80]}…"


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _quoted(text: str) -> str:
    """A text to return exactly, as JSON."""
    return json.dumps(text, ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())
