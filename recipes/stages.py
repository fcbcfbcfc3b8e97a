"""What the recipes have in common: stages that leave a model folder each, and go on where they were interrupted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

from lexfuse.data.arrays import F32, I32
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.onnx_export.quantisation import write_small_model
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import Examples
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.loop.loop import DevSet, fit
from lexfuse.train.loop.torch_device import best_device
from lexfuse.train.models.base_model import StartingModel
from lexfuse.train.models.learner import Learner, TokenisedTexts

NUMBERS = "training.json"  # how a model was trained and how well it does on dev
DEV = "dev.json"  # how well it does on the dev questions of several collections
SHIPPED = {"dense": OutputHead.HIDDEN, "splade": OutputHead.MLM}  # the names of models in the folder of work, without fr-legal-


def staged(
    work: Path, name: str, kind: Any, start: Path, examples: Examples, training: Hyperparameters, judged: DevQueries | None = None
) -> Path:
    """Train a model and keep it as a folder of ``work``, unless it is there."""
    out = work / name
    if out.exists():
        return out
    say(f"== {name}: {len(examples):,} examples")
    torch.manual_seed(training.seed)
    learner: Any = kind(StartingModel.read(start), training)
    going = work / f"{name}.training"
    outcome = fit(learner, examples, training, going, dev=DevSet(None, judged), say=say)
    measures = {"best step": outcome.best_step, "seconds": outcome.seconds, "start": outcome.start, "dev": outcome.measures}
    keep(out, learner, {**measures, "training": training.plain()})
    shutil.rmtree(going)
    return out


def keep(folder: Path, learner: Learner, numbers: Mapping[str, Any]) -> None:
    """Write a model folder with the numbers of its training, all or nothing."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    learner.save(partial)
    (partial / NUMBERS).write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
    partial.rename(folder)


def ship(work: Path, shipped: Mapping[str, OutputHead] = SHIPPED) -> None:
    """Models of ``work`` by their names, where there are such, in 8 bits as in the package, whose cards are written by hand."""
    for name, head in shipped.items():
        folder, small = work / name, work / f"fr-legal-{name}"
        if small.exists() or not folder.exists():
            continue
        shutil.rmtree(folder / "onnx", ignore_errors=True)  # else it would be taken instead of the weights
        write_small_model(ModelFolder.read(folder), head, small)
        for made in (NUMBERS, DEV):
            (small / made).unlink(missing_ok=True)


def mined(path: Path, make: Callable[[], I32]) -> I32:
    """What was mined, or mined now: after an interruption the very same, as a training goes on with its own examples only."""
    if not path.exists():
        partial = path.with_suffix(".partial.npy")
        np.save(partial, make())
        partial.rename(path)
    found: I32 = np.load(path, allow_pickle=False)
    return found


def learner_of(kind: Any, folder: Path, training: Hyperparameters) -> Any:
    """A model that was trained, to be asked."""
    return kind(StartingModel.read(folder), training).to(best_device()).eval()


def scored(model: Learner, texts: TokenisedTexts, candidates: Any = None) -> F32:
    """Scores of all documents for all questions, or of each question's candidates."""
    with torch.no_grad(), torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        found: F32 = model.score(texts, candidates).numpy()
    return found


def averaged(out: Path, kind: Any, folders: Sequence[Path], training: Hyperparameters) -> Path:
    """The mean of the weights of models that differ in their seed alone, kept as a folder unless it is there."""
    if not out.exists():
        learners = [kind(StartingModel.read(folder), training) for folder in folders]
        states = [learner.state_dict() for learner in learners]
        mean = kind(StartingModel.read(folders[0]), training)
        mean.load_state_dict({key: torch.stack([state[key].float() for state in states]).mean(dim=0) for key in states[0]})
        keep(out, mean, {"mean of": [folder.name for folder in folders], "training": training.plain()})
    return out


def with_layers(folder: Path, out: Path, layers: Sequence[int]) -> Path:
    """A model with some of the layers of another one, kept as a folder unless it is there."""
    if not out.exists():
        partial = out.with_name(f"{out.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(folder, partial, ignore=shutil.ignore_patterns(NUMBERS, DEV, "onnx"))
        weights = partial / "model.safetensors"
        kept = {f"encoder.layer.{layer}.": f"encoder.layer.{place}." for place, layer in enumerate(layers)}
        tensors = {}
        for name, tensor in load_file(weights).items():
            _, _, rest = name.partition("encoder.layer.")
            prefix = f"encoder.layer.{rest.split('.')[0]}." if rest else ""
            if not prefix or prefix in kept:
                tensors[name.replace(prefix, kept[prefix]) if prefix else name] = tensor
        save_file(tensors, weights, {"format": "pt"})
        config = json.loads((partial / "config.json").read_text("utf-8")) | {"num_hidden_layers": len(layers)}
        (partial / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
        partial.rename(out)
    return out


def measured(model: Learner, judged: DevQueries) -> dict[str, float]:
    """How well a model ranks what is judged."""
    return judged.measured(scored(model, model.texts(judged.questions, judged.passages), judged.candidates))


def shown(measures: Mapping[str, float]) -> str:
    """Measures in a line."""
    return ", ".join(f"{name} {value:.4f}" for name, value in measures.items())


def say(line: str) -> None:
    """Tell at once."""
    print(line, flush=True)
