"""Look for damage: files against their checksums, and the catalog against itself and the segments."""

from __future__ import annotations

from pathlib import Path

from lexfuse.errors import LexFuseError
from lexfuse.storage.catalog import Catalog, CatalogSegment
from lexfuse.storage.folder_names import check_plain
from lexfuse.storage.manifest import damages
from lexfuse.storage.string_list import StringList


def find_damage(catalog: Catalog, folder: Path) -> tuple[list[str], int | None]:
    """Every damage of an index, one line each, and the generation that was checked, ``None`` if unknown."""
    found: list[str] = []
    generation = None
    try:
        with catalog.reading():
            generation = catalog.meta("generation")
            check_plain(folder)
            found += catalog.damages()
            for segment in catalog.segments():
                wrong = damages(folder / segment.folder, segment.manifest)
                found += wrong or _differences(catalog, folder, segment)
            for channel in catalog.channels():
                for part in catalog.parts(channel.name):
                    found += damages(folder / part.folder, part.manifest)
    except LexFuseError as error:
        found.append(str(error))
    return found, generation


def _differences(catalog: Catalog, folder: Path, segment: CatalogSegment) -> list[str]:
    """Differences between the catalog's live documents and a segment's ids without tombstones."""
    buried = {ordinal for number, ordinal in catalog.tombstones() if number == segment.number}
    ids = StringList.load(folder / segment.folder / "ids")
    expected = [(ordinal, id) for ordinal, id in enumerate(ids) if ordinal not in buried]
    members = catalog.members(segment.number)
    if members == expected and len(ids) == segment.documents and all(ordinal < len(ids) for ordinal in buried):
        return []
    return [f"{folder / segment.folder}: {len(expected):,} living documents, the catalog has {len(members):,} or others"]
