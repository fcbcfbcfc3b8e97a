"""``lexfuse adapt``: models that learn the language of a corpus without judgements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.flag_group import FlagGroup, names_in
from lexfuse.cli.output.console import line, note, noted_report, print_json, progress_bar, spinner, table
from lexfuse.cli.train.models import BaseModel, LearningRate, ModelOutputFlags
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.errors import ConfigError
from lexfuse.train.adaptation.adapt import adapt, prepare, refuse_other_folder, start_from
from lexfuse.train.adaptation.adaptation_settings import Method, MlmSettings, SdrSettings, StructureSettings, TsdaeSettings
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.output.training_results import TrainingResult
from lexfuse.train.structure.structure_pairs import StructureKind

Sentences = Annotated[int, typer.Option("--sentences", help="Sentences to draw from the corpus.")]
Masked = Annotated[float, typer.Option("--masked", help="Share of the tokens that are masked.")]


@dataclass(frozen=True, kw_only=True)
class AdaptationFlags(FlagGroup):
    """What all methods share."""

    base: BaseModel
    source: Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus folder or file.")]
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write.")]
    held_out: Annotated[
        float, typer.Option("--held-out", help="Share of the examples to measure on; with 0 the last weights are kept.")
    ] = 0.05
    steps: Annotated[int | None, typer.Option("--steps", help="Length of the training in steps.")] = None
    epochs: Annotated[float | None, typer.Option("--epochs", help="Length of the training in passes over the examples.")] = None
    batch: Annotated[int | None, typer.Option("--batch", help="Examples per step.")] = None
    learning_rate: LearningRate = None
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same model.")] = 1
    output: ModelOutputFlags


def tsdae(
    adaptation: AdaptationFlags,
    sentences: Sentences = 10_000,
    deleted: Annotated[float, typer.Option("--deleted", help="Share of the tokens that are deleted.")] = 0.6,
) -> None:
    """Train a dense encoder by restoring damaged sentences (TSDAE).

    BASE is a model of BERT's, RoBERTa's, CamemBERT's or XLM-R's kind. The same command resumes after an interruption.

        lexfuse adapt tsdae fr-legal-mlm data/legi legi.tsdae
    """
    _run(TsdaeSettings(deleted=deleted), adaptation, sentences)


def sdr(
    adaptation: AdaptationFlags,
    sentences: Sentences = 10_000,
    masked: Masked = 0.15,
    margin: Annotated[
        float, typer.Option("--margin", help="The cosine up to which sentences of different documents cost nothing.")
    ] = 0.0,
) -> None:
    """Train a dense encoder by masked tokens and by sentences of one paragraph (SDR).

    A BASE without masked-language head gets one for the time of the training. The same command resumes after an interruption.

        lexfuse adapt sdr fr-legal-mlm data/legi legi.sdr
    """
    _run(SdrSettings(masked=masked, margin=margin), adaptation, sentences)


def mlm(
    adaptation: AdaptationFlags,
    sentences: Sentences = 10_000,
    masked: Masked = 0.15,
    new_head: Annotated[
        bool, typer.Option("--new-head", help="Give a BASE without masked-language head a new one, tied to its word embeddings.")
    ] = False,
) -> None:
    """Continue masked-language training; the result is a base for every kind of training.

    The same command resumes after an interruption.

        lexfuse adapt mlm fr-legal-mlm data/legi legi.mlm

        lexfuse adapt mlm fr-legal-dense data/legi legi.mlm --new-head
    """
    _run(MlmSettings(masked=masked, new_head=new_head), adaptation, sentences)


def structure(
    adaptation: AdaptationFlags,
    kinds: Annotated[
        str, typer.Option("--kinds", help="What to learn from: headings,title,cited,citing-paragraph,cloze; all if not given.")
    ] = "",
) -> None:
    """Train a dense encoder on the structure of law: headings, titles, citations.

    The same command resumes after an interruption.

        lexfuse adapt structure fr-legal-mlm data/legi legi.dense --kinds headings,cited
    """
    names = names_in(kinds) or list(StructureKind)
    if unknown := [name for name in names if name not in set(StructureKind)]:
        raise ConfigError(f"--kinds takes {', '.join(StructureKind)} with commas between; got {unknown[0]!r}")
    _run(StructureSettings(structures=tuple(StructureKind(name) for name in names)), adaptation)


def _run(method: Method, adaptation: AdaptationFlags, sentences: int = 0) -> None:
    out, output = adaptation.out, adaptation.output
    refuse_other_folder(out, replace=output.force)
    start = start_from(method, adaptation.base, note)
    changes = {"batch": adaptation.batch, "learning_rate": adaptation.learning_rate}
    with noted_report(output.skip_bad) as report:
        with spinner(f"reading {adaptation.source}"):
            corpus = read_corpus(adaptation.source, report)
        with spinner("choosing what to learn from"):
            prepared = prepare(
                method, corpus, name=adaptation.source.resolve().name, sentences=sentences, held_out=adaptation.held_out,
                steps=adaptation.steps, epochs=adaptation.epochs, seed=adaptation.seed, report=report,
                changes={name: value for name, value in changes.items() if value is not None},
            )  # fmt: skip
    try:
        with progress_bar(f"adapting by {method.kind}", prepared.training.steps) as progress:
            trained = adapt(
                prepared, start, out, device=output.device, licence=output.licence, replace=output.force,
                telling=ProgressListener(note, progress),
            )  # fmt: skip
    except KeyboardInterrupt:
        note("interrupted; the same command resumes after the last evaluation")
        raise
    _show(out, trained, output.json)


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
