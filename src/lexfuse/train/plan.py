"""A whole training as one value: stages, source of negatives, dev data, seeds; read from TOML.

    seeds = [1, 2, 3]
    before_query_date = true
    examples = ["judged", "headings"]

    [training]
    steps = 500

    [mining]
    channel = "bm25"

    [dev]
    pool = 5000

Instead of ``examples``, ``[[stage]]`` lists consecutive stages (pre-finetuning, general to in-domain), each with its own
``examples`` and any setting of ``[training]``. A stage with ``examples = ["parallel"]`` learns the vectors of another model
through the parallel text of ``[parallel]``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lexfuse.data.files import decode, read_bytes
from lexfuse.data.validation import Amount, Count, Model, Share, Tables
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.hard_negatives import DEPTH
from lexfuse.train.examples.labelled_examples import CANDIDATES
from lexfuse.train.examples.parallel_text import PARALLEL, ParallelSettings
from lexfuse.train.hyperparameters import KINDS_OF, TEACHING, Hyperparameters, ModelKind, Similarity
from lexfuse.train.structure.structure_pairs import StructureKind

JUDGED = "judged"  # the source of examples that judgements make; others are parallel text and kinds of structure


class Device(StrEnum):
    """The device of the computation."""

    AUTO = "auto"  # a GPU where there is one
    CPU = "cpu"
    CUDA = "cuda"


class MiningSettings(Model):
    """The source and selection of hard negatives; see `lexfuse.train.examples.hard_negatives`.

    >>> MiningSettings(margin=2.0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: margin must be at most 1, got 2.0
    """

    channel: str = "bm25"  # of the index
    depth: Count = DEPTH  # documents that are ranked
    amount: Count = 30  # negatives of a query at most
    skip: Amount = 0  # of the first ones
    margin: Share = 0.95  # of the best relevant document's score, above which a document is too close; 0 for none


class DevPool(Model):
    """The data that weights are selected on; see `lexfuse.train.examples.labelled_examples.judged_pool`."""

    pool: Amount = 0  # documents that are ranked; 0 for the whole corpus
    candidates: Count = CANDIDATES  # documents of the ranking, for cross-encoders


class _PlanTable(Model):
    """A plan as it is written."""

    seeds: Annotated[tuple[int, ...], Field(strict=False)] = (1,)
    before_query_date: bool = False
    examples: list[str] = Field(default=[JUDGED])
    training: dict[str, Any] = Field(default_factory=dict)
    mining: MiningSettings = Field(default_factory=MiningSettings)
    dev: DevPool = Field(default_factory=DevPool)
    parallel: ParallelSettings | None = None
    stage: Annotated[tuple[dict[str, Any], ...], Tables] = ()

    def check(self) -> None:
        """Refuse stages next to examples, and a seed where the seeds at the top count."""
        if self.stage and "examples" in self.model_fields_set:
            raise ConfigError("examples are at the top or in every [[stage]], not in both")
        if any("seed" in table for table in (self.training, *self.stage)):
            raise ConfigError("seed is not a setting of [training] or a stage; write seeds = [1] at the top")


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """One stage of a training: its examples and hyperparameters.

    >>> TrainingStage(("headings", "judged"), Hyperparameters()).name
    'headings+judged'
    >>> TrainingStage(("heading",), Hyperparameters())
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: there are no examples 'heading'; there are judged, parallel, headings, title, ...
    """

    examples: tuple[str, ...]
    training: Hyperparameters

    def __post_init__(self) -> None:
        """Refuse unknown kinds of examples."""
        known = (JUDGED, PARALLEL, *StructureKind)
        if unknown := [name for name in self.examples if name not in known]:
            raise ConfigError(f"there are no examples {unknown[0]!r}; there are {', '.join(known)}")
        if not self.examples or len(set(self.examples)) < len(self.examples):
            raise ConfigError(
                f"a stage needs examples, each kind once, got {list(self.examples)}; choose from {', '.join(known)}"
            )
        if self.is_parallel and len(self.examples) > 1:
            raise ConfigError('parallel text has a loss that other examples lack; give it a stage: examples = ["parallel"]')
        if self.is_parallel and self.training.similarity is not Similarity.COSINE:
            raise ConfigError("a student learns the directions of vectors; a parallel stage takes similarity = cosine")

    @property
    def is_parallel(self) -> bool:
        """Whether it learns the vectors of a teacher."""
        return PARALLEL in self.examples

    @property
    def name(self) -> str:
        """Its name in the log."""
        return "+".join(self.examples)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A whole training.

    With ``before_query_date``, only documents earlier than a query are its hard negatives, and are ranked for it on dev.

    >>> TrainingPlan.usual(ModelKind.DENSE, {"training": {"steps": 5}}).stages[0].training.steps
    5
    """

    kind: ModelKind
    stages: tuple[TrainingStage, ...]
    seeds: tuple[int, ...] = (1,)
    mining: MiningSettings = field(default_factory=MiningSettings)
    dev: DevPool = field(default_factory=DevPool)
    before_query_date: bool = False
    parallel: ParallelSettings | None = None

    def __post_init__(self) -> None:
        """Refuse invalid stages and seeds."""
        if not self.stages:
            raise ConfigError("a training needs one stage or more")
        self._check_parallel()
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise ConfigError(f"seeds must be whole numbers from 0 on, each once, got {list(self.seeds)}")
        if self.kind is ModelKind.CROSS and any(stage.examples != (JUDGED,) for stage in self.stages):
            raise ConfigError("a cross-encoder learns from judged examples only: pairs from structure have no negatives")
        for name, kinds in KINDS_OF.items():
            values = [getattr(stage.training, name) for stage in self.stages]
            if self.kind not in kinds and values != [getattr(Hyperparameters(), name)] * len(values):
                raise ConfigError(f"{name} is a setting of {', '.join(sorted(kinds))}, not of {self.kind}; leave it out")
        for name in ("dimension", "query_table"):
            if len({getattr(stage.training, name) for stage in self.stages}) > 1:
                raise ConfigError(f"all stages must have the same {name}: each one continues with the weights of the one before")

    def _check_parallel(self) -> None:
        taught = any(stage.is_parallel for stage in self.stages)
        if (taught or self.parallel is not None) and self.kind is not ModelKind.DENSE:
            raise ConfigError(f"only a dense model learns from a teacher through parallel text, not {self.kind}; leave them out")
        if taught and self.parallel is None:
            raise ConfigError(
                "a parallel stage needs a teacher and parallel text; give --teacher and --parallel, or a table [parallel]"
            )
        if self.parallel is not None and not taught:
            raise ConfigError(
                'a teacher and parallel text are given but no stage learns from them; add a [[stage]], examples = ["parallel"]'
            )

    @property
    def judged(self) -> bool:
        """Whether any stage learns from judgements."""
        return any(JUDGED in stage.examples for stage in self.stages)

    @classmethod
    def usual(
        cls, kind: ModelKind, values: Mapping[str, Any] | None = None, changes: Mapping[str, Any] | None = None
    ) -> TrainingPlan:
        """A plan from plain values, such as TOML, on top of the usual ones; ``changes`` apply to all stages.

        >>> plan = TrainingPlan.usual(ModelKind.DENSE, {"stage": [{"examples": ["headings"], "steps": 9},
        ...     {"examples": ["judged"]}]})
        >>> [(stage.name, stage.training.steps) for stage in plan.stages]
        [('headings', 9), ('judged', 1000)]
        """
        table = _PlanTable(**(values or {}))
        if "seed" in (changes or {}):
            raise ConfigError("seed is not a setting of all stages; write seeds = [1] at the top")
        shared = {**table.training, **(changes or {})}
        stages = table.stage or ({"examples": table.examples},)
        return cls(
            kind,
            tuple(_stage(kind, {**shared, **stage, **(changes or {})}) for stage in stages),
            table.seeds,
            table.mining,
            table.dev,
            table.before_query_date,
            table.parallel,
        )

    def plain(self) -> dict[str, Any]:
        """The plan as plain values; `TrainingPlan.usual` reads them.

        >>> plan = TrainingPlan.usual(ModelKind.SPLADE, {"seeds": [1, 2]})
        >>> TrainingPlan.usual(ModelKind.SPLADE, plan.plain()) == plan
        True
        """
        stages = [
            {"examples": list(stage.examples), **stage.training.model_dump(mode="json", exclude={"seed"})}
            for stage in self.stages
        ]
        parallel = {} if self.parallel is None else {"parallel": self.parallel.model_dump(mode="json")}
        return {
            "seeds": list(self.seeds), "before_query_date": self.before_query_date, "mining": self.mining.model_dump(),
            "dev": self.dev.model_dump(), **parallel, "stage": stages,
        }  # fmt: skip


def read_plan_values(path: str | Path) -> dict[str, Any]:
    """The plain values of a TOML file, for `TrainingPlan.usual`.

    >>> _ = (folder / "mine.toml").write_text("seeds = [1, 2]")
    >>> read_plan_values(folder / "mine.toml")
    {'seeds': [1, 2]}
    """
    try:
        return tomllib.loads(decode(read_bytes(path), path=path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"not valid TOML: {error}", path=path) from None


def _stage(kind: ModelKind, values: Mapping[str, Any]) -> TrainingStage:
    settings = dict(values)
    examples = settings.pop("examples", None)
    if not isinstance(examples, list) or not all(isinstance(name, str) for name in examples):
        raise ConfigError(f'examples must be a list like ["judged", "headings"], got {examples!r}')
    usual = TEACHING if PARALLEL in examples else {}
    return TrainingStage(tuple(examples), Hyperparameters.usual(kind, **{**usual, **settings}))
