"""Public collections that tables and the atlas need, made where they are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lexfuse.errors import FetchError, MissingDependencyError
from lexfuse.public_collection import collect
from reproduce.datasets import DataFolders, known_datasets, stand_ins


def needed_by(datasets: Iterable[str], folders: DataFolders) -> list[str]:
    """The public collections that would let datasets be measured that cannot be measured now.

    >>> needed_by(["scifact", "cjeu"], DataFolders(()))
    ['scifact']
    """
    found = []
    for name in datasets:
        every = [name, *stand_ins(name)]
        if not any(folders.holds(one) for one in every):
            found += [one for one in every if "public" in known_datasets()[one]][:1]
    return list(dict.fromkeys(found))


def collect_missing(names: Iterable[str], target: Path, say: Callable[[str], None]) -> None:
    """Make public collections in a folder; one that cannot be downloaded is named and left out."""
    for name in names:
        if not (target / name).exists():
            say(f"collecting {name}")
            try:
                collect(name, target / name)
            except (FetchError, MissingDependencyError) as error:
                say(f"{name} was not collected: {error}")
