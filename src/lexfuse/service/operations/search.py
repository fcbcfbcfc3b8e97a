"""A question to an index: one page of results, with facets if wanted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from lexfuse.channels.lexical.everyday_words import Expansion
from lexfuse.cluster.partial_answer import partial_answer
from lexfuse.errors import ConfigError
from lexfuse.search.hits import SortOrder, find_hits
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.results import SearchHit
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.confidence_spec import Confidence
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.stage_clock import Timing
from lexfuse.search.words.correction import Spelling, SpellingCorrection
from lexfuse.service.operations.cursor import Cursor, digest
from lexfuse.service.parameters import EVERYDAY, OPERATORS, SPELLING, Question, QuestionParameters, refuse_unknown
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import document_facts
from lexfuse.service.schemas.search import (
    ConfidenceCard,
    CorrectionCard,
    DayCoverageCard,
    ExpansionCard,
    Facet,
    MarkedSpan,
    SearchPage,
    SearchResult,
    SearchTiming,
)
from lexfuse.text.note import Note
from lexfuse.text.passages import Passage
from lexfuse.text.sentences.splitter import split_sentences
from lexfuse.text.snippets import whole_sentences

MAX_RESULTS = 100  # on one page
MAX_CHANNELS = 8
_SPEC_KEYS = ("version", "channel", "fusion", "depth")
_SPEC = "A search as data instead of a profile, with the keys channel, fusion and depth of a profile."
_EXAMPLE = {"channel": [{"name": "bm25", "k1": 0.9}, {"name": "tfidf"}], "fusion": {"method": "rrf"}, "depth": 100}
_USUAL = {"operators": True, "spelling": Spelling.AUTO, "everyday": True}  # cursors do not depend on these
_FACETS = "Count codes, courts, kinds, years, languages and metadata of the candidates."


class SearchQuery(QuestionParameters):
    """A question and how to answer it, in a query string."""

    query: Question
    k: int = Field(10, ge=1, le=MAX_RESULTS, description="Results per page.", examples=[10])
    cursor: str = Field(
        "", max_length=200, description="next_cursor of the previous page; all other parameters as for that page."
    )
    sort: SortOrder = Field(SortOrder.RELEVANCE, description="By relevance, or the best 100 by date.")
    facets: bool = Field(False, description=_FACETS)
    operators: bool = Field(True, description=OPERATORS)
    spelling: Spelling = Field(Spelling.AUTO, description=SPELLING)
    everyday: bool = Field(True, description=EVERYDAY)

    def search(self) -> str | SearchSpec:
        """The profile, or the spec in its place."""
        return self.profile

    def digest(self) -> str:
        """The same for two pages of one ranking, exactly."""
        usual = {name for name in ("operators", "spelling", "everyday") if getattr(self, name) == _USUAL[name]}
        left_out = {"cursor", "facets", "spec"} | usual
        return digest(self.model_dump(exclude=left_out), self.search())


class SearchParameters(SearchQuery):
    """A question and how to answer it."""

    facets: bool = Field(False, strict=True, description=_FACETS)
    operators: bool = Field(True, strict=True, description=OPERATORS)
    everyday: bool = Field(True, strict=True, description=EVERYDAY)
    spec: dict[str, Any] | None = Field(None, description=_SPEC, examples=[_EXAMPLE])

    def search(self) -> str | SearchSpec:
        """The profile, or the spec in its place."""
        if self.profile and self.spec is not None:
            raise ConfigError("give either a profile or a spec, not both")
        return self.profile if self.spec is None else inline_spec(self.spec)


def inline_spec(values: Mapping[str, Any]) -> SearchSpec:
    """The search that a client describes; models that it names would be files of the server, so they are refused.

    >>> inline_spec({"channel": [{"name": "bm25", "k1": 0.9}]}).channels[0].options
    {'k1': 0.9}
    >>> inline_spec({"channel": [{"name": "bm25"}], "rerank": [{"method": "cross-encoder", "model": "/srv/model"}]})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a spec in a request has no rerankers or classes; for these use a profile of the service
    """
    if "rerank" in values or "class" in values:
        raise ConfigError("a spec in a request has no rerankers or classes; for these use a profile of the service")
    refuse_unknown(values, _SPEC_KEYS)
    spec = SearchSpec.from_json(values)
    if not all(isinstance(channel, ChannelSpec) for channel in spec.channels):
        raise ConfigError("a spec in a request has channels of the index only; for cross-encoders use a profile of the service")
    if len(spec.channels) > MAX_CHANNELS or spec.depth > DEPTH:
        got = f"got {len(spec.channels):,} channels and depth {spec.depth:,}"
        raise ConfigError(f"a spec in a request has up to {MAX_CHANNELS} channels and depth {DEPTH:,}; {got}")
    return spec


def search(registry: IndexRegistry, given: SearchQuery) -> SearchPage:
    """One page of results.

    >>> [result.id for result in search(registry, SearchQuery(query="retard de prêt", k=2)).results]
    ['lib-4', 'lib-3']
    """
    served, asked = registry.index(given.index), given.digest()
    cursor = Cursor.parse(given.cursor, asked) if given.cursor else None
    after = cursor.after if cursor else 0
    with served.lease(cursor.generation if cursor else None) as version, partial_answer() as lost:
        hits = find_hits(
            version,
            given.query,
            given.k,
            after=after,
            sort=given.sort,
            facets=given.facets,
            filters=given.filters,
            as_of=given.as_of,
            language=given.language,
            operators=given.operators,
            spelling=given.spelling,
            everyday=given.everyday,
            profile=given.search(),
        )
        text = "{count} of the cluster's shards did not answer; results may be missing"
        missing = [Note("lost-shards", text, count=len(lost))] if lost else []
        best = hits[0] if len(hits) and not after and given.sort is SortOrder.RELEVANCE else None
        return SearchPage(
            index=served.name,
            generation=version.generation,
            profile=hits.profile,
            query=given.query,
            results=[result_of(hit) for hit in hits],
            facets=[Facet.model_validate(facet, from_attributes=True) for facet in hits.facets],
            candidates=hits.candidates if given.facets else None,
            next_cursor=Cursor(after + given.k, version.generation, asked).text() if hits.more else None,
            partial=bool(lost),
            correction=correction_of(hits.correction),
            expansions=expansions_of(hits.expansions),
            confidence=confidence_of(hits.confidence, best),
            notes=[*missing, *hits.notes],
            coverage=DayCoverageCard.of(hits.coverage),
            timing=timing_of(hits.timing),
        )


def correction_of(found: SpellingCorrection | None) -> CorrectionCard | None:
    """The correction of a question, for an answer."""
    return None if found is None else CorrectionCard.model_validate(found, from_attributes=True)


def expansions_of(found: Sequence[Expansion]) -> list[ExpansionCard]:
    """The expansions of a question, for an answer."""
    return [ExpansionCard(words=one.words, law=list(one.law), terms=list(one.terms), weight=one.weight) for one in found]


def confidence_of(found: Confidence | None, best: SearchHit | None) -> ConfidenceCard | None:
    """The confidence that the best hit answers, with its passage; a millionth is exact enough, and the same on every machine."""
    if found is None:
        return None
    answer, topic = round(found.answer, 6), round(found.topic, 6)
    passage = answer_passage(best) if best and found.shown else None
    return ConfidenceCard(answer=answer, topic=topic, answers=found.answers, shown=found.shown, passage=passage)


def timing_of(timing: Timing) -> SearchTiming:
    """The stages of a call, for an answer."""
    return SearchTiming(total=timing.total, stages=timing.stages)


def result_of(hit: SearchHit) -> SearchResult:
    """A hit as a result of an answer."""
    return SearchResult(
        **document_facts(hit.document),
        rank=hit.rank,
        found=hit.found,
        score=hit.score,
        snippet=marked_snippet(hit),
        sources={name: None if score != score else score for name, score in hit.sources.items()},  # NaN: it has none
        metadata=hit.metadata,
    )


def marked_snippet(hit: SearchHit) -> MarkedSpan:
    """The part of a hit's text that is shown; its best sentence is the one whose matching words are the rarest together."""
    marked = _marked(hit, hit.snippet.span)
    shown, matches = marked.text, marked.matches
    parts = split_sentences(shown, hit.document.language) if matches else []

    def worth(start: int, end: int) -> float:
        inside = [at for at, match in enumerate(matches) if start <= match[0] < end]
        return math.fsum({shown[slice(*matches[at])].casefold(): hit.snippet.weights[at] for at in inside}.values())

    best = max(parts, key=lambda part: (worth(part.start, part.end), -part.start)) if len(parts) > 1 else None
    return marked.model_copy(update={"best": (best.start, best.end)}) if best else marked


def answer_passage(hit: SearchHit) -> MarkedSpan:
    """The part of a hit's text that is shown as an answer: the sentences of its snippet, whole."""
    return _marked(hit, whole_sentences(hit.document.text, hit.snippet, hit.document.language))


def _marked(hit: SearchHit, span: Passage) -> MarkedSpan:
    """A part of a hit's text with the matches of its snippet."""
    text = hit.document.text
    inside = [match for match in hit.snippet.matches if span.start <= match.start and match.end <= span.end]
    return MarkedSpan(
        text=span.of(text),
        matches=[(match.start - span.start, match.end - span.start) for match in inside],
        cut_before=bool(text[: span.start].strip()),
        cut_after=bool(text[span.end :].strip()),
    )
