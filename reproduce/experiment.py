"""What a table is measured with: a dataset, its index with the channels that it needs, and what other tables measured before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.errors import NotFoundError
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.annotation import with_languages
from reproduce.datasets import Dataset
from reproduce.stored_ranking import StoredRanking

T = TypeVar("T")


@dataclass
class Workspace:
    """A folder that keeps indexes between runs, and open snapshots within one.

    An index is named after its dataset and the settings that it reads text with, so that no table gets the index of another.
    """

    folder: Path
    say: Callable[[str], None] = print
    _opened: dict[str, Snapshot] = field(default_factory=dict)
    _measured: dict[Hashable, Any] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        """Use it in a `with` block, so that indexes are closed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every index."""
        self._open.close()

    def snapshot(self, dataset: Dataset, settings: IndexSettings, plans: Mapping[str, ChannelPlan]) -> Snapshot:
        """The index of a dataset with these channels, built or completed first."""
        key = f"{dataset.name}-{settings.fingerprint[:8]}"
        if (found := self._opened.get(key)) is not None and set(plans) <= set(found.channels):
            return found
        folder = self.folder / f"{key}.index"
        if folder.exists():
            index = IndexFolder(folder)
        else:
            self.say(f"building the index of {dataset.name}")
            self.folder.mkdir(parents=True, exist_ok=True)
            index = IndexFolder.create(folder, settings, documents=with_languages(dataset.collection.corpus))
        self._open.enter_context(index)
        for name, plan in plans.items():
            if name not in index.channels.names:
                fetch_model(plan.model)  # opening never does
                index.channels.make(name, plan_channel(name, plan))
                self.say(f"encoding {dataset.name} with {plan.model}")
            fill_channel(index, name)
        self._opened[key] = self._open.enter_context(index.snapshot())
        return self._opened[key]

    def once(self, key: Hashable, measure: Callable[[], T]) -> T:
        """What was measured under this key before, or now."""
        if key not in self._measured:
            self._measured[key] = measure()
        found: T = self._measured[key]
        return found


@dataclass(frozen=True)
class Experiment:
    """One dataset in a workspace: what `measure` of a table gets."""

    dataset: Dataset
    workspace: Workspace
    slow: bool = False  # also what takes more than an hour on two cores
    models: Path | None = None  # a folder of trained models, or of what they ranked
    datasets: tuple[Dataset, ...] = ()  # all that the table is measured on, for what is compared between them

    def each(self) -> dict[str, Experiment]:
        """The same experiment on every dataset of the table, by name."""
        return {one.name: replace(self, dataset=one) for one in self.datasets or (self.dataset,)}

    def snapshot(self, settings: IndexSettings | None = None, plans: Mapping[str, ChannelPlan] | None = None) -> Snapshot:
        """The index of the dataset with these channels."""
        return self.workspace.snapshot(self.dataset, settings or IndexSettings(), plans or {})

    def once(self, what: Hashable, measure: Callable[[], T]) -> T:
        """What several tables of this dataset share, measured once."""
        return self.workspace.once((self.dataset.name, what), measure)

    def has_model(self, name: str) -> bool:
        """Whether a trained model is at hand."""
        return self.models is not None and (self.models / name).is_dir()

    def stored_ranking(self, name: str) -> StoredRanking | None:
        """What a model ranked for the queries, if recipes/rankings.py stored it in the folder of trained models."""
        path = None if self.models is None else self.models / f"{name}.npz"
        return None if path is None or not path.is_file() else self.once(("ranking", name), lambda: StoredRanking.read(path))

    def model(self, name: str) -> str:
        """The folder of a trained model; `NotFoundError` where it is missing."""
        if self.models is None or not self.has_model(name):
            raise NotFoundError(
                f"no model {name!r} in {self.models or 'no folder'}; name the folder of trained models with --models"
            )
        return str(self.models / name)
