"""Rerankers from files, and a ranking reranked by them: the new ranking, the scores behind it, and how long a query took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from lexfuse.data.arrays import offsets_of
from lexfuse.data.files import decode, read_bytes
from lexfuse.data.formats.toml_text import toml_values
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError, LexFuseError, place
from lexfuse.rerank.reranker import Reranker
from lexfuse.search.spec.reranker_specs import RerankerChoice
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.snapshot import Snapshot

FIRST, SECOND = "first stage", "reranker"  # as rankings; no channel can be called so


@dataclass(frozen=True, slots=True)
class NamedReranker:
    """Rerankers that are applied one after the other, under one name.

    >>> NamedReranker("mine", ())
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: 'mine' has no reranker; give at least one
    """

    name: str
    stages: tuple[Reranker, ...]

    def __post_init__(self) -> None:
        """Refuse one without stages."""
        if not self.stages:
            raise ConfigError(f"{self.name!r} has no reranker; give at least one")


@dataclass(frozen=True, slots=True, eq=False)
class RerankedRun:
    """A reranked ranking."""

    ranking: Run  # reranked, with what was not reranked below
    scored: Run  # only what the last reranker gave a score, by it
    milliseconds: float  # a query, median


def rerank_run(
    named: NamedReranker, queries: Queries, run: Run, progress: Callable[[int], None] = lambda done: None
) -> RerankedRun:
    """Rerank the ranking of every query, one after the other; `progress` gets how many are done.

    >>> from lexfuse.rerank.reranker import first_documents, reorder
    >>> class Backwards(Reranker):
    ...     name, depth = "backwards", 2
    ...     def rerank(self, queries, run, *, depth):
    ...         return reorder(run, self.name, -first_documents(run, depth).score, depth)
    >>> run = Run.of("bm25", {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> found = rerank_run(NamedReranker("mine", (Backwards(),)), Queries.of([Query("q", "loi")]), run)
    >>> found.ranking.as_dict(), found.scored.as_dict()
    ({'q': {'b': -2.0, 'a': -3.0, 'c': -4.0}}, {'q': {'b': -2.0, 'a': -3.0}})
    """
    rankings, own, times = [], [], []
    for row, name in enumerate(run.queries):
        asked, found = queries.select([queries.ids.ordinal(name)]), _of_query(run, row)
        started = perf_counter()
        for stage in named.stages:
            found = stage.rerank(asked, replace(found, name=FIRST, parts={}), depth=stage.depth)
        times.append(1000 * (perf_counter() - started))
        rankings.append(found)
        own.append(~np.isnan(found.parts[named.stages[-1].name]))
        progress(row + 1)
    doc = np.concatenate([np.empty(0, dtype=np.int32), *(found.doc for found in rankings)])
    score = np.concatenate([np.empty(0, dtype=np.float32), *(found.score for found in rankings)])
    known = np.concatenate([np.empty(0, dtype=np.bool_), *own])
    ranking = Run(SECOND, run.queries, run.docs, run.offsets, doc, score)
    offsets = offsets_of(np.array([int(each.sum()) for each in own], dtype=np.int64))
    scored = replace(ranking, offsets=offsets, doc=doc[known], score=score[known])
    return RerankedRun(ranking, scored, float(np.median(times)) if times else 0.0)


def _of_query(run: Run, row: int) -> Run:
    """The ranking of one query alone."""
    here = slice(int(run.offsets[row]), int(run.offsets[row + 1]))
    offsets = np.array([0, here.stop - here.start], dtype=np.int64)
    return Run(run.name, Ids([run.queries[row]]), run.docs, offsets, run.doc[here], run.score[here])


@dataclass(frozen=True, slots=True)
class RerankerFile:
    """The rerankers of one file, applied one after the other, and their common name."""

    path: Path
    name: str  # that of the profile, or of the file
    choices: tuple[RerankerChoice, ...]

    def open(self, snapshot: Snapshot) -> NamedReranker:
        """The rerankers on a snapshot, with their models loaded; an error names the file."""
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
    try:  # rerankers are enough; a profile needs a version and a channel too
        profile = SearchSpec.from_json({"channel": [{"name": "bm25"}], **toml_values(decode(read_bytes(path), path=path))})
    except DataError as error:
        raise DataError(error.reason, path=path) from None
    except ConfigError as error:
        raise ConfigError(f"{place(path, None)}{error}") from None
    if not profile.rerank:
        raise ConfigError(f'{place(path, None)}there is no [[rerank]]; give at least one: [[rerank]] with method = "rprs"')
    return RerankerFile(path, profile.name or path.stem, profile.rerank)
