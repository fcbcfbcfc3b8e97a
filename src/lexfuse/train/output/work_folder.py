"""The folder of a training until its result is complete: for one process at a time, and one training only."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexfuse.data.archives import parse_json
from lexfuse.data.files import named_storage_errors, read_bytes, written_file, written_folder
from lexfuse.errors import BusyError, ConfigError, StorageError
from lexfuse.train.output.training_results import RESULTS, TrainingResult

if TYPE_CHECKING:
    from lexfuse.train.models.learner import Learner

SUFFIX = ".training"  # what is added to the name of the result
PLAN = "plan.json"
TEACHER = "teacher.db"  # the vectors of a teacher
_OWN = re.compile(r"plan\.json|\.plan\.json\.partial-\w+|seed-\d+|teacher\.db(-\w+)?")


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """A folder next to the result; ``training`` describes the training, so that only the same one is resumed.

    >>> with WorkFolder.beside(folder / "mine", {"kind": "dense"}).claimed() as work:
    ...     work.stage(1, 0).relative_to(folder).as_posix()
    'mine.training/seed-1/stage-1'
    """

    folder: Path
    training: Mapping[str, Any]

    @classmethod
    def beside(cls, out: Path, training: Mapping[str, Any]) -> WorkFolder:
        """The folder of the work on a result."""
        return cls(out.with_name(f"{out.name}{SUFFIX}"), training)

    @contextmanager
    def claimed(self) -> Iterator[WorkFolder]:
        """Create the folder, or check that it has this training; no other process can claim it in the meantime.

        A folder with other files is refused, since `remove` deletes all of it at the end.
        """
        import fcntl

        with named_storage_errors(self.folder):
            self._refuse_foreign()
            self.folder.mkdir(parents=True, exist_ok=True)
            held = os.open(self.folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(
                    f"another process is training in {str(self.folder)!r}; wait for it, or choose another output"
                ) from None
            self._check()
            yield self
        finally:
            os.close(held)

    def stage(self, seed: int, number: int) -> Path:
        """The folder of one stage of a seed."""
        return self.folder / f"seed-{seed}" / f"stage-{number + 1}"

    @property
    def teacher(self) -> Path:
        """The file of a teacher's vectors, which all seeds share."""
        return self.folder / TEACHER

    def publish(self, out: Path, model: Learner, trained: TrainingResult, card: str, *, replace: bool = False) -> None:
        """Write the model folder with its card and results, complete or not at all; then remove the work."""
        with written_folder(out, replace=replace) as partial:
            model.save(partial)
            (partial / "README.md").write_text(card, "utf-8")
            (partial / RESULTS).write_text(json.dumps(trained.plain(), indent=1, ensure_ascii=False) + "\n", "utf-8")
        self.remove()

    def remove(self) -> None:
        """Remove the folder when the result is complete.

        >>> with WorkFolder.beside(folder / "mine", {}).claimed() as work:
        ...     work.remove()
        >>> work.folder.exists()
        False
        """
        with named_storage_errors(self.folder):
            shutil.rmtree(self.folder)

    def _refuse_foreign(self) -> None:
        if not os.path.lexists(self.folder):
            return
        if self.folder.is_symlink() or not self.folder.is_dir():
            raise StorageError(
                f"{str(self.folder)!r} is needed for the training but is not a folder; remove it or choose another output"
            )
        if foreign := sorted(name for name in os.listdir(self.folder) if not _OWN.fullmatch(name)):
            raise StorageError(
                f"{str(self.folder)!r} is needed for the training but holds other files ({foreign[0]!r}); "
                "move them or choose another output"
            )

    def _check(self) -> None:
        path = self.folder / PLAN
        if not path.is_file():
            with written_file(path) as stream:
                stream.write(json.dumps(self.training, indent=1).encode())
            return
        there = parse_json(read_bytes(path), str(path))
        if other := [name for name, value in self.training.items() if there.get(name) != value]:
            raise ConfigError(
                f"{str(self.folder)!r} holds an unfinished training with another {' and another '.join(other)}; "
                "remove that folder to start again, or choose another output"
            )
