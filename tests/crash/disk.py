"""A disk that loses power: it keeps what was synced, and of the rest whatever chance leaves.

A write is safe once its file is synced, and a name once its folder is: syncing a file says nothing about its name. Until
then any sector of any write may survive or not. Names survive in the order in which they were changed, in each folder for
itself, or over all folders as in a journal.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from tracer import Event

SECTOR = 512  # bytes that a disk writes as a whole


class Loss(StrEnum):
    """What happens to what was not synced when power is lost."""

    ALL = "all"  # it is gone
    DATA = "data"  # the names are there, the bytes are not
    JOURNAL = "journal"  # names up to a moment are there, and some sectors
    TORN = "torn"  # names of each folder up to a moment of its own are there, and some sectors
    NONE = "none"  # all is there, as after a kill


@dataclass(slots=True, eq=False)
class _File:
    safe: bytes = b""
    writes: list[Event] = field(default_factory=list)  # since it was synced

    def sync(self) -> None:
        self.safe = self.content(lambda _: True)
        self.writes.clear()

    def content(self, survives) -> bytes:
        """The bytes that were synced, with the sectors written since that survive."""
        held = bytearray(self.safe)
        for event in self.writes:
            if event.kind == "truncate":
                if survives(event):
                    held = held[: event.offset].ljust(event.offset, b"\0")
                continue
            start = 0
            while start < len(event.data):
                end = min(len(event.data), start + SECTOR - (event.offset + start) % SECTOR)
                if survives(event):
                    at = event.offset + start
                    held = held.ljust(at, b"\0")
                    held[at : at + end - start] = event.data[start:end]
                start = end
        return bytes(held)


@dataclass(slots=True, eq=False)
class _Folder:
    safe: dict[str, _File | _Folder] = field(default_factory=dict)
    names: dict[str, _File | _Folder] = field(default_factory=dict)  # as the running system sees them
    changes: list[tuple[int, dict[str, _File | _Folder | None]]] = field(default_factory=list)  # since it was synced

    def change(self, moment: int, names: dict[str, _File | _Folder | None]) -> None:
        """Change names at once: what a name stands for from now on, None for nothing."""
        self.changes.append((moment, names))
        self.names = _changed(self.names, names)

    def sync(self) -> None:
        self.safe = dict(self.names)
        self.changes.clear()

    def survivors(self, moment: int) -> dict[str, _File | _Folder]:
        """The names there are if the changes since the last sync survive up to a moment."""
        names = self.safe
        for when, change in self.changes:
            if when <= moment:
                names = _changed(names, change)
        return names


def _changed(names, change):
    return {name: node for name, node in {**names, **change}.items() if node is not None}


class Disk:
    """What a disk holds while events happen to the files below a folder, which is empty at first."""

    def __init__(self, root: Path) -> None:
        """Take the folder whose events are told."""
        self.root, self.moment, self._top = str(root), 0, _Folder()

    def happen(self, event: Event) -> None:
        """Do what an event does."""
        self.moment += 1
        if event.kind == "mark" or event.path.endswith(" (deleted)"):
            return
        if event.kind == "sync":
            self._node(event.path).sync()
        elif event.kind in ("write", "truncate"):
            self._node(event.path).writes.append(event)
        else:
            self._renamed(event)

    def _renamed(self, event):
        folder, name = self._node(os.path.dirname(event.path)), os.path.basename(event.path)
        if event.kind in ("create", "mkdir"):
            folder.change(self.moment, {name: _File() if event.kind == "create" else _Folder()})
        elif event.kind in ("unlink", "rmdir"):
            folder.change(self.moment, {name: None})
        elif event.kind in ("rename", "exchange"):
            if os.path.dirname(event.other) != os.path.dirname(event.path):
                raise NotImplementedError(f"{event.path} was moved to another folder, which is not modelled")
            other = os.path.basename(event.other)
            back = folder.names[other] if event.kind == "exchange" else None
            folder.change(self.moment, {other: folder.names[name], name: back})
        else:
            raise NotImplementedError(event.kind)

    def _node(self, path):
        node = self._top
        for name in Path(path).relative_to(self.root).parts:
            node = node.names[name]
        return node

    def lose_power(self, loss: Loss, chance: random.Random, target: Path) -> None:
        """Write what is left of the disk into a folder, which must not be there."""
        journal = chance.randint(0, self.moment)
        share = chance.random()

        def survives(_event):
            return loss is Loss.NONE or (loss in (Loss.JOURNAL, Loss.TORN) and chance.random() < share)

        def moment():
            return {Loss.ALL: -1, Loss.JOURNAL: journal, Loss.TORN: chance.randint(0, self.moment)}.get(loss, self.moment)

        for path, node in _left(self._top, target, moment):
            path.mkdir() if isinstance(node, _Folder) else path.write_bytes(node.content(survives))


def _left(folder, path, moment) -> Iterator[tuple[Path, _File | _Folder]]:
    yield path, folder
    for name, node in folder.survivors(moment()).items():
        if isinstance(node, _Folder):
            yield from _left(node, path / name, moment)
        else:
            yield path / name, node
