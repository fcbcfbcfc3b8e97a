"""The segments of an index: written, merged when there are many, and removed once no state names them.

Everything happens inside a change of the index: a segment exists once the transaction that names it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexfuse.data.files import named_storage_errors, sync
from lexfuse.storage.catalog import Catalog, CatalogSegment
from lexfuse.storage.catalog_file import damaged
from lexfuse.storage.document_rows import DocumentRow
from lexfuse.storage.folder_names import SEGMENTS, remove_unnamed_segments, segment_folder
from lexfuse.storage.manifest import check_files
from lexfuse.storage.segments.merge import merge_segments, segments_to_merge
from lexfuse.storage.segments.segment import Segment


class SegmentSet:
    """The segments of one index, each a folder that its catalog names."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        """Keep the folder of the index and its catalog."""
        self._folder = folder
        self._catalog = catalog

    def add(self, segment: Segment, rows: Sequence[DocumentRow]) -> None:
        """Add a segment with the rows of its documents; merge segments if there are many."""
        self._catalog.insert(self._save(segment), rows)
        while group := next(filter(None, map(_similar, self._groups())), None):
            self._merge(group)

    def merge(self) -> None:
        """Merge all segments into one, without deleted documents, and those of past versions into another."""
        deleted = {number for number, _ in self._catalog.tombstones()}
        for named in self._groups():
            if len(named) > 1 or deleted.intersection(one.number for one in named):
                self._merge(named)

    def replace(self, *segments: Segment) -> None:
        """Replace all segments by some with all live documents, including segments with damaged rows."""
        self._catalog.forget_places()
        for segment in segments:
            self._replace([], segment)

    def _groups(self) -> list[list[CatalogSegment]]:
        """The segments that may be merged with each other: past versions stay apart, so that today's law is searched alone."""
        past = self._catalog.past_segments()
        named = self._catalog.segments()
        return [[one for one in named if (one.number in past) is apart] for apart in (False, True)]

    def remove_orphans(self) -> None:
        """Remove folders that no state names."""
        with named_storage_errors(self._folder / SEGMENTS):
            if not (self._folder / SEGMENTS).is_dir():
                (self._folder / SEGMENTS).mkdir()
                sync(self._folder)
        remove_unnamed_segments(self._folder, {segment.folder for segment in self._catalog.segments()})

    def _merge(self, named: Sequence[CatalogSegment]) -> None:
        segments = [Segment.load(self._folder / segment.folder, segment.manifest) for segment in named]
        check_files((self._folder / segment.folder, segment.manifest) for segment in named)
        alive = {one.number: np.ones(len(segment.ids), dtype=np.bool_) for one, segment in zip(named, segments, strict=True)}
        for number, ordinal in self._catalog.tombstones():
            if number in alive:
                if not 0 <= ordinal < len(alive[number]):
                    raise damaged(self._catalog.path, f"segment {number} has no document number {ordinal}")
                alive[number][ordinal] = False
        self._replace(named, merge_segments(segments, list(alive.values())))

    def _replace(self, old: Sequence[CatalogSegment], segment: Segment) -> None:
        """Replace segments by one with the same live documents; an empty one is omitted."""
        self._catalog.replace(old, self._save(segment) if len(segment.ids) else None, list(segment.ids))

    def _save(self, segment: Segment) -> CatalogSegment:
        """Write a segment; it exists once the transaction names it."""
        number = self._catalog.next_number()
        while (self._folder / segment_folder(number)).exists():  # left by a killed writer: removed after the change
            number = self._catalog.next_number()
        name = segment_folder(number)
        with named_storage_errors(self._folder / name):
            return CatalogSegment(number, name, len(segment.ids), segment.save(self._folder / name))


def _similar(named: Sequence[CatalogSegment]) -> list[CatalogSegment]:
    """Segments of similar size to merge; none where there are few."""
    return [named[at] for at in segments_to_merge([segment.documents for segment in named])]
