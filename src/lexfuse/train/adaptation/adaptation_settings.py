"""Methods to adapt a model to a corpus without judgements, with their settings (RPRS 4.3.1 and 5.4).

Settings of all trainings are in `lexfuse.train.hyperparameters`; `default_settings` gives the defaults of each method.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lexfuse.data.validation import Model
from lexfuse.errors import ConfigError
from lexfuse.train.hyperparameters import KINDS_OF, Hyperparameters
from lexfuse.train.structure.structure_pairs import StructureKind

EVALUATIONS = 10  # in a training
Part = Annotated[float, Field(gt=0, lt=1)]


class Adaptation(StrEnum):
    """Methods of learning from plain text."""

    MLM = "mlm"
    TSDAE = "tsdae"
    SDR = "sdr"
    STRUCTURE = "structure"


class MlmSettings(Model):
    """Masked-language training: the model predicts masked tokens.

    >>> MlmSettings(masked=1.5)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: masked must be below 1, got 1.5
    """

    kind: ClassVar[Adaptation] = Adaptation.MLM
    masked: Part = 0.15  # of the tokens
    new_head: bool = False  # for a base that has none


class TsdaeSettings(Model):
    """TSDAE: a sentence without most of its tokens becomes one vector, from which the sentence is reconstructed."""

    kind: ClassVar[Adaptation] = Adaptation.TSDAE
    deleted: Part = 0.6  # of the tokens


class SdrSettings(Model):
    """SDR: sentences of one paragraph move together, those of different documents apart, and tokens are masked."""

    kind: ClassVar[Adaptation] = Adaptation.SDR
    masked: Part = 0.15
    margin: Annotated[float, Field(ge=-1, lt=1)] = 0.0  # the cosine up to which sentences of different documents cost nothing


class StructureSettings(Model):
    """Contrastive training on pairs from the structure of law."""

    kind: ClassVar[Adaptation] = Adaptation.STRUCTURE
    structures: tuple[StructureKind, ...] = tuple(StructureKind)


Method = MlmSettings | TsdaeSettings | SdrSettings | StructureSettings


def plain(method: Method) -> dict[str, Any]:
    """The settings of a method as JSON values.

    >>> plain(SdrSettings())
    {'adaptation': 'sdr', 'masked': 0.15, 'margin': 0.0}
    """
    return {"adaptation": str(method.kind), **method.model_dump(mode="json")}


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
        raise ConfigError(f"give the length of the training in steps ({steps:,}) or in epochs ({epochs:g}), not in both")
    if epochs is not None and not 0 < epochs < float("inf"):
        raise ConfigError(f"epochs must be above 0, got {epochs:g}")
    training = Hyperparameters(**{**_USUAL[kind], **changes})
    for name in KINDS_OF if kind is not Adaptation.STRUCTURE else ():
        if getattr(training, name) != getattr(Hyperparameters(), name):
            raise ConfigError(f"{name} is not a setting of {kind}, whose vectors are means compared by cosine; leave it out")
    if steps is None:
        rounds = (3 if kind is Adaptation.MLM else 1) if epochs is None else epochs
        steps = max(1, -int(-rounds * examples // min(training.batch, max(1, examples))))
    return training.replace(steps=steps, evaluate_every=max(1, -(-steps // EVALUATIONS)))


_USUAL: Mapping[Adaptation, Mapping[str, Any]] = {
    Adaptation.MLM: {"batch": 32, "learning_rate": 5e-5, "decay": "linear", "warm_up": 0.1, "patience": 0, "negatives": 0},
    Adaptation.TSDAE: {"batch": 8, "learning_rate": 3e-5, "weight_decay": 0.0, "patience": 0, "negatives": 0},
    Adaptation.SDR: {"batch": 32, "patience": 0, "negatives": 0},
    Adaptation.STRUCTURE: {"batch": 64, "temperature": 0.05, "patience": 0, "negatives": 0},
}
