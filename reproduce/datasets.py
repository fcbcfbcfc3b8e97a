"""Where the collections are: the papers' own data if the user has it, else a collection at hand with the same task."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from lexfuse.data.formats.beir import Collection, is_collection, read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import DataError, NotFoundError

ENVIRONMENT = "LEXFUSE_DATA"
TEST = "test"


@dataclass(frozen=True)
class Dataset:
    """A collection at hand, and the dataset of the paper that it is or replaces."""

    name: str
    paper: str  # the dataset of the paper; empty for a collection that is measured in addition
    folder: Path
    title: str
    language: str
    test: str = TEST
    importer: str = ""

    @property
    def own(self) -> bool:
        """Whether it is the paper's own data."""
        return self.name == self.paper

    @property
    def label(self) -> str:
        """What was measured on, in words that cannot be mistaken."""
        if self.own:
            return f"{self.name}: {self.title}, the paper's own collection"
        if not self.paper:
            return f"{self.name}: {self.title}; ANOTHER COLLECTION, which the paper does not have"
        return f"{self.name}: {self.title}; ANOTHER COLLECTION than the paper's {self.paper}, so figures are not comparable"

    @cached_property
    def collection(self) -> Collection:
        """Documents, queries and judgements."""
        if is_collection(self.folder):
            return read_collection(self.folder)
        return read_source(SourceName(self.importer), self.folder)

    def judged(self, split: str) -> tuple[Queries, Qrels]:
        """The queries of a split with their judgements; `NotFoundError` if there are none."""
        found = self.collection.qrels.get(split)
        queries = self.collection.queries
        if found is None or not len(found) or queries is None:
            splits = ", ".join(name for name, one in self.collection.qrels.items() if len(one)) or "none"
            raise NotFoundError(f"{str(self.folder)!r} has no judged queries of the split {split!r}; it has {splits}")
        return queries.select([queries.ids.ordinal(query) for query in found.queries]), found

    @property
    def tuning(self) -> str:
        """The split that parameters are chosen on: dev, or train where there is no dev."""
        for split in ("dev", "train"):
            if split != self.test and len(self.collection.qrels.get(split, ())):
                return split
        raise NotFoundError(f"{str(self.folder)!r} has neither a dev nor a train split, so nothing can be tuned on it")


@cache
def known_datasets() -> Mapping[str, Mapping[str, Any]]:
    """What datasets.toml says about each."""
    return tomllib.loads((Path(__file__).parent / "datasets.toml").read_text("utf-8"))


def stand_ins(name: str) -> list[str]:
    """The collections that are measured where a dataset is not there."""
    found = known_datasets()[name].get("stand_in", [])
    return [found] if isinstance(found, str) else list(found)


@dataclass(frozen=True)
class DataFolders:
    """The folders that may hold collections; the first that has one counts."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, given: Path | None, collected: Path | None = None) -> DataFolders:
        """The folder that the user names, then the one of LEXFUSE_DATA, then that of collections made here, if it is there."""
        named = os.environ.get(ENVIRONMENT)
        folders = [Path(one) for one in (given, named) if one]
        for folder in folders:
            if not folder.is_dir():
                raise NotFoundError(f"no folder {str(folder)!r} to read collections from; check --data and {ENVIRONMENT}")
        return cls((*folders, collected) if collected is not None and collected.is_dir() else tuple(folders))

    def datasets(self, names: Sequence[str], others: Sequence[str] = ()) -> list[Dataset]:
        """Those of a paper's datasets that are at hand, without any the stand-in of the first that has one; then the others.

        `NotFoundError` if nothing is there; `DataError` for a folder that is not laid out as the dataset that it is named after.
        """
        return [*self._of_paper(names), *(dataset for name in others for dataset in self._at_hand(name, ""))]

    def _of_paper(self, names: Sequence[str]) -> list[Dataset]:
        if own := [dataset for name in names for dataset in self._at_hand(name, name)]:
            return own
        others = [(other, name) for name in names for other in stand_ins(name)]
        for other, name in others:
            for dataset in self._at_hand(other, name):
                return [dataset]
        places = ", ".join(map(str, self.folders)) or "no folder: name one with --data or LEXFUSE_DATA"
        every = [*names, *(other for other, _ in others)]
        public = " --collect makes it;" if any("public" in known_datasets()[name] for name in every) else ""
        wanted = " or ".join(map(repr, every))
        raise NotFoundError(f"no collection {wanted} in {places};{public} docs/results.md says where each comes from")

    def holds(self, name: str) -> bool:
        """Whether one of the folders has a collection of this name."""
        return any((folder / name).exists() for folder in self.folders)

    def _at_hand(self, name: str, paper: str) -> Iterator[Dataset]:
        about = known_datasets()[name]
        for folder in self.folders:
            if (found := folder / name).exists():
                importer = about.get("importer", "")
                check_layout(found, importer)
                yield Dataset(name, paper, found, about["title"], about["language"], about.get("test", TEST), importer)
                return


def check_layout(folder: Path, importer: str) -> None:
    """Refuse a folder that is neither a BEIR folder nor the authors' files."""
    if is_collection(folder):
        return
    if importer and folder.is_dir() and (source := detect_source(folder)) is not None and source.value == importer:
        return
    found = ", ".join(sorted(entry.name for entry in folder.iterdir())[:8]) if folder.is_dir() else "a file"
    authors = f", or the authors' files of {importer} (docs/importing.md)" if importer else ""
    raise DataError(f"expected corpus.jsonl, queries.jsonl and qrels/ (BEIR){authors}; found {found or 'nothing'}", path=folder)
