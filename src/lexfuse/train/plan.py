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
``examples`` and any setting of ``[training]``.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from lexfuse.data.files import decode, read_bytes
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.hard_negatives import DEPTH
from lexfuse.train.examples.labelled_examples import CANDIDATES
from lexfuse.train.hyperparameters import KINDS_OF, Hyperparameters, ModelKind
from lexfuse.train.structure.structure_pairs import StructureKind

JUDGED = "judged"  # the source of examples that judgements make; all others are kinds of structure


class Device(StrEnum):
    """The device of the computation."""

    AUTO = "auto"  # a GPU where there is one
    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """The source and selection of hard negatives; see `lexfuse.train.examples.hard_negatives`.

    >>> MiningSettings(margin=2.0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: margin must lie between 0 (none) and 1, got 2.0
    """

    channel: str = "bm25"  # of the index
    depth: int = DEPTH  # documents that are ranked
    amount: int = 30  # negatives of a query at most
    skip: int = 0  # of the first ones
    margin: float = 0.95  # share of the best relevant document's score, above which a document is too close; 0 for none

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        for name in ("depth", "amount"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.skip < 0:
            raise ConfigError(f"skip must be 0 or more, got {self.skip}")
        if not 0 <= self.margin <= 1:
            raise ConfigError(f"margin must lie between 0 (none) and 1, got {self.margin}")


@dataclass(frozen=True, slots=True)
class DevPool:
    """The data that weights are selected on; see `lexfuse.train.examples.labelled_examples.judged_pool`."""

    pool: int = 0  # documents that are ranked; 0 for the whole corpus
    candidates: int = CANDIDATES  # documents of the ranking, for cross-encoders

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        if self.pool < 0 or self.candidates < 1:
            raise ConfigError(
                f"pool must be 0 (all documents) or more and candidates 1 or more, got {self.pool}, {self.candidates}"
            )


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """One stage of a training: its examples and hyperparameters.

    >>> TrainingStage(("headings", "judged"), Hyperparameters()).name
    'headings+judged'
    >>> TrainingStage(("heading",), Hyperparameters())
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: there are no examples 'heading'; there are judged, headings, title, cited, ...
    """

    examples: tuple[str, ...]
    training: Hyperparameters

    def __post_init__(self) -> None:
        """Refuse unknown kinds of examples."""
        known = (JUDGED, *StructureKind)
        if unknown := [name for name in self.examples if name not in known]:
            raise ConfigError(f"there are no examples {unknown[0]!r}; there are {', '.join(known)}")
        if not self.examples or len(set(self.examples)) < len(self.examples):
            raise ConfigError(
                f"a stage needs examples, each kind once, got {list(self.examples)}; choose from {', '.join(known)}"
            )

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

    def __post_init__(self) -> None:
        """Refuse invalid stages and seeds."""
        if not self.stages:
            raise ConfigError("a training needs one stage or more")
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise ConfigError(f"seeds must be whole numbers from 0 on, each once, got {list(self.seeds)}")
        if self.kind is ModelKind.CROSS and any(stage.examples != (JUDGED,) for stage in self.stages):
            raise ConfigError(
                "a cross-encoder learns from judged examples alone: pairs of structure have no negatives to tell apart"
            )
        for name, kinds in KINDS_OF.items():
            values = [getattr(stage.training, name) for stage in self.stages]
            if self.kind not in kinds and values != [getattr(Hyperparameters(), name)] * len(values):
                raise ConfigError(f"{name} is a setting of {', '.join(sorted(kinds))}, not of {self.kind}; leave it out")
        if len({stage.training.dimension for stage in self.stages}) > 1:
            raise ConfigError("all stages must have the same dimension: the next one goes on with the weights of the one before")

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
        values = dict(values or {})
        _refuse_others(
            values, ("seeds", "before_query_date", "examples", "training", "mining", "dev", "stage"), "the configuration"
        )
        shared = {**_table(values, "training"), **(changes or {})}
        if "seed" in shared:
            raise ConfigError("seed is not a setting of [training] here; write seeds = [1] at the top")
        stages = values.get("stage", [{"examples": values.get("examples", [JUDGED])}])
        if "stage" in values and "examples" in values:
            raise ConfigError("examples stand at the top or in every [[stage]], not in both")
        if not isinstance(stages, list) or not all(isinstance(stage, Mapping) for stage in stages):
            raise ConfigError("stages are written as [[stage]], one after the other")
        return cls(
            kind,
            tuple(_stage(kind, stage, shared, changes or {}) for stage in stages),
            tuple(_wholes(values.get("seeds", [1]), "seeds")),
            MiningSettings(**_typed(MiningSettings, _table(values, "mining"), "mining")),
            DevPool(**_typed(DevPool, _table(values, "dev"), "dev")),
            _truth(values.get("before_query_date", False), "before_query_date"),
        )

    def plain(self) -> dict[str, Any]:
        """The plan as plain values; `TrainingPlan.usual` reads them.

        >>> plan = TrainingPlan.usual(ModelKind.SPLADE, {"seeds": [1, 2]})
        >>> TrainingPlan.usual(ModelKind.SPLADE, plan.plain()) == plan
        True
        """
        stages = [
            {
                "examples": list(stage.examples),
                **{name: value for name, value in stage.training.plain().items() if name != "seed"},
            }
            for stage in self.stages
        ]
        return {
            "seeds": list(self.seeds), "before_query_date": self.before_query_date, "mining": dataclasses.asdict(self.mining),
            "dev": dataclasses.asdict(self.dev), "stage": stages,
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


def _stage(kind: ModelKind, values: Mapping[str, Any], shared: Mapping[str, Any], changes: Mapping[str, Any]) -> TrainingStage:
    own = {name: value for name, value in values.items() if name != "examples"}
    if "seed" in own:
        raise ConfigError("seed is not a setting of a stage; write seeds = [1] at the top")
    examples = values.get("examples")
    if not isinstance(examples, list) or not all(isinstance(name, str) for name in examples):
        raise ConfigError(f'examples must be a list like ["judged", "headings"], got {examples!r}')
    return TrainingStage(tuple(examples), Hyperparameters.usual(kind, **{**shared, **own, **changes}))


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = values.get(name, {})
    if not isinstance(table, Mapping):
        raise ConfigError(f"{name} must be a table, [{name}], got {table!r}")
    return table


def _refuse_others(values: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    if unknown := [name for name in values if name not in known]:
        raise ConfigError(f"{where} has no {unknown[0]!r}; it has {', '.join(known)}")


def _typed(kind: type[MiningSettings | DevPool], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Values with the types of the fields of a table."""
    types = {entry.name: entry.type for entry in dataclasses.fields(kind)}
    _refuse_others(values, tuple(types), f"[{where}]")
    allowed: Mapping[str, tuple[tuple[type, ...], str]] = {
        "str": ((str,), "text"),
        "int": ((int,), "a whole number"),
        "float": ((int, float), "a number"),
        "bool": ((bool,), "true or false"),
    }
    for name, value in values.items():
        fitting, called = allowed[str(types[name])]
        if not isinstance(value, fitting) or (isinstance(value, bool) and bool not in fitting):
            raise ConfigError(f"{name} of [{where}] must be {called}, got {value!r}")
    return dict(values)


def _truth(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be true or false, got {value!r}")
    return value


def _wholes(values: Any, name: str) -> list[int]:
    if not isinstance(values, list) or not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise ConfigError(f"{name} must be a list of whole numbers, got {values!r}")
    return values
