"""A training on disk: weights, the optimiser's moments and the state, so that it resumes as if never interrupted.

Weights and moments are safetensors, the rest is JSON; nothing is pickled. A checkpoint is complete before ``state.json`` names
it, and the previous one is removed only then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lexfuse.data.archives import parse_json
from lexfuse.data.files import read_bytes, sync, sync_name, written_file
from lexfuse.data.partial_files import remove
from lexfuse.errors import DataError

MOMENTS = ("exp_avg", "exp_avg_sq")
BEST = "best.safetensors"
LOG = "log.jsonl"
_CHECKPOINT = re.compile(r"step-[0-9]+")


@dataclass(slots=True)
class TrainingState:
    """The state of a training."""

    step: int = 0  # steps that were made
    parts: int = 1  # that a batch is split into, since memory ended
    dev_parts: int = 1  # the same in evaluations
    best: list[float] | None = None  # measure and negative loss of the best evaluation
    best_step: int = 0
    waited: int = 0  # evaluations since the best
    stopped: bool = False
    seconds: float = 0.0
    start: dict[str, float] = field(default_factory=dict)  # measures before the first step
    last: dict[str, float] = field(default_factory=dict)
    of: str = ""  # fingerprint of what is trained on what


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The folder of a training.

    >>> model = nn.Linear(2, 1)
    >>> optimizer = torch.optim.AdamW(model.parameters())
    >>> kept = Checkpoints(folder)
    >>> before = kept.state()
    >>> kept.save(model, optimizer, TrainingState(step=3))
    >>> kept.load(model, optimizer)
    >>> before, kept.state().step
    (None, 3)
    """

    folder: Path

    def state(self) -> TrainingState | None:
        """The state; ``None`` if the training has not begun."""
        path = self.folder / "state.json"
        if not path.is_file():
            return None
        values = parse_json(read_bytes(path), str(path))
        try:
            return TrainingState(**{name: value for name, value in values.items() if name != "checkpoint"})
        except TypeError as error:
            raise DataError(f"not the state of a training ({error}); remove the folder to start again", path=path) from None

    def save(self, model: nn.Module, optimizer: torch.optim.Optimizer, state: TrainingState) -> None:
        """Write a checkpoint, then name it in ``state.json``."""
        from safetensors.torch import save_file

        name = f"step-{state.step}"
        place = self.folder / name
        if place.exists():
            remove(place)
        place.mkdir(parents=True)
        save_file(_weights(model), str(place / "model.safetensors"))
        save_file(_moments(model, optimizer), str(place / "optimizer.safetensors"))
        sync(*place.iterdir(), place)
        self._name(state, name)
        for other in self.folder.iterdir():
            if _CHECKPOINT.fullmatch(other.name) and other.name != name:
                remove(other)

    def load(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Load the weights and moments of the named checkpoint."""
        from safetensors.torch import load_file

        path = self.folder / "state.json"
        place = self.folder / str(parse_json(read_bytes(path), str(path)).get("checkpoint"))
        try:
            _put(model, load_file(str(place / "model.safetensors")))
            moments = load_file(str(place / "optimizer.safetensors"))
        except Exception as error:  # the library has several kinds
            raise DataError(f"the checkpoint cannot be read ({error}); remove the folder to start again", path=place) from None
        for name, parameter in model.named_parameters():
            if f"exp_avg/{name}" in moments:
                found: dict[str, Any] = {kind: moments[f"{kind}/{name}"].to(parameter.device) for kind in MOMENTS}
                optimizer.state[parameter] = {"step": moments[f"step/{name}"], **found}

    def save_best(self, model: nn.Module) -> None:
        """Keep the weights of the best evaluation so far."""
        from safetensors.torch import save_file

        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{BEST}.partial"
        save_file(_weights(model), str(partial))
        sync(partial)
        partial.replace(self.folder / BEST)
        sync_name(self.folder / BEST)

    def load_best(self, model: nn.Module) -> bool:
        """Load the best weights; returns whether there are any.

        >>> kept, model = Checkpoints(folder), nn.Linear(2, 1)
        >>> before = kept.load_best(model)
        >>> kept.save_best(model)
        >>> before, kept.load_best(model)
        (False, True)
        """
        from safetensors.torch import load_file

        if not (self.folder / BEST).is_file():
            return False
        _put(model, load_file(str(self.folder / BEST)))
        return True

    def log(self, record: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")

    def records(self) -> tuple[dict[str, Any], ...]:
        """The record of each evaluation; incomplete lines are ignored."""
        lines = (self.folder / LOG).read_text("utf-8").splitlines()
        return tuple(json.loads(line) for line in lines if line.endswith("}"))

    def forget_after(self, step: int) -> None:
        """Remove the lines after a step from the log, since these steps are done again.

        >>> kept = Checkpoints(folder)
        >>> for step in (0, 5, 10):
        ...     kept.log({"step": step})
        >>> kept.forget_after(5)
        >>> kept.records()
        ({'step': 0}, {'step': 5})
        """
        path = self.folder / LOG
        if not path.is_file():
            return
        kept = [line for line in path.read_text("utf-8").splitlines() if _step_of(line) <= step]
        with written_file(path) as out:
            out.write("".join(f"{line}\n" for line in kept).encode())

    def _name(self, state: TrainingState, checkpoint: str) -> None:
        with written_file(self.folder / "state.json") as out:
            out.write((json.dumps({**asdict(state), "checkpoint": checkpoint}, indent=1) + "\n").encode())


def _step_of(line: str) -> float:
    """The step of a line of the log; one that was not written to its end is of no step that was made."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _weights(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()}


def _put(model: nn.Module, weights: dict[str, torch.Tensor]) -> None:
    parameters = dict(model.named_parameters())
    if parameters.keys() != weights.keys():
        raise ValueError("it is of another model")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


def _moments(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    found = {}
    for name, parameter in model.named_parameters():
        if parameter in optimizer.state:
            kept = optimizer.state[parameter]
            found[f"step/{name}"] = kept["step"].detach().cpu()
            for kind in MOMENTS:
                found[f"{kind}/{name}"] = kept[kind].detach().cpu().contiguous()
    return found
