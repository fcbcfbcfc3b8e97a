"""Ids of the documents of a day: past versions have the ids of their documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import overload

from lexfuse.data.arrays import I32, Bools
from lexfuse.storage.history.version_rows import document_id
from lexfuse.storage.stored_ids import StoredIds
from lexfuse.storage.string_list import StringList


class VersionIds(StoredIds):
    r"""The ids of documents whose versions are live.

    >>> lists = [StringList.of(["a"]), StringList.of(["a\x011804-03-21"])]
    >>> ids = VersionIds(lists, np.array([False, True]), {"a": "a\x011804-03-21"})
    >>> ids[0], ids.ordinal("a"), list(ids)
    ('a', 0, ['a'])
    """

    def __init__(self, lists: Sequence[StringList], alive: Bools, renamed: Mapping[str, str]) -> None:
        """Keep the ids of the rows, and the ids of rows of past versions by the ids of their documents."""
        super().__init__(lists, alive)
        self._renamed = renamed

    @cached_property
    def _names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(map(document_id, super()._names))

    @overload
    def __getitem__(self, ordinal: int) -> str: ...
    @overload
    def __getitem__(self, ordinal: slice) -> tuple[str, ...]: ...
    def __getitem__(self, ordinal: int | slice) -> str | tuple[str, ...]:
        """The name at an ordinal, or the names of a slice."""
        found = super().__getitem__(ordinal)
        return document_id(found) if isinstance(found, str) else found

    def ordinals(self, names: Iterable[str]) -> I32:
        """Ordinals of many names, -1 for unknown names."""
        return super().ordinals(self._renamed.get(name, name) for name in names)

    def _found(self, name: str) -> int | None:
        return super()._found(self._renamed.get(name, name))
