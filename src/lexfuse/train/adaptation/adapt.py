"""Adapt a model to a corpus without judgements: sentences or structure, a training, a model folder with its card.

The work is in ``OUT.training``; the same call resumes an interrupted adaptation from there. OUT appears only when it is complete:
a masked-language model stays one, all other methods give a dense encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lexfuse
from lexfuse.data.corpus import Corpus
from lexfuse.data.files import named_storage_errors
from lexfuse.data.read_report import ReadReport
from lexfuse.dependencies import Extra
from lexfuse.errors import DataError, StorageError
from lexfuse.train.adaptation.adaptation_settings import (
    Method,
    MlmSettings,
    SdrSettings,
    StructureSettings,
    TsdaeSettings,
    default_settings,
    plain,
)
from lexfuse.train.adaptation.corpus_sentences import (
    SentenceSplit,
    check_held_out,
    lone_sentences,
    paragraph_sentences,
    split_off,
)
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import TrainingPair, stable_random
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.material import truncated
from lexfuse.train.output.model_card import adaptation_card
from lexfuse.train.output.training_results import RESULTS, SeedResult, TrainingResult
from lexfuse.train.output.work_folder import WorkFolder
from lexfuse.train.plan import Device
from lexfuse.train.structure.structure_pairs import structure_pairs

if TYPE_CHECKING:
    from lexfuse.train.models.base_model import StartingModel
    from lexfuse.train.models.learner import Learner

SENTENCES = 10_000  # as RPRS 5.4
HELD_OUT = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class AdaptationData:
    """The data and settings of an adaptation; ``facts`` describes the data for the card."""

    method: Method
    training: Hyperparameters
    split: SentenceSplit
    facts: Mapping[str, Any]


def prepare(
    method: Method,
    corpus: Corpus,
    *,
    name: str = "",
    sentences: int = SENTENCES,
    held_out: float = HELD_OUT,
    steps: int | None = None,
    epochs: float | None = None,
    seed: int = 1,
    changes: Mapping[str, Any] | None = None,
    report: ReadReport | None = None,
) -> AdaptationData:
    """Choose what to learn from in a corpus called ``name``; ``changes`` override the default `Hyperparameters`.

    >>> corpus = Corpus.of([Document("a", text="Le bail dure un an. Il cesse ensuite. Le juge le constate.", language="fr")])
    >>> found = prepare(TsdaeSettings(), corpus, sentences=3, held_out=0.3)
    >>> len(found.split.train), found.training.steps
    (2, 1)
    """
    report = ReadReport() if report is None else report
    match method:
        case StructureSettings():
            split = _structured(method, corpus, held_out, seed, report)
        case SdrSettings():
            split = paragraph_sentences(corpus, sentences, held_out=held_out, seed=seed, report=report)
        case _:
            split = lone_sentences(corpus, sentences, held_out=held_out, seed=seed, report=report)
    training = default_settings(method.kind, len(split.train), steps=steps, epochs=epochs, seed=seed, **(changes or {}))
    counts = {source: int((split.train.source == number).sum()) for number, source in enumerate(split.train.sources)}
    facts: dict[str, Any] = {"corpus": name, "documents": len(corpus)}
    facts["learned from"] = ", ".join(f"{count:,} {source}" for source, count in counts.items())
    facts["held out, for the dev loss"] = 0 if split.dev is None else len(split.dev)
    return AdaptationData(method, training, split, facts)


def start_from(method: Method, base: str | Path, say: Callable[[str], None] = lambda _: None) -> StartingModel:
    """Read the model to start from; one that cannot be adapted by this method is refused before the work.

    >>> start_from(TsdaeSettings(), "fr-legal-mlm")  # doctest: +SKIP
    """
    Extra.TRAIN.require("training")
    from lexfuse.train.models.base_model import StartingModel

    read = StartingModel.read(base)
    learner = _learner(method, read, Hyperparameters())
    if getattr(learner, "fresh", False):
        after = "is a part of the result" if isinstance(method, MlmSettings) else "is discarded after training"
        say(f"the base has no masked-language head: a new one, tied to its word embeddings, starts at random and {after}")
    elif isinstance(method, MlmSettings) and method.new_head:
        say("the base has a masked-language head, which is used; --new-head has no effect")
    return read


def adapt(
    prepared: AdaptationData,
    base: StartingModel,
    out: str | Path,
    *,
    device: Device = Device.AUTO,
    licence: str = "not stated",
    replace: bool = False,
    telling: ProgressListener | None = None,
) -> TrainingResult:
    """Adapt a model and write it to ``out``; resumes an interrupted adaptation.

    >>> adapt(prepared, start_from(TsdaeSettings(), "fr-legal-mlm"), "mine")  # doctest: +SKIP
    """
    Extra.TRAIN.require("training")
    from lexfuse.train.loop.loop import DevSet, fit
    from lexfuse.train.loop.torch_device import chosen_device

    out, telling = Path(out), telling or ProgressListener()
    refuse_other_folder(out, replace=replace)
    computing = chosen_device(device, telling.say)
    method, training, train = prepared.method, prepared.training, prepared.split.train
    facts, read = dict(prepared.facts), min(training.passage_length, base.tokens.window)
    if longer := truncated(base.tokens, tuple(dict.fromkeys((*train.queries, *train.passages))), read, "texts", telling.say):
        facts[f"texts longer than {read} tokens"] = longer
    facts["LexFuse"] = lexfuse.__version__
    what = {"kind": str(method.kind), "base": base.folder.fingerprint, "settings": plain(method)}  # `fit` checks the rest
    with WorkFolder.beside(out, what).claimed() as work:
        learner, folder = _learner(method, base, training), work.stage(training.seed, 0)
        with named_storage_errors(folder):
            outcome = fit(
                learner, prepared.split.train, training, folder, dev=DevSet(prepared.split.dev), device=computing,
                say=telling.say, progress=telling.progress, name=str(method.kind),
            )  # fmt: skip
        if outcome.measures and not outcome.best_step:
            telling.say(
                "no step lowered the dev loss: the result has the weights of the base; take more sentences or another rate"
            )
        stage = {"examples": list(prepared.split.train.sources), **training.plain()}
        trained = TrainingResult(
            str(method.kind), base.folder.path.resolve().name, licence, {**plain(method), "stage": [stage]},
            facts, (SeedResult(training.seed, (outcome,)),),
        )  # fmt: skip
        work.publish(out, learner, trained, adaptation_card(trained, out.name), replace=replace)
    return trained


def refuse_other_folder(out: Path, *, replace: bool) -> None:
    """Refuse a target that exists, or that must not be replaced.

    >>> refuse_other_folder(Path("/"), replace=True)
    Traceback (most recent call last):
    ...
    lexfuse.errors.StorageError: '/' holds other files and no trained model; choose another folder
    """
    if out.exists() and not replace:
        raise StorageError(f"{str(out)!r} already exists; choose another name, or give --force to replace it")
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / RESULTS).is_file()):
        raise StorageError(f"{str(out)!r} holds other files and no trained model; choose another folder")


def _structured(method: StructureSettings, corpus: Corpus, held_out: float, seed: int, report: ReadReport) -> SentenceSplit:
    """Pairs from structure, in random order; whole passages are held out."""
    check_held_out(held_out)
    found = structure_pairs(corpus, method.structures, seed=seed, report=report)
    rows = [(kind, pair) for kind, pairs in found.items() for pair in pairs]
    if not rows:
        raise DataError(
            f"the corpus gives no pair of the kinds {', '.join(method.structures)}: its documents have no such structure"
        )
    rows.sort(key=lambda row: stable_random(seed, "structure", row[0], *row[1]))
    train, dev = split_off(rows, [pair.passage for _, pair in rows], held_out)
    return SentenceSplit(_by_kind(train), _by_kind(dev) if dev else None)


def _by_kind(rows: list[tuple[str, TrainingPair]]) -> Examples:
    kinds: dict[str, list[TrainingPair]] = {}
    for kind, pair in rows:
        kinds.setdefault(kind, []).append(pair)
    return Examples.of_pairs(dict(sorted(kinds.items())))


def _learner(method: Method, base: StartingModel, training: Hyperparameters) -> Learner:
    """A model in training; missing parts of its base start from the seed."""
    import torch

    from lexfuse.train.adaptation.masked_language import MaskedLanguageLearner
    from lexfuse.train.adaptation.sdr import SdrLearner
    from lexfuse.train.adaptation.tsdae import TsdaeLearner
    from lexfuse.train.models.dense import DenseLearner

    torch.manual_seed(training.seed)
    match method:
        case MlmSettings():
            return MaskedLanguageLearner(base, training, masked=method.masked, new_head=method.new_head)
        case TsdaeSettings():
            return TsdaeLearner(base, training, deleted=method.deleted)
        case SdrSettings():
            return SdrLearner(base, training, masked=method.masked, margin=method.margin)
        case StructureSettings():
            return DenseLearner(base, training)
