"""Files that say what reranks: the ``[[rerank]]`` tables of a profile, of which ``lexfuse advise --rerank`` tries each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lexfuse.errors import ConfigError, DataError, LexFuseError, place

if TYPE_CHECKING:
    from lexfuse.advice.rerankers.reranked_run import NamedReranker
    from lexfuse.search.spec.reranker_specs import RerankerChoice
    from lexfuse.storage.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class RerankerFile:
    """The rerankers of one file, applied one after the other, and their common name."""

    path: Path
    name: str  # that of the profile, or of the file
    choices: tuple[RerankerChoice, ...]

    def open(self, snapshot: Snapshot) -> NamedReranker:
        """The rerankers on a snapshot, with their models loaded; an error names the file."""
        from lexfuse.advice.rerankers.reranked_run import NamedReranker

        stages = []
        for number, choice in enumerate(self.choices, start=1):
            try:
                stages.append(choice.open(snapshot))
            except LexFuseError as error:
                raise type(error)(f"{place(self.path, None)}rerank {number} ({choice.method}): {error}") from None
        return NamedReranker(self.name, tuple(stages))


def read_reranker_files(paths: Sequence[Path]) -> list[RerankerFile]:
    r"""The rerankers of every file; channels and fusions that a file may also have do not count.

    >>> _ = (folder / "mine.toml").write_text('[[rerank]]\nmethod = "rprs"')
    >>> [(each.name, each.choices[0].method) for each in read_reranker_files([folder / "mine.toml"])]
    [('mine', 'rprs')]
    """
    found = [_read(path) for path in paths]
    names = [each.name for each in found]
    for each in found:
        if names.count(each.name) > 1:
            raise ConfigError(f'two files to rerank by are called {each.name!r}; write name = "…" at the top of one of them')
    return found


def _read(path: Path) -> RerankerFile:
    from lexfuse.data.files import decode, read_bytes
    from lexfuse.search.spec.spec import SearchSpec, toml_values

    try:  # rerankers are enough; a profile needs a version and a channel too
        profile = SearchSpec.from_json({"channel": [{"name": "bm25"}], **toml_values(decode(read_bytes(path), path=path))})
    except DataError as error:
        raise DataError(error.reason, path=path) from None
    except ConfigError as error:
        raise ConfigError(f"{place(path, None)}{error}") from None
    if not profile.rerank:
        raise ConfigError(f'{place(path, None)}there is no [[rerank]]; give at least one: [[rerank]] with method = "rprs"')
    return RerankerFile(path, profile.name or path.stem, profile.rerank)
