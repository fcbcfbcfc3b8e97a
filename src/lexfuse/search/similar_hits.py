"""Documents like a whole document: a text, or a document of the index; the terms that are searched for can be edited."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from lexfuse.channels.explanation import ProportionalRelevance
from lexfuse.channels.lexical.bm25_kli import with_terms
from lexfuse.channels.lexical.chosen_terms import ChosenTerms, boilerplate_of, choice_of, notes_of, terms_of
from lexfuse.channels.retriever import Retriever
from lexfuse.data.formats.trec_run import stem
from lexfuse.errors import ConfigError
from lexfuse.rerank.rprs import Rprs
from lexfuse.search.asked_question import AskedQuestion, asked_language
from lexfuse.search.hits import HitSequence, PageExplanations
from lexfuse.search.index_version import SIMILAR, IndexVersion, OpenedSearch
from lexfuse.search.results import ResultBuilder, SearchHit, find_documents
from lexfuse.search.similar import (
    EligibleDocuments,
    SimilarQuery,
    candidates,
    known_day,
    last_day,
    own_documents,
    query_from_document,
    query_from_text,
)
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.stage_clock import StageClock, Timing
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.text.kli import InformativeTerm, TermChoice, WeightedWord

K1, B = 2.8, 1.0  # BM25's parameters for whole judgments, as RPRS takes them
SentenceProgress = Callable[[int, int], None]  # sentences of the query that are encoded, and how many there are


@dataclass(frozen=True)
class SimilarHits(HitSequence):
    """Documents like a whole one, with the terms that were searched for and the paragraphs that were compared."""

    query: SimilarQuery
    profile: str
    hits: tuple[SearchHit, ...]
    eligible: EligibleDocuments
    set_aside: tuple[InformativeTerm, ...] = ()  # dates and boilerplate that are not searched for
    terms: ChosenTerms | None = None  # None where the pipeline has no choice of terms
    alignments: Mapping[str, ProportionalRelevance] = field(default_factory=dict)  # by document, where sentences are compared
    notes: tuple[str, ...] = ()
    coverage: DayCoverage | None = None  # of the day that was asked for
    timing: Timing = field(default_factory=Timing, compare=False)


def find_similar(
    version: IndexVersion,
    text: str = "",
    k: int = 10,
    *,
    document: str = "",
    file_name: str = "",
    terms: TermChoice | None = None,
    terms_only: bool = False,
    drop_boilerplate: bool = False,
    exclude_self: bool = True,
    before: str | datetime.date | None = None,
    before_own_date: bool = False,
    mask: bool = False,
    profile: str | SearchSpec = "",
    filters: Sequence[str] = (),
    as_of: str | datetime.date | None = None,
    language: str = "",
    k1: float = K1,
    b: float = B,
    align: bool = True,
    progress: SentenceProgress | None = None,
    **options: Any,
) -> SimilarHits:
    """Documents like a text, or like a document of the index.

    BM25 searches for the most informative terms. Where the index has a channel of sentences, the best documents are then
    compared sentence by sentence (RPRS). A profile, or options as for `IndexVersion.search_by`, replace this pipeline.
    `terms_only` does not search. `drop_boilerplate` sets aside dates and very common words, unless `terms` edits them. Without
    `align`, paragraphs are not compared. A document whose id is `file_name`, the name of the file that the text is from, counts
    as the text itself.

    >>> from lexfuse.search.index_version import IndexVersion
    >>> found = find_similar(IndexVersion(snapshot), document="lib-4", k=3)
    >>> found.eligible.own, "lib-4" in [hit.id for hit in found.hits]
    (('lib-4',), False)
    """
    if bool(text.strip()) == bool(document):
        raise ConfigError("give either a text or the id of a document, to find documents like it")
    if k < 1:
        raise ConfigError(f"k must be at least 1, got {k}")
    if isinstance(profile, SearchSpec) and not as_of:
        as_of = profile.as_of
    version = version.on(as_of)
    clock, snapshot = StageClock(), version.snapshot
    with clock.stage("filter"):
        language = asked_language(version, language)
        asked = (
            query_from_document(snapshot, document, language, mask=mask)
            if document
            else query_from_text(text, language, mask=mask)
        )
        end = last_day(asked, known_day(before, "before"), before_own_date)
        names = (PurePath(file_name).name, stem(file_name)) if file_name else ()
        own = own_documents(snapshot, asked, names) if exclude_self else ()
    with clock.stage("terms"):
        if profile or options:
            opened = version.search_by(profile, filters=filters, as_of=as_of, **options)
            if terms is not None:
                opened = opened._replace(retriever=_with_terms(opened, asked, terms, required=bool(profile)))
        else:
            day = known_day(as_of, "as_of")
            pipeline = version.similar_pipeline(terms, k1=k1, b=b)
            allowed = version.within(filters, day)
            if snapshot.has_history:
                day = day or datetime.date.today()
            opened = OpenedSearch(version, SIMILAR, pipeline, allowed, as_of=day, coverage=version.coverage(day))
        eligible = candidates(snapshot, opened.within, own=own, before=end)
        opened = opened._replace(within=eligible.within)
        chosen = terms_of(opened.retriever, asked.query)
        aside: tuple[InformativeTerm, ...] = ()
        if drop_boilerplate and chosen is not None and not (terms and terms.edited):
            opened, chosen, aside = _without_boilerplate(opened, asked, chosen)
    if chosen is None and terms_only:
        raise ConfigError(f"the profile {opened.profile!r} selects no terms; only bm25 does")
    notes = tuple(notes_of(chosen)) if chosen else ()
    found = SimilarHits(
        asked, opened.profile, (), eligible, aside, chosen, notes=notes, coverage=opened.coverage, timing=clock.timing()
    )
    return found if terms_only else _searched(found, opened, k, clock, progress, align=align)


def _searched(
    asked: SimilarHits, opened: OpenedSearch, k: int, clock: StageClock, progress: SentenceProgress | None, *, align: bool
) -> SimilarHits:
    query, retriever = asked.query.query, opened.retriever
    with clock.stage("search"):
        rprs = next((one for _, one in retriever.rerankings(query) if isinstance(one, Rprs)), None)
        if progress is not None and rprs is not None:
            reader = rprs.reader  # for a long query, encoding its sentences is nearly all of the work
            total = len(reader.divided(query))
            progress(0, total)
            reader.query(query, progress=lambda done: progress(done, total))
        documents = find_documents(retriever, query, k, within=opened.within)
    ids = [one.hit.doc for one in documents]
    with clock.stage("snippets"):
        members = [one for one in retriever.members(query) if not one.has_passages]
        answers = ResultBuilder(members or [retriever], query).answers(documents)  # one vector says little of a judgment
        explained = PageExplanations(opened, AskedQuestion(query, query), ids)
        hits = tuple(replace(hit, explainer=explained.of) for hit in answers)
    with clock.stage("alignment"):
        compared = retriever.rerank_evidence(query, ids, within=opened.within).values() if align else ()
        alignments = {one.alignment.doc: one.alignment for every in compared for one in every if one.alignment}
    return replace(asked, hits=hits, alignments=alignments, timing=clock.timing())


def _without_boilerplate(
    opened: OpenedSearch, asked: SimilarQuery, chosen: ChosenTerms
) -> tuple[OpenedSearch, ChosenTerms, tuple[InformativeTerm, ...]]:
    """The search without dates and boilerplate among its terms, unless nothing else would be left."""
    aside = boilerplate_of(opened.retriever, asked.query, chosen)
    kept = [term for term in chosen.terms if term not in aside]
    if not aside or not kept:
        return opened, chosen, ()
    only = tuple(WeightedWord(term.term, term.weight, exact=True) for term in kept)
    opened = opened._replace(retriever=with_terms(opened.retriever, TermChoice(only=only)))
    return opened, replace(chosen, terms=tuple(kept)), aside


def _with_terms(opened: OpenedSearch, asked: SimilarQuery, terms: TermChoice, *, required: bool) -> Retriever:
    """The retriever with a choice of terms; what the choice leaves open is as in the profile."""
    profiled = choice_of(opened.retriever, asked.query)
    if profiled is None and required:
        reason = f"the profile {opened.profile!r} selects no terms, so there are no terms to edit"
        raise ConfigError(f"{reason}; only bm25 with kli does")
    usual = profiled.amount if profiled else None
    return with_terms(opened.retriever, replace(terms, amount=usual if terms.amount is None else terms.amount))
