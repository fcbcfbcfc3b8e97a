"""``lexfuse adapt``: models that learn the language of a corpus that nobody has judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar, spinner, table
from lexfuse.cli.train.models import BaseModel, CorpusPath, DeviceName, Force, LearningRate, Licence
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.train.adaptation.adapt import adapt, prepare, refuse_other_folder, start_from
from lexfuse.train.adaptation.adaptation_settings import Method, MlmSettings, SdrSettings, StructureSettings, TsdaeSettings
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.output.training_results import TrainingResult
from lexfuse.train.plan import Device
from lexfuse.train.structure.structure_pairs import StructureKind

Out = Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write.")]
Sentences = Annotated[int, typer.Option("--sentences", help="How many sentences to draw from the corpus.")]
HeldOut = Annotated[
    float, typer.Option("--held-out", help="Share of them that is only measured on; 0: the last weights are kept.")
]
Steps = Annotated[int | None, typer.Option("--steps", help="How long to train, in steps.")]
Epochs = Annotated[float | None, typer.Option("--epochs", help="How long to train, in rounds over all examples.")]
BatchSize = Annotated[int | None, typer.Option("--batch", help="Examples of a step.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same model.")]
Masked = Annotated[float, typer.Option("--masked", help="Share of the tokens that are hidden.")]


@dataclass(frozen=True, slots=True)
class _AdaptOptions:
    """What all four commands have in common."""

    base: str
    source: Path
    out: Path
    held_out: float
    steps: int | None
    epochs: float | None
    batch: int | None
    learning_rate: float | None
    seed: int
    device: str
    licence: str
    force: bool
    skip_bad: bool
    json: bool
    sentences: int = 0


def tsdae(
    base: BaseModel,
    source: CorpusPath,
    out: Out,
    sentences: Sentences = 10_000,
    deleted: Annotated[float, typer.Option("--deleted", help="Share of the tokens that are deleted.")] = 0.6,
    held_out: HeldOut = 0.05,
    steps: Steps = None,
    epochs: Epochs = None,
    batch: BatchSize = None,
    learning_rate: LearningRate = None,
    seed: Seed = 1,
    device: DeviceName = "auto",
    licence: Licence = "not stated",
    force: Force = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Learn sentence vectors from which damaged sentences can be written again (TSDAE); gives a dense encoder.

    BASE is a model of BERT's, RoBERTa's, CamemBERT's or XLM-R's kind. The same command goes on after an interruption.

        lexfuse adapt tsdae fr-legal-mlm data/legi legi.tsdae
    """
    asked = _AdaptOptions(
        base, source, out, held_out, steps, epochs, batch, learning_rate, seed, device, licence, force, skip_bad, json, sentences
    )
    _run(TsdaeSettings(deleted), asked)


def sdr(
    base: BaseModel,
    source: CorpusPath,
    out: Out,
    sentences: Sentences = 10_000,
    masked: Masked = 0.15,
    margin: Annotated[
        float, typer.Option("--margin", help="The cosine up to which sentences of different documents cost nothing.")
    ] = 0.0,
    held_out: HeldOut = 0.05,
    steps: Steps = None,
    epochs: Epochs = None,
    batch: BatchSize = None,
    learning_rate: LearningRate = None,
    seed: Seed = 1,
    device: DeviceName = "auto",
    licence: Licence = "not stated",
    force: Force = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Learn that sentences of one paragraph are near, and what masked tokens were (SDR); gives a dense encoder.

    A BASE without masked-language head gets one for the time of the training. The same command goes on after an interruption.

        lexfuse adapt sdr fr-legal-mlm data/legi legi.sdr
    """
    asked = _AdaptOptions(
        base, source, out, held_out, steps, epochs, batch, learning_rate, seed, device, licence, force, skip_bad, json, sentences
    )
    _run(SdrSettings(masked, margin), asked)


def mlm(
    base: BaseModel,
    source: CorpusPath,
    out: Out,
    sentences: Sentences = 10_000,
    masked: Masked = 0.15,
    new_head: Annotated[
        bool, typer.Option("--new-head", help="Give a BASE without masked-language head a new one, tied to its word embeddings.")
    ] = False,
    held_out: HeldOut = 0.05,
    steps: Steps = None,
    epochs: Epochs = None,
    batch: BatchSize = None,
    learning_rate: LearningRate = None,
    seed: Seed = 1,
    device: DeviceName = "auto",
    licence: Licence = "not stated",
    force: Force = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Go on with masked-language training; gives a base for all trainings, SPLADE among them.

    The same command goes on after an interruption.

        lexfuse adapt mlm fr-legal-mlm data/legi legi.mlm

        lexfuse adapt mlm fr-legal-dense data/legi legi.mlm --new-head
    """
    asked = _AdaptOptions(
        base, source, out, held_out, steps, epochs, batch, learning_rate, seed, device, licence, force, skip_bad, json, sentences
    )
    _run(MlmSettings(masked, new_head), asked)


def structure(
    base: BaseModel,
    source: CorpusPath,
    out: Out,
    kinds: Annotated[
        str, typer.Option("--kinds", help="What to learn from: headings,title,cited,citing-paragraph,cloze; all if not given.")
    ] = "",
    held_out: HeldOut = 0.05,
    steps: Steps = None,
    epochs: Epochs = None,
    batch: BatchSize = None,
    learning_rate: LearningRate = None,
    seed: Seed = 1,
    device: DeviceName = "auto",
    licence: Licence = "not stated",
    force: Force = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Learn from what law says about itself: headings, titles, citations; gives a dense encoder.

    The same command goes on after an interruption.

        lexfuse adapt structure fr-legal-mlm data/legi legi.dense --kinds headings,cited
    """
    names = [name for part in kinds.split(",") if (name := part.strip())] or list(StructureKind)
    if unknown := [name for name in names if name not in set(StructureKind)]:
        raise ConfigError(f"--kinds takes {', '.join(StructureKind)} with commas between; got {unknown[0]!r}")
    asked = _AdaptOptions(
        base, source, out, held_out, steps, epochs, batch, learning_rate, seed, device, licence, force, skip_bad, json
    )
    _run(StructureSettings(tuple(StructureKind(name) for name in dict.fromkeys(names))), asked)


def _run(method: Method, asked: _AdaptOptions) -> None:
    if asked.device not in set(Device):
        raise ConfigError(f"--device must be one of {', '.join(Device)}; got {asked.device!r}")
    refuse_other_folder(asked.out, replace=asked.force)
    start = start_from(method, asked.base, note)
    report = ReadReport(skip_bad=asked.skip_bad)
    with spinner(f"reading {asked.source}"):
        corpus = read_corpus(asked.source, report)
    changes = {"batch": asked.batch, "learning_rate": asked.learning_rate}
    with spinner("choosing what to learn from"):
        prepared = prepare(
            method, corpus, name=asked.source.resolve().name, sentences=asked.sentences, held_out=asked.held_out,
            steps=asked.steps, epochs=asked.epochs, seed=asked.seed, report=report,
            changes={name: value for name, value in changes.items() if value is not None},
        )  # fmt: skip
    for remark in report.lines():
        note(remark)
    try:
        with progress_bar(f"adapting by {method.kind}", prepared.training.steps) as progress:
            trained = adapt(
                prepared, start, asked.out, device=Device(asked.device), licence=asked.licence, replace=asked.force,
                telling=ProgressListener(note, progress),
            )  # fmt: skip
    except KeyboardInterrupt:
        note("interrupted; the same command goes on after the last evaluation")
        raise
    _show(asked.out, trained, asked.json)


def _show(out: Path, trained: TrainingResult, json: bool) -> None:
    stage = trained.best.stages[0]
    if json:
        print_json(
            {
                "out": str(out), "adaptation": trained.kind, "base": trained.base, "seed": trained.best.seed,
                "steps": stage.steps, "best_step": stage.best_step, "start": dict(stage.start), "measures": dict(stage.measures),
                "seconds": round(stage.seconds, 1), "facts": dict(trained.facts),
            }
        )  # fmt: skip
        return
    if stage.measures:
        rows = [(name, stage.start[name], value) for name, value in stage.measures.items()]
        table(f"{out}: {trained.facts['held out, for the dev loss']:,} held-out examples", ["measure", "base", "adapted"], rows)
    line(f"{out}: the weights of step {stage.best_step:,}; README.md says what it is and how to use it", style="bold")
