"""A document in time: its versions, and what changed from one day to another."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lexfuse.search.version_difference import difference, document_history
from lexfuse.service.operations.explain import DOCUMENT
from lexfuse.service.parameters import Day, IndexParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.history import ChangedText, DocumentDifference, DocumentHistory, DocumentVersion
from lexfuse.text.difference import ChangeKind, word_changes


class HistoryParameters(IndexParameters):
    """The document whose versions are listed."""

    document: Annotated[str, Field(**DOCUMENT)]


class DiffQuery(IndexParameters):
    """Two days."""

    before: Day = Field(description="The first day.", examples=["2016-09-30"])
    after: Day = Field(description="The second day.", examples=["2024-01-01"])


class DiffParameters(DiffQuery):
    """A document and two days."""

    document: Annotated[str, Field(**DOCUMENT)]


class VersionPair(IndexParameters):
    """Two documents that are versions of one article, each with its id."""

    document: Annotated[str, Field(**DOCUMENT)]
    other: Annotated[str, Field(**DOCUMENT | {"description": "The earlier version."})]


def history(registry: IndexRegistry, given: HistoryParameters) -> DocumentHistory:
    """All versions of a document, the oldest first; `NotFoundError` if the index does not have it.

    >>> [str(one.valid_from) for one in history(registry, HistoryParameters(document="lib-4")).versions]
    ['2021-09-01']
    """
    with registry.index(given.index).lease() as version:
        found = document_history(version, given.document)
        return DocumentHistory(
            index=version.name,
            generation=version.generation,
            id=found[0].id,
            versions=[DocumentVersion.of(one) for one in found],
        )


def diff(registry: IndexRegistry, given: DiffParameters) -> DocumentDifference:
    """What changed in a document from one day to another, word by word.

    >>> asked = DiffParameters(document="lib-4", before="2021-09-01", after="2024-01-01")
    >>> diff(registry, asked).changed
    False
    """
    with registry.index(given.index).lease() as version:
        found = difference(version, given.document, given.before, given.after)
        return DocumentDifference(
            index=version.name,
            generation=version.generation,
            id=found.id,
            changed=found.changed,
            before=DocumentVersion.of(found.before) if found.before else None,
            after=DocumentVersion.of(found.after) if found.after else None,
            unknown_days=list(found.unknown_days),
            changes=[ChangedText(kind=change.kind.value, text=change.text) for change in found.changes],
        )


def version_pair(registry: IndexRegistry, given: VersionPair) -> DocumentDifference:
    """What changed from one document to another, word by word: for versions of an article that have their own ids.

    >>> version_pair(registry, VersionPair(document="lib-4", other="lib-3")).changed
    True
    """
    with registry.index(given.index).lease() as version:
        before, after = (document_history(version, name)[-1] for name in (given.other, given.document))
        changes = word_changes(before.text, after.text)
        return DocumentDifference(
            index=version.name,
            generation=version.generation,
            id=after.id,
            changed=any(change.kind is not ChangeKind.SAME for change in changes),
            before=DocumentVersion.of(before),
            after=DocumentVersion.of(after),
            changes=[ChangedText(kind=change.kind.value, text=change.text) for change in changes],
        )
