"""Facets: how the candidates of a question spread over codes, courts, kinds, years and languages.

They count the documents that the question ranks. What a facet's own filter excludes is counted too, so that another of its values
can be seen and chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.data.queries import Query
from lexfuse.deadline import check
from lexfuse.search.results import FoundDocument, find_documents
from lexfuse.service.index_version import IndexVersion
from lexfuse.service.operations.candidate_filter import DEPTH, within_of
from lexfuse.service.schemas.search import Facet, FacetValue
from lexfuse.storage.filters import Condition, Operator

FIELDS = ("code", "court", "kind", "year", "language")
SHOWN = 12  # values of a facet


def facets_of(
    opened: IndexVersion, question: Query, filters: Sequence[str], as_of: str, profile: str, found: Sequence[FoundDocument]
) -> list[Facet]:
    """The facets of a question of which the filtered results are given; those with one value or none are left out.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace, IndexRegistry
    >>> from lexfuse.service.operations.search import SearchRequest, search
    >>> documents = [Document(f"d{n}", text="la loi", language="fr", code=f"Code {n % 2}") for n in range(3)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law.index", documents=documents).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law.index")]) as library:
    ...         page = search(library, SearchRequest("loi", language="fr", facets=True, filters=("code=Code 1",)))
    >>> [(value.value, value.count, value.chosen, value.filters) for value in page.facets[0].values]
    [('Code 0', 2, False, ['code=Code 1,Code 0']), ('Code 1', 1, True, [])]
    """
    ordinals = _ordinals(opened, found)
    facets = []
    for name in FIELDS:
        check()
        own = [text for text in filters if _chosen(name, text)]
        rest = [text for text in filters if text not in own]
        counted = _ordinals(opened, _found_without(opened, question, rest, as_of, profile)) if own else ordinals
        facet = _facet(opened, name, own, rest, counted)
        if facet.more or len(facet.values) > 1 or any(value.chosen for value in facet.values):
            facets.append(facet)
    return facets


def _found_without(
    opened: IndexVersion, question: Query, filters: Sequence[str], as_of: str, profile: str
) -> list[FoundDocument]:
    mask = within_of(opened, filters, as_of)
    return find_documents(opened.pipeline(profile), question, DEPTH, within=mask, citations=opened.citations)[:DEPTH]


def _ordinals(opened: IndexVersion, found: Sequence[FoundDocument]) -> I32:
    ids = opened.snapshot.ids
    return np.array([ids.ordinal(one.hit.doc) for one in found], dtype=np.int32)


def _chosen(name: str, text: str) -> tuple[str, ...]:
    """The values of a facet that a filter chooses; none where it is about something else."""
    condition = Condition.parse(text)
    if name == "year":
        years = condition.field == "date" and condition.operator is Operator.BEGINS and len(condition.values[0]) == 4
        return condition.values if years else ()
    return condition.values if condition.field == name and condition.operator is Operator.IS else ()


def _facet(opened: IndexVersion, name: str, own: list[str], rest: list[str], ordinals: I32) -> Facet:
    codes, values = opened.cached(f"facet {name}", lambda: _column(opened, name))
    counts = np.bincount(codes[ordinals], minlength=len(values)) if len(values) else np.zeros(0, dtype=np.int64)
    chosen = [value for text in own for value in _chosen(name, text)]
    found = [(value, int(count)) for value, count in zip(values, counts, strict=True) if value and (count or value in chosen)]
    found.sort(key=lambda pair: (-pair[1], pair[0]) if name != "year" else (-int(pair[0]), ""))
    shown = [pair for at, pair in enumerate(found) if at < SHOWN or pair[0] in chosen]
    return Facet(
        field=name,
        values=[
            FacetValue(value=value, count=count, chosen=value in chosen, filters=rest + _toggled(name, chosen, value))
            for value, count in shown
        ],
        more=len(found) - len(shown),
    )


def _toggled(name: str, chosen: list[str], value: str) -> list[str]:
    """The filter of a facet after a value was chosen or let go; a year takes the place of another."""
    if name == "year":
        return [] if value in chosen else [f"date^={value}"]
    left = [one for one in chosen if one != value] if value in chosen else [*chosen, value]
    written = ",".join(one.replace(",", "\\,") for one in left)
    return [f"{name}={written}"] if left else []


def _column(opened: IndexVersion, name: str) -> tuple[I32, list[str]]:
    """The number of each document's value, and the values."""
    codes, values = opened.snapshot.coded("date" if name == "year" else name)
    if name != "year":
        return codes, [value or "" for value in values]
    years = [(value or "")[:4] for value in values]
    distinct = sorted(set(years))
    numbers = np.array([distinct.index(year) for year in years], dtype=np.int32)
    return (numbers[codes] if len(numbers) else codes), distinct
