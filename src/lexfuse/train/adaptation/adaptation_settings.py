"""Methods to adapt a model to a corpus without judgements, with their settings (RPRS 4.3.1 and 5.4).

Settings of all trainings are in `lexfuse.train.hyperparameters`; `default_settings` gives the defaults of each method.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lexfuse.errors import ConfigError
from lexfuse.train.hyperparameters import KINDS_OF, Hyperparameters
from lexfuse.train.structure.structure_pairs import StructureKind

EVALUATIONS = 10  # in a training


class Adaptation(StrEnum):
    """Methods of learning from plain text."""

    MLM = "mlm"
    TSDAE = "tsdae"
    SDR = "sdr"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class MlmSettings:
    """Masked-language training: the model predicts masked tokens.

    >>> MlmSettings(masked=1.5)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: masked must lie between 0 and 1, neither of them included, got 1.5
    """

    kind: ClassVar[Adaptation] = Adaptation.MLM
    masked: float = 0.15  # share of the tokens
    new_head: bool = False  # for a base that has none

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        _check_share("masked", self.masked)


@dataclass(frozen=True, slots=True)
class TsdaeSettings:
    """TSDAE: a sentence without most of its tokens becomes one vector, from which the sentence is reconstructed."""

    kind: ClassVar[Adaptation] = Adaptation.TSDAE
    deleted: float = 0.6  # share of the tokens

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        _check_share("deleted", self.deleted)


@dataclass(frozen=True, slots=True)
class SdrSettings:
    """SDR: sentences of one paragraph move together, those of different documents apart, and tokens are masked.

    >>> SdrSettings(margin=1.0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: margin is a cosine from -1 to below 1, got 1.0
    """

    kind: ClassVar[Adaptation] = Adaptation.SDR
    masked: float = 0.15
    margin: float = 0.0  # the cosine up to which sentences of different documents cost nothing

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        _check_share("masked", self.masked)
        if not -1 <= self.margin < 1:
            raise ConfigError(f"margin is a cosine from -1 to below 1, got {self.margin}")


@dataclass(frozen=True, slots=True)
class StructureSettings:
    """Contrastive training on pairs from the structure of law."""

    kind: ClassVar[Adaptation] = Adaptation.STRUCTURE
    structures: tuple[StructureKind, ...] = tuple(StructureKind)


Method = MlmSettings | TsdaeSettings | SdrSettings | StructureSettings


def plain(method: Method) -> dict[str, Any]:
    """The settings of a method as JSON values.

    >>> plain(SdrSettings())
    {'adaptation': 'sdr', 'masked': 0.15, 'margin': 0.0}
    """
    values = {entry.name: getattr(method, entry.name) for entry in dataclasses.fields(method)}
    listed = {name: list(map(str, value)) if isinstance(value, tuple) else value for name, value in values.items()}
    return {"adaptation": str(method.kind), **listed}


def default_settings(
    kind: Adaptation, examples: int, *, steps: int | None = None, epochs: float | None = None, **changes: Any
) -> Hyperparameters:
    """The default settings for this many examples, with changes; the length is given in steps or in epochs.

    >>> default_settings(Adaptation.TSDAE, 10_000).steps
    1250
    >>> default_settings(Adaptation.MLM, 100, steps=7, batch=8).batch
    8
    """
    if steps is not None and epochs is not None:
        raise ConfigError(f"say how long to train in steps ({steps:,}) or in epochs ({epochs:g}), not in both")
    if epochs is not None and not 0 < epochs < float("inf"):
        raise ConfigError(f"epochs must be above 0, got {epochs:g}")
    training = Hyperparameters.of({**_USUAL[kind], **changes})
    for name in KINDS_OF if kind is not Adaptation.STRUCTURE else ():
        if getattr(training, name) != getattr(Hyperparameters(), name):
            raise ConfigError(f"{name} is no setting of {kind}, whose vectors are means compared by cosine; leave it out")
    if steps is None:
        rounds = _EPOCHS[kind] if epochs is None else epochs
        steps = max(1, -int(-rounds * examples // min(training.batch, max(1, examples))))
    return dataclasses.replace(training, steps=steps, evaluate_every=max(1, -(-steps // EVALUATIONS)))


_USUAL: Mapping[Adaptation, Mapping[str, Any]] = {
    Adaptation.MLM: {"batch": 32, "learning_rate": 5e-5, "decay": "linear", "warm_up": 0.1, "patience": 0, "negatives": 0},
    Adaptation.TSDAE: {"batch": 8, "learning_rate": 3e-5, "weight_decay": 0.0, "patience": 0, "negatives": 0},
    Adaptation.SDR: {"batch": 32, "patience": 0, "negatives": 0},
    Adaptation.STRUCTURE: {"batch": 64, "temperature": 0.05, "patience": 0, "negatives": 0},
}
_EPOCHS: Mapping[Adaptation, int] = {
    Adaptation.MLM: 3,
    Adaptation.TSDAE: 1,
    Adaptation.SDR: 1,
    Adaptation.STRUCTURE: 1,
}


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ConfigError(f"{name} must lie between 0 and 1, neither of them included, got {value}")
