"""Look for damage: files against their check sums, and the catalog against itself and the segments."""

from __future__ import annotations

from pathlib import Path

from lexfuse.errors import LexFuseError
from lexfuse.storage.catalog import Catalog, CatalogSegment
from lexfuse.storage.folder_names import check_plain
from lexfuse.storage.manifest import damages
from lexfuse.storage.string_list import StringList


def find_damage(catalog: Catalog, folder: Path) -> tuple[list[str], int | None]:
    """Every damage of an index, one line each, and the generation that was looked at, None if that cannot be told.

    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> with IndexFolder.create(folder / "i"):
    ...     catalog = Catalog.open(folder / "i")
    ...     print(find_damage(catalog, folder / "i"))
    ...     catalog.close()
    ([], 0)
    """
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
    """Where the catalog's living documents and a segment's ids less the tombstones are not the same."""
    buried = {ordinal for number, ordinal in catalog.tombstones() if number == segment.number}
    ids = StringList.load(folder / segment.folder / "ids")
    expected = [(ordinal, id) for ordinal, id in enumerate(ids) if ordinal not in buried]
    members = catalog.members(segment.number)
    if members == expected and len(ids) == segment.documents and all(ordinal < len(ids) for ordinal in buried):
        return []
    return [f"{folder / segment.folder}: {len(expected):,} living documents, the catalog has {len(members):,} or others"]
