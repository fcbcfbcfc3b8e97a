"""Facets: how the candidates of a question spread over codes, courts, kinds, years, languages and the index's own metadata.

They count the documents that the question ranks. What a facet's own filter excludes is counted too, so that another of its values
can be seen and chosen. Metadata is a facet if it has few values: a date by its years, a number or text by its values. One that
divides the documents like another facet, such as the id of a code, is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.data.columns.column_types import ColumnType
from lexfuse.data.queries import Query
from lexfuse.deadline import check
from lexfuse.search.asked_question import both
from lexfuse.search.contents.heading_facet import HEADINGS, chosen_headings, heading_counts, heading_filter
from lexfuse.search.contents.heading_facet import SHOWN as HEADINGS_SHOWN
from lexfuse.search.index_version import IndexVersion, OpenedSearch
from lexfuse.search.results import FoundDocument, find_documents
from lexfuse.storage.filters import Condition, Operator

FIELDS = ("code", "court", "kind", "year", "language")
MOST_VALUES = 100  # of metadata that is a facet
SHOWN = 12  # values of a facet
DEPTH = 1000  # results that can be paged through, and that the facets count


@dataclass(frozen=True, slots=True)
class FacetCount:
    """A value of a field, and how many candidates have it."""

    value: str
    count: int
    chosen: bool = False  # whether a filter of the request asks for it
    filters: tuple[str, ...] = ()  # those of the request after this value is chosen, or released


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """The values of one field among the candidates, most frequent first; the field's own filter is not applied to it."""

    field: str  # code, court, kind, year, language or the name of metadata
    values: tuple[FacetCount, ...]
    more: int = 0  # values that are not listed


def facets_of(
    version: IndexVersion,
    question: Query,
    opened: OpenedSearch,
    filters: Sequence[str],
    found: Sequence[FoundDocument],
) -> list[FacetCounts]:
    """The facets of a question whose filtered results are given; facets with one value or none are left out.

    >>> from lexfuse.search.hits import find_hits
    >>> find_hits(IndexVersion(snapshot), "livre", facets=True).facets  # all articles are of one code and language
    ()
    """
    ordinals = _ordinals(version, found)
    facets = []
    for name in (*FIELDS, *version.cached("facet names", lambda: _metadata_facets(version))):
        check()
        own = [text for text in filters if _chosen(name, text, version)]
        rest = [text for text in filters if text not in own]
        counted = ordinals
        if own:
            mask = both(version.within((*opened.filters, *rest), opened.as_of), opened.satisfying)
            every = find_documents(opened.retriever, question, DEPTH, within=mask, citations=version.citations)[:DEPTH]
            counted = _ordinals(version, every)
        facet = _facet(version, name, own, rest, counted)
        if facet.more or len(facet.values) > 1 or any(value.chosen for value in facet.values):
            facets.append(facet)
    sections = _sections(version, filters, ordinals)
    return [*facets[:1], sections, *facets[1:]] if sections else facets


def _sections(version: IndexVersion, filters: Sequence[str], ordinals: I32) -> FacetCounts | None:
    """The sections of the code that the candidates are in; None where there is nothing to choose."""
    own, chosen = chosen_headings(filters)
    rest = tuple(text for text in filters if text != own)
    found = heading_counts(version, ordinals, chosen)
    if len(found) < 2 and not chosen:
        return None
    above = (heading_filter(chosen[:-1]),) if len(chosen) > 1 else ()
    up = [FacetCount(" > ".join(chosen), len(ordinals), True, (*rest, *above))] if chosen else []
    below = [FacetCount(" > ".join(path), count, False, (*rest, heading_filter(path))) for path, count in found[:HEADINGS_SHOWN]]
    return FacetCounts(
        HEADINGS, (*up, *(one for one in below if one.value != " > ".join(chosen))), max(len(found) - HEADINGS_SHOWN, 0)
    )


def _ordinals(version: IndexVersion, found: Sequence[FoundDocument]) -> I32:
    ids = version.snapshot.ids
    return np.array([ids.ordinal(one.hit.doc) for one in found], dtype=np.int32)


def _metadata_facets(version: IndexVersion) -> list[str]:
    """The names of metadata that is a facet."""
    known = [_column(version, name)[0] for name in FIELDS]
    seen = {_partition(codes) for codes in known}
    names = []
    for name, column in version.snapshot.metadata.items():
        if name in FIELDS or not column.single:
            continue
        codes, values = _column(version, name)
        if 2 < len(values) <= MOST_VALUES + 1 and (partition := _partition(codes)) not in seen:
            seen.add(partition)
            names.append(name)
    return names


def _partition(codes: I32) -> bytes:
    """What is equal for columns that divide the documents in the same way, whatever the values are called."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return hashlib.sha256(np.argsort(np.argsort(first)).astype(np.int32)[inverse].tobytes()).digest()


def _by_year(name: str, version: IndexVersion) -> str:
    """The date that a facet divides by year; empty for a facet of values."""
    if name == "year":
        return "date"
    column = version.snapshot.metadata.get(name) if name not in FIELDS else None
    return name if column is not None and column.type is ColumnType.DATE else ""


def _chosen(name: str, text: str, version: IndexVersion) -> tuple[str, ...]:
    """The values of a facet that a filter chooses; none where it is about something else."""
    condition = Condition.parse(text)
    if date := _by_year(name, version):
        years = condition.field == date and condition.operator is Operator.BEGINS and len(condition.values[0]) == 4
        return condition.values if years else ()
    return condition.values if condition.field == name and condition.operator is Operator.IS else ()


def _facet(version: IndexVersion, name: str, own: list[str], rest: list[str], ordinals: I32) -> FacetCounts:
    codes, values = version.cached(f"facet {name}", lambda: _column(version, name))
    counts = np.bincount(codes[ordinals], minlength=len(values)) if len(values) else np.zeros(0, dtype=np.int64)
    chosen = [value for text in own for value in _chosen(name, text, version)]
    date = _by_year(name, version)
    found = [(value, int(count)) for value, count in zip(values, counts, strict=True) if value and (count or value in chosen)]
    found.sort(key=lambda pair: (-pair[1], pair[0]) if not date else (-int(pair[0]), ""))
    shown = [pair for at, pair in enumerate(found) if at < SHOWN or pair[0] in chosen]
    return FacetCounts(
        field=name,
        values=tuple(
            FacetCount(value, count, value in chosen, (*rest, *_toggled(name, date, chosen, value))) for value, count in shown
        ),
        more=len(found) - len(shown),
    )


def _toggled(name: str, date: str, chosen: list[str], value: str) -> list[str]:
    """The filter of a facet after a value was chosen or let go; a year takes the place of another."""
    if date:
        return [] if value in chosen else [f"{date}^={value}"]
    left = [one for one in chosen if one != value] if value in chosen else [*chosen, value]
    written = ",".join(one.replace(",", "\\,") for one in left)
    return [f"{name}={written}"] if left else []


def _column(version: IndexVersion, name: str) -> tuple[I32, list[str]]:
    """The number of each document's value, and the values."""
    date, column = _by_year(name, version), version.snapshot.metadata.get(name) if name not in FIELDS else None
    codes, values = column.coded() if column is not None else version.snapshot.coded(date or name)
    if not date:
        return codes, [value or "" for value in values]
    years = [(value or "")[:4] for value in values]
    distinct = sorted(set(years))
    numbers = np.array([distinct.index(year) for year in years], dtype=np.int32)
    return (numbers[codes] if len(numbers) else codes), distinct
