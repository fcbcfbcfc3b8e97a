"""``lexfuse train dense|two-tower|splade|colbert|cross``: one command for all kinds; they differ only in what is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.import_ import refuse_existing
from lexfuse.cli.options.flag_group import FlagGroup, names_in, numbers_in, whole_numbers_in
from lexfuse.cli.options.search_flags import BeforeQueryDate
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, noted_report, print_json, progress_bar, table
from lexfuse.cli.train.input_files import TrainingInputFlags
from lexfuse.dependencies import Extra
from lexfuse.errors import ConfigError, StorageError
from lexfuse.train.examples.parallel_text import PARALLEL
from lexfuse.train.hyperparameters import ModelKind, RankingLoss, Similarity
from lexfuse.train.learning_curve import STUDY, ShareOrder, ShareResult, learning_curve
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.output.training_results import RESULTS, Spread, TrainingResult
from lexfuse.train.plan import JUDGED, Device, TrainingPlan, read_plan_values
from lexfuse.train.trainer import train_model

KINDS = {
    "dense": "Train a dense bi-encoder: one model, one vector per text.",
    "two-tower": "Train a dense bi-encoder with one model for queries and one for documents.",
    "splade": "Train a learned sparse encoder (SPLADE); BASE needs its masked-language head.",
    "colbert": "Train a late-interaction encoder (ColBERT): one vector per token.",
    "cross": "Train a cross-encoder (monoBERT) that reranks; needs --index or --negatives.",
}
_MORE = """

    CORPUS may be a folder with queries and qrels/train.tsv, qrels/dev.tsv, which are used by default. The weights that do
    best on dev become OUT, a complete model folder with a card. The same command resumes after an interruption.

        lexfuse train {kind} fr-legal-mlm data/mine my-{kind} --index mine.index

        lexfuse train {kind} fr-legal-mlm data/mine my-{kind} --index mine.index --config mine.toml --seeds 1,2,3
"""

BaseModel = Annotated[
    str,
    typer.Argument(metavar="BASE", help="The model to start from: a folder with safetensors, a shipped model, or a hub id."),
]
LearningRate = Annotated[float | None, typer.Option("--learning-rate", help="The peak learning rate.")]


@dataclass(frozen=True, kw_only=True)
class ModelOutputFlags(FlagGroup):
    """Where to compute, and what to do with the result."""

    device: Annotated[Device, typer.Option("--device", help="Where to compute.")] = Device.AUTO
    licence: Annotated[
        str, typer.Option("--licence", help="The licence of the result, for its card: BASE and CORPUS decide.")
    ] = "not stated"
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it holds a trained model.")] = False
    skip_bad: SkipBad = False
    json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class TrainingFlags(FlagGroup):
    """How to train; flags take precedence over the TOML file."""

    config: Annotated[Path | None, typer.Option("--config", help="All settings as TOML; flags take precedence.")] = None
    channel: Annotated[str, typer.Option("--channel", help="The channel of --index that ranks [default: bm25].")] = ""
    before_query_date: BeforeQueryDate = False
    seeds: Annotated[str, typer.Option("--seeds", help="Train once for each seed and keep the best on dev: 1,2,3")] = ""
    steps: Annotated[int | None, typer.Option("--steps", help="Maximum steps of each stage.")] = None
    batch: Annotated[int | None, typer.Option("--batch", help="Queries per step.")] = None
    learning_rate: LearningRate = None
    similarity: Annotated[
        Similarity | None, typer.Option("--similarity", help="dense, two-tower, splade: similarity of vectors [default: cosine].")
    ] = None
    temperature: Annotated[float | None, typer.Option("--temperature", help="Temperature of the contrastive loss.")] = None
    query_table: Annotated[
        bool, typer.Option("--query-table", help="splade: learn a table of query weights, read without a model (inference-free).")
    ] = False
    pooling: Annotated[
        str, typer.Option("--pooling", help="dense, two-tower: the mean of all tokens (mean) or the first (cls) [default: mean].")
    ] = ""
    chunk: Annotated[
        int | None, typer.Option("--chunk", help="dense, two-tower: the mean over chunks of N tokens; BSARD takes 200.")
    ] = None
    chunk_overlap: Annotated[
        int | None, typer.Option("--chunk-overlap", help="Tokens that consecutive chunks share [default: 20].")
    ] = None
    ranking_loss: Annotated[
        RankingLoss | None, typer.Option("--ranking-loss", help="cross: the loss of its pairs [default: pointwise].")
    ] = None
    representation: Annotated[
        float | None, typer.Option("--representation", help="cross: weight of MTFT-BERT's second task [default: 0].")
    ] = None
    structure: Annotated[
        str, typer.Option("--structure", help="Learn also from structure: headings,title,cited,citing-paragraph,cloze")
    ] = ""
    first: Annotated[str, typer.Option("--first", help="Learn from structure in a separate first stage.")] = ""
    judged: Annotated[
        bool, typer.Option("--judged/--no-judged", help="Learn from the train judgements, or from structure alone.")
    ] = True
    teacher: Annotated[
        str, typer.Option("--teacher", help="dense: a dense model whose vectors are learned first, through --parallel.")
    ] = ""
    parallel: Annotated[str, typer.Option("--parallel", help="dense: a table of parallel text, for --teacher.")] = ""
    parallel_columns: Annotated[
        str, typer.Option("--parallel-columns", help="Pairs of its columns, the teacher's language first: en:fr,en_note:fr_note")
    ] = ""
    dev_pool: Annotated[int | None, typer.Option("--dev-pool", help="Documents to rank on dev [default: the corpus].")] = None

    def plan(self, kind: str) -> TrainingPlan:
        """The plan of the TOML file and the flags."""
        values = read_plan_values(self.config) if self.config else {}
        chosen, listed = self.structure or self.first or not self.judged, "stage" in values or "examples" in values
        if chosen and listed:
            raise ConfigError("--config and --structure, --first or --no-judged both say what to learn from; leave one out")
        given = {"teacher": self.teacher, "pairs": self.parallel, "columns": names_in(self.parallel_columns)}
        if taught := {name: value for name, value in given.items() if value}:
            table = values.get("parallel", {})
            values["parallel"] = {**table, **taught} if isinstance(table, dict) else table
        if chosen or (taught and not listed):
            taught_first = [PARALLEL] if "parallel" in values else []
            last = [*([JUDGED] if self.judged else []), *names_in(self.structure)]
            values["stage"] = [{"examples": some} for some in (taught_first, names_in(self.first), last) if some]
            if not values["stage"]:
                raise ConfigError("--no-judged leaves nothing to learn from; give --structure, or --teacher and --parallel")
        if self.before_query_date:
            values["before_query_date"] = True
        if self.seeds:
            values["seeds"] = whole_numbers_in(self.seeds, "--seeds")
        for name, key, value in (("dev", "pool", self.dev_pool), ("mining", "channel", self.channel or None)):
            if value is not None:
                values[name] = {**values.get(name, {}), key: value}
        changes = {
            "steps": self.steps, "batch": self.batch, "learning_rate": self.learning_rate, "similarity": self.similarity,
            "temperature": self.temperature, "query_table": self.query_table or None, "pooling": self.pooling or None,
            "chunk": self.chunk,
            "chunk_overlap": self.chunk_overlap, "ranking_loss": self.ranking_loss, "representation": self.representation,
        }  # fmt: skip
        return TrainingPlan.usual(ModelKind(kind), values, {name: value for name, value in changes.items() if value is not None})


def command(kind: str) -> Callable[..., None]:
    """The command that trains a kind of model.

    >>> command("dense").__name__
    'dense'
    """

    def train(
        base: BaseModel,
        files: TrainingInputFlags,
        out: Annotated[Path, typer.Argument(metavar="OUT", help="The model folder to write; with --shares, a folder of models.")],
        training: TrainingFlags,
        output: ModelOutputFlags,
        shares: Annotated[
            str, typer.Option("--shares", help="Train once for each share of the judgements, in percent: 10,20,50,100")
        ] = "",
        by: Annotated[
            ShareOrder, typer.Option("--by", help="Shares by date (the earliest judgements) or random.")
        ] = ShareOrder.RANDOM,
    ) -> None:
        _run(kind, base, out, training.plan(kind), files, output, numbers_in(shares, "--shares"), by)

    train.__name__ = kind
    train.__doc__ = KINDS[kind] + _MORE.format(kind=kind)
    return train


dense, two_tower, splade, colbert, cross = map(command, KINDS)


def _run(
    kind: str,
    base: str,
    out: Path,
    plan: TrainingPlan,
    files: TrainingInputFlags,
    output: ModelOutputFlags,
    shares: list[float],
    by: ShareOrder,
) -> None:
    _refuse_other_folder(out, output.force, bool(shares))
    Extra.TRAIN.require("training")
    with noted_report(output.skip_bad) as report:
        material = files.material(plan, report)
    if material.ranking is None and plan.judged:
        note("neither --index nor --negatives: no hard negatives, only the other passages of a batch")
    total = sum(stage.training.steps for stage in plan.stages) * len(plan.seeds)
    device, licence = output.device, output.licence
    try:
        with progress_bar(f"training {kind}", total) as progress:
            telling = ProgressListener(note, progress)
            if shares:
                found = learning_curve(plan, base, out, material, shares, by, device=device, licence=licence, telling=telling)
            else:
                trained = train_model(
                    plan, base, out, material, device=device, licence=licence, replace_out=output.force, telling=telling
                )  # fmt: skip
    except KeyboardInterrupt:
        note("interrupted; the same command resumes after the last evaluation")
        raise
    if shares:
        _show_study(out, found, by, output.json)
    else:
        _show(out, trained, output.json)


def _refuse_other_folder(out: Path, force: bool, shares: bool) -> None:
    """Refuse an existing target that may not be replaced, before the work starts."""
    if shares:
        if (out / STUDY).is_file() or (out / RESULTS).is_file() or out.is_file():
            raise StorageError(f"{str(out)!r} already exists; choose another folder for the models of all shares")
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
