"""``lexfuse train dense|two-tower|splade|colbert|cross``: one command for all kinds; they differ in what is trained alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.import_ import refuse_existing
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar, table
from lexfuse.cli.train.input_files import TrainingInputFiles
from lexfuse.data.read_report import ReadReport
from lexfuse.dependencies import Extra
from lexfuse.errors import ConfigError, StorageError
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.learning_curve import STUDY, ShareOrder, ShareResult, learning_curve
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.output.training_results import RESULTS, Spread, TrainingResult
from lexfuse.train.plan import JUDGED, Device, TrainingPlan, read_plan_values
from lexfuse.train.trainer import train_model

KINDS = {
    "dense": "Train a dense bi-encoder: one model, one vector a text.",
    "two-tower": "Train a dense bi-encoder of two models, one for queries and one for documents.",
    "splade": "Train a learned sparse encoder (SPLADE); BASE needs its masked-language head.",
    "colbert": "Train a late-interaction encoder (ColBERT): one vector a token.",
    "cross": "Train a cross-encoder (monoBERT), which reranks; it needs --index or --negatives.",
}
_MORE = """

    CORPUS may be a folder with queries and qrels/train.tsv, qrels/dev.tsv, which are found by themselves. The weights that do
    best on dev become OUT, a complete model folder with a card. The same command goes on after an interruption.

        lexfuse train {kind} fr-legal-mlm data/mine my-{kind} --index mine.index

        lexfuse train {kind} fr-legal-mlm data/mine my-{kind} --index mine.index --config mine.toml --seeds 1,2,3
"""

BaseModel = Annotated[
    str, typer.Argument(metavar="BASE", help="The model to start from: a folder with safetensors, or a hub id.")
]
CorpusPath = Annotated[Path, typer.Argument(metavar="CORPUS", help="A corpus folder or file.")]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write; with --shares, a folder of models.")]
QueriesFile = Annotated[Path | None, typer.Option("--queries", help="Queries; those of the CORPUS folder if not given.")]
TrainFile = Annotated[
    Path | None, typer.Option("--train", help="Judgements to learn from; qrels/train.tsv of CORPUS if not given.")
]
DevFile = Annotated[Path | None, typer.Option("--dev", help="Judgements to choose by; qrels/dev.tsv of CORPUS if not given.")]
IndexFolder = Annotated[Path | None, typer.Option("--index", help="An index of CORPUS to take hard negatives from.")]
ChannelName = Annotated[str, typer.Option("--channel", help="The channel of the index that ranks; bm25 if not given.")]
BeforeQueryDate = Annotated[bool, typer.Option("--before-query-date", help="Only documents dated before the query.")]
RunFile = Annotated[Path | None, typer.Option("--negatives", help="A TREC run to take hard negatives from, instead of --index.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="All settings as TOML; options of the command go before it.")]
Seeds = Annotated[str, typer.Option("--seeds", help="Train once for each of these seeds: 1,2,3. The best on dev is kept.")]
Steps = Annotated[int | None, typer.Option("--steps", help="Steps of each stage at most.")]
BatchSize = Annotated[int | None, typer.Option("--batch", help="Queries of a step.")]
LearningRate = Annotated[float | None, typer.Option("--learning-rate", help="How far a step goes.")]
SimilarityName = Annotated[
    str,
    typer.Option("--similarity", help="dense, two-tower, splade: compare vectors by cosine (if not given) or dot."),
]
Temperature = Annotated[float | None, typer.Option("--temperature", help="What scores are divided by in the contrastive loss.")]
PoolingName = Annotated[
    str,
    typer.Option("--pooling", help="dense, two-tower: the mean of a text's tokens (mean, if not given) or its first (cls)."),
]
Chunk = Annotated[
    int | None,
    typer.Option("--chunk", help="dense, two-tower: the mean over chunks of so many tokens; BSARD takes 200."),
]
ChunkOverlap = Annotated[int | None, typer.Option("--chunk-overlap", help="Tokens that chunks share; 20 if not given.")]
StructureKinds = Annotated[
    str,
    typer.Option("--structure", help="Learn also from pairs that law gives: headings,title,cited,citing-paragraph,cloze."),
]
First = Annotated[str, typer.Option("--first", help="The same pairs, but in a stage of their own before the judged ones.")]
WithJudged = Annotated[
    bool, typer.Option("--judged/--no-judged", help="Learn from the train judgements, or from structure alone.")
]
Pool = Annotated[
    int | None, typer.Option("--dev-pool", help="Documents that dev is measured on; all of the corpus if not given.")
]
Shares = Annotated[str, typer.Option("--shares", help="Train once for each share of the judgements, in percent: 10,20,50,100.")]
ShareBy = Annotated[str, typer.Option("--by", help="Shares by date (the earliest judgements) or random.")]
DeviceName = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Licence = Annotated[str, typer.Option("--licence", help="The licence of the result, for its card: BASE and CORPUS decide.")]
Force = Annotated[bool, typer.Option("--force", help="Replace OUT if it holds a trained model.")]


def command(kind: str) -> Callable[..., None]:
    """The command of a kind.

    >>> command("dense").__name__
    'dense'
    """

    def train(
        base: BaseModel,
        source: CorpusPath,
        out: Out,
        queries: QueriesFile = None,
        train: TrainFile = None,
        dev: DevFile = None,
        index: IndexFolder = None,
        channel: ChannelName = "",
        before_query_date: BeforeQueryDate = False,
        negatives: RunFile = None,
        config: ConfigFile = None,
        seeds: Seeds = "",
        steps: Steps = None,
        batch: BatchSize = None,
        learning_rate: LearningRate = None,
        similarity: SimilarityName = "",
        temperature: Temperature = None,
        pooling: PoolingName = "",
        chunk: Chunk = None,
        chunk_overlap: ChunkOverlap = None,
        structure: StructureKinds = "",
        first: First = "",
        judged: WithJudged = True,
        dev_pool: Pool = None,
        shares: Shares = "",
        by: ShareBy = "random",
        device: DeviceName = "auto",
        licence: Licence = "not stated",
        force: Force = False,
        skip_bad: SkipBad = False,
        json: AsJson = False,
    ) -> None:
        changes = {
            "steps": steps, "batch": batch, "learning_rate": learning_rate, "similarity": similarity or None,
            "temperature": temperature, "pooling": pooling or None, "chunk": chunk, "chunk_overlap": chunk_overlap,
        }  # fmt: skip
        asked = _TrainOptions(config, seeds, changes, structure, first, judged, dev_pool, channel, before_query_date)
        files = TrainingInputFiles(source, queries, train, dev, index, negatives)
        _run(kind, base, out, asked, files, _Result(shares, by, device, licence, force, json), skip_bad)

    train.__name__ = kind
    train.__doc__ = KINDS[kind] + _MORE.format(kind=kind)
    return train


dense, two_tower, splade, colbert, cross = map(command, KINDS)


@dataclass(frozen=True, slots=True)
class _TrainOptions:
    """What the command line says about how to train."""

    config: Path | None
    seeds: str
    changes: Mapping[str, Any]  # settings of the training; None where nothing is said
    structure: str
    first: str
    judged: bool
    dev_pool: int | None
    channel: str
    before_query_date: bool

    def plan(self, kind: str) -> TrainingPlan:
        """The plan of the TOML file and the options, which go before it."""
        values = read_plan_values(self.config) if self.config else {}
        chosen = self.structure or self.first or not self.judged
        if chosen and ("stage" in values or "examples" in values):
            raise ConfigError("--config says what to learn from, and so do --structure, --first or --no-judged; leave one out")
        if chosen:
            last = [*([JUDGED] if self.judged else []), *_names(self.structure)]
            values["stage"] = [{"examples": examples} for examples in (_names(self.first), last) if examples]
        if self.before_query_date:
            values["before_query_date"] = True
        if self.seeds:
            values["seeds"] = _wholes(self.seeds, "--seeds")
        for name, key, value in (
            ("dev", "pool", self.dev_pool),
            ("mining", "channel", self.channel or None),
        ):
            if value is not None:
                values[name] = {**values.get(name, {}), key: value}
        return TrainingPlan.usual(
            ModelKind(kind), values, {name: value for name, value in self.changes.items() if value is not None}
        )


@dataclass(frozen=True, slots=True)
class _Result:
    """What to make of it."""

    shares: str
    by: str
    device: str
    licence: str
    force: bool
    json: bool


def _run(
    kind: str, base: str, out: Path, asked: _TrainOptions, files: TrainingInputFiles, result: _Result, skip_bad: bool
) -> None:
    plan, device, by = asked.plan(kind), _one_of(Device, result.device, "--device"), _one_of(ShareOrder, result.by, "--by")
    shares = _numbers(result.shares, "--shares") if result.shares else []
    _refuse_other_folder(out, result.force, bool(shares))
    Extra.TRAIN.require("training")
    report = ReadReport(skip_bad=skip_bad)
    material = files.material(plan, report)
    for remark in report.lines():
        note(remark)
    if material.ranking is None and plan.judged:
        note("neither --index nor --negatives: no hard negatives, only the other passages of a batch")
    total = sum(stage.training.steps for stage in plan.stages) * len(plan.seeds)
    try:
        with progress_bar(f"training {kind}", total) as progress:
            telling = ProgressListener(note, progress)
            if shares:
                found = learning_curve(
                    plan, base, out, material, shares, by, device=device, licence=result.licence, telling=telling
                )
            else:
                trained = train_model(
                    plan, base, out, material, device=device, licence=result.licence, replace_out=result.force, telling=telling
                )  # fmt: skip
    except KeyboardInterrupt:
        note("interrupted; the same command goes on after the last evaluation")
        raise
    if shares:
        _show_study(out, found, by, result.json)
    else:
        _show(out, trained, result.json)


def _refuse_other_folder(out: Path, force: bool, shares: bool) -> None:
    """Say at once that the target is in the way, or is nothing that may be replaced."""
    if shares:
        if (out / STUDY).is_file() or (out / RESULTS).is_file() or out.is_file():
            raise StorageError(f"{str(out)!r} is there already; choose another folder for the models of all shares")
        return
    refuse_existing(out, force)
    if out.is_dir() and any(out.iterdir()) and not (out / RESULTS).is_file():
        raise StorageError(f"{str(out)!r} holds other files and no trained model; choose another folder")


def _show(out: Path, trained: TrainingResult, json: bool) -> None:
    best = trained.best
    if json:
        print_json(
            {
                "out": str(out), "kind": trained.kind, "base": trained.base, "best_seed": best.seed,
                "start": _plain(trained.start), "measures": _plain(trained.measures), "facts": dict(trained.facts),
                "seeds": [
                    {"seed": one.seed, "measures": dict(one.measures), "steps": [stage.steps for stage in one.stages],
                     "best_step": one.stages[-1].best_step, "seconds": round(sum(stage.seconds for stage in one.stages), 1)}
                    for one in trained.seeds
                ],
            }
        )  # fmt: skip
        return
    start = trained.start
    if trained.measures:
        rows = [(name, str(start[name]) if name in start else None, str(after)) for name, after in trained.measures.items()]
        table(f"{out}: dev, {trained.facts['dev']}", ["measure", "base", "trained"], rows)
    which = (
        f"seed {best.seed}, step {best.stages[-1].best_step:,}"
        if len(trained.seeds) > 1
        else f"step {best.stages[-1].best_step:,}"
    )
    line(f"{out}: the weights of {which}; README.md says what it is and how to use it", style="bold")


def _show_study(out: Path, found: list[ShareResult], by: str, json: bool) -> None:
    if json:
        print_json({"out": str(out), "by": by, "shares": [one.plain() for one in found]})
        return
    names = list(found[0].trained.measures)
    rows = [
        (f"{one.percent:g} %", one.queries, one.judgements, *(str(one.trained.measures[name]) for name in names)) for one in found
    ]
    table(f"{out}: dev by share of the judgements ({by})", ["share", "queries", "judgements", *names], rows)


def _plain(spreads: dict[str, Spread]) -> dict[str, Any]:
    return {name: {"mean": one.mean, "deviation": one.deviation} for name, one in spreads.items()}


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"{option} takes numbers with commas between, got {text!r}") from None


def _wholes(text: str, option: str) -> list[int]:
    numbers = _numbers(text, option)
    if any(number != int(number) for number in numbers):
        raise ConfigError(f"{option} takes whole numbers with commas between, got {text!r}")
    return [int(number) for number in numbers]


def _one_of(kind: Any, value: str, option: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise ConfigError(f"{option} must be one of {', '.join(kind)}; got {value!r}") from None
