"""Train a retriever from start to end: examples, stages, seeds; the best weights become a model folder with its card.

The work is in ``OUT.training``; the same call resumes an interrupted training from there. OUT appears only when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lexfuse
from lexfuse.data.arrays import F32
from lexfuse.data.files import named_storage_errors
from lexfuse.data.read_report import ReadReport
from lexfuse.dependencies import Extra
from lexfuse.encode.passage_plan import LengthUnit, WordUnits
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.labelled_examples import PassageWindow
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.progress import ProgressListener, TrainingSpeed
from lexfuse.train.material import TrainingMaterial, dev_examples, dev_pool, stage_examples, truncated
from lexfuse.train.output.model_card import model_card
from lexfuse.train.output.training_results import SeedResult, TrainingResult
from lexfuse.train.output.work_folder import WorkFolder
from lexfuse.train.plan import Device, TrainingPlan, TrainingStage

if TYPE_CHECKING:
    import torch

    from lexfuse.train.loop.loop import DevSet
    from lexfuse.train.models.base_model import StartingModel
    from lexfuse.train.models.learner import Learner
    from lexfuse.train.models.teacher_vectors import Teacher

Say = Callable[[str], None]
RECALL_AT = 100  # of the measure that weights are chosen by


def train_model(
    plan: TrainingPlan,
    base: str | Path,
    out: str | Path,
    material: TrainingMaterial,
    *,
    device: Device = Device.AUTO,
    licence: str = "not stated",
    replace_out: bool = False,
    telling: ProgressListener | None = None,
) -> TrainingResult:
    """Train a model by a plan and write it to ``out``; resumes an interrupted training.

    >>> train_model(TrainingPlan.usual(ModelKind.DENSE), "fr-legal-mlm", "mine", material)  # doctest: +SKIP
    """
    Extra.TRAIN.require("training")
    from lexfuse.train.loop.torch_device import chosen_device
    from lexfuse.train.models.base_model import StartingModel

    out, telling = Path(out), telling or ProgressListener()
    material.check(plan)
    start = StartingModel.read(base)
    computing = chosen_device(device, telling.say)
    _learner(plan.kind, start, plan.stages[0].training)  # a base that cannot be trained is refused before the work
    what = {"base": start.fingerprint, "data": material.digest(), "kind": str(plan.kind), "settings": plan.plain()}
    teacher = _teacher(plan, start)
    if teacher is not None:
        what["teacher"] = teacher.fingerprint
    with WorkFolder.beside(out, what).claimed() as work:
        prepared = _prepared(plan, material, start, telling.say)
        if teacher is not None:
            prepared = _taught(prepared, teacher, material, work, telling.say)
        pace = TrainingSpeed(
            telling, sum(stage.training.steps for stage in plan.stages) * len(plan.seeds), slow=computing.type == "cpu"
        )
        results = []
        for number, seed in enumerate(plan.seeds):
            if len(plan.seeds) > 1:
                telling.say(f"seed {seed} ({number + 1} of {len(plan.seeds)})")
            results.append(_trained_seed(work, prepared, seed, computing, pace))
        facts = {**prepared.facts, "LexFuse": lexfuse.__version__}
        trained = TrainingResult(str(plan.kind), _called(base, start), licence, plan.plain(), facts, tuple(results))
        best = _kept(work, prepared, trained.best.seed)
        work.publish(out, best, trained, model_card(trained, out.name), replace=replace_out)
    return trained


@dataclass(frozen=True, slots=True, eq=False)
class _PreparedStage:
    """What all seeds share: the examples of every stage, the dev data, and facts for the card."""

    plan: TrainingPlan
    base: StartingModel
    examples: tuple[Examples, ...]
    dev: DevSet
    facts: dict[str, Any]
    teacher: F32 | None = None  # the vectors of the queries of a parallel stage

    def dev_of(self, stage: TrainingStage) -> DevSet:
        """The data that a stage is evaluated on.

        Dev only measures a parallel stage: its vectors move to those of the teacher, and figures in one language may fall until
        both languages are there.
        """
        return replace(self.dev, examples=None, chooses=False) if stage.is_parallel else self.dev


def _prepared(plan: TrainingPlan, material: TrainingMaterial, base: StartingModel, say: Say) -> _PreparedStage:
    from lexfuse.train.loop.loop import DevSet

    report, material = ReadReport(), material.allowed(plan)
    examples = tuple(stage_examples(material, stage, plan.mining, report) for stage in plan.stages)
    judged = dev_pool(material, plan, _window(plan, material, base), report)
    for remark in report.lines():
        say(remark)
    facts: dict[str, Any] = {"corpus": material.name, "documents": len(material.corpus)}
    for stage, found in zip(plan.stages, examples, strict=True):
        facts |= _report_stage(stage, found, base, say)
    if material.ranking is not None:
        facts["ranking"] = (
            f"{material.ranking.name}, for hard negatives{' and candidates' if plan.kind is ModelKind.CROSS else ''}"
        )
    facts |= _report_dev(judged, len(material.corpus), plan, say)
    return _PreparedStage(plan, base, examples, DevSet(dev_examples(material, plan.mining), judged), facts)


def _teacher(plan: TrainingPlan, base: StartingModel) -> Teacher | None:
    """The teacher of a parallel stage; one whose vectors have another width is refused before the work."""
    if plan.parallel is None:
        return None
    from lexfuse.train.models.teacher_vectors import Teacher

    return Teacher.load(plan.parallel.teacher, base.transformer().config.hidden_size)


def _taught(prepared: _PreparedStage, teacher: Teacher, material: TrainingMaterial, work: WorkFolder, say: Say) -> _PreparedStage:
    """With the teacher's vectors; all parallel stages have the same examples."""
    pairs = next(some for stage, some in zip(prepared.plan.stages, prepared.examples, strict=True) if stage.is_parallel)
    vectors = teacher.vectors(pairs.queries, work.teacher, say)
    text = "" if material.parallel is None else f"{material.parallel.name}, columns {', '.join(material.parallel.pairs)}"
    return replace(prepared, facts={**prepared.facts, "teacher": teacher.name, "parallel text": text}, teacher=vectors)


def _report_stage(stage: TrainingStage, examples: Examples, base: StartingModel, say: Say) -> dict[str, Any]:
    """Report the number of examples of a stage, and how many texts are truncated."""
    counts = {name: int((examples.source == number).sum()) for number, name in enumerate(examples.sources)}
    shown = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    say(f"{stage.name}: {shown} pairs of {len(examples.queries):,} queries and {len(examples.passages):,} passages")
    facts: dict[str, Any] = {f"pairs to learn from ({stage.name})": f"{shown}, of {len(examples.queries):,} queries"}
    for what, texts, length in (
        ("queries", examples.queries, stage.training.query_length),
        ("passages", examples.passages, stage.training.passage_length),
    ):
        read = length if stage.training.chunk else min(length, base.tokens.window)
        if longer := truncated(base.tokens, texts, read, what, say):
            facts[f"{what} longer than {read} tokens ({stage.name})"] = longer
    return facts


def _report_dev(judged: DevQueries | None, documents: int, plan: TrainingPlan, say: Say) -> dict[str, Any]:
    """Report the dev data."""
    if judged is None:
        say("no dev judgements: nothing is measured, the weights of the last step are kept")
        return {"dev": "none"}
    measured_on = f"{len(judged.questions):,} queries, over {len(judged.docs):,} of {documents:,} documents"
    if judged.candidates is not None:
        measured_on += f", of which the first {plan.dev.candidates} of a ranking are scored for each query"
    if judged.dates is not None:
        measured_on += ", only those dated before the query"
    say(f"measured on dev: {measured_on} ({len(judged.passages):,} passages)")
    if judged.candidates is None and judged.most <= RECALL_AT:
        say(
            f"any ranking of {RECALL_AT} documents or fewer has the same R@{RECALL_AT}: the dev loss chooses; take more documents"
        )
    return {"dev": measured_on}


def _window(plan: TrainingPlan, material: TrainingMaterial, base: StartingModel) -> LengthUnit:
    """The window for passages at evaluations; with a cross-encoder, the query takes up to half of it."""
    tokens = base.tokens
    if plan.stages[-1].training.chunk:
        return WordUnits()  # a document is one text, whose chunks the model joins, as an index does
    specials, length = len(tokens.before) + len(tokens.after), min(plan.stages[-1].training.passage_length, tokens.window)
    if plan.kind is not ModelKind.CROSS or material.queries is None or material.dev is None:
        return PassageWindow(tokens, length, specials)
    from lexfuse.encode.pair_encoder import PairTemplate

    room = min(PairTemplate.of(tokens).room, length)
    questions = [
        text for name, text in zip(material.queries.ids, material.queries.text, strict=True) if name in material.dev.queries
    ]
    longest = max((len(row) - specials for row in tokens.ids(questions)), default=0)
    return PassageWindow(tokens, room - min(longest, room // 2))


def _trained_seed(work: WorkFolder, prepared: _PreparedStage, seed: int, device: torch.device, pace: TrainingSpeed) -> SeedResult:
    """All stages with one seed, each continuing with the weights of the previous one."""
    from lexfuse.train.loop.checkpoint import Checkpoints
    from lexfuse.train.loop.loop import fit

    results, say = [], pace.telling.say
    for number, (stage, examples) in enumerate(zip(prepared.plan.stages, prepared.examples, strict=True)):
        if len(prepared.plan.stages) > 1:
            say(f"stage {number + 1} of {len(prepared.plan.stages)}: {stage.name}")
        training, folder = stage.training.replace(seed=seed), work.stage(seed, number)
        learner = _learner(prepared.plan.kind, prepared.base, training, prepared.teacher if stage.is_parallel else None)
        if number:
            Checkpoints(work.stage(seed, number - 1)).load_best(learner)
        with named_storage_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            outcome = fit(
                learner, examples, training, folder, dev=prepared.dev_of(stage), device=device, say=say, progress=pace.step,
                name=stage.name,
            )  # fmt: skip
        if outcome.measures and not outcome.best_step:
            say("no evaluation was better than the start: the weights from before this training are kept")
        pace.next(training.steps)
        results.append(outcome)
    return SeedResult(seed, tuple(results))


def _kept(work: WorkFolder, prepared: _PreparedStage, seed: int) -> Learner:
    """The model with the best weights of a seed's last stage."""
    from lexfuse.train.loop.checkpoint import Checkpoints

    number = len(prepared.plan.stages) - 1
    learner = _learner(prepared.plan.kind, prepared.base, prepared.plan.stages[number].training.replace(seed=seed))
    Checkpoints(work.stage(seed, number)).load_best(learner)
    return learner


def _learner(kind: ModelKind, base: StartingModel, training: Hyperparameters, teacher: F32 | None = None) -> Learner:
    """A model in training, a student where there are vectors of a teacher; missing parts of its base start from the seed."""
    import torch

    from lexfuse.train.models.colbert import ColbertLearner
    from lexfuse.train.models.cross_encoder import CrossEncoderLearner
    from lexfuse.train.models.dense import DenseLearner, TwoTowerLearner
    from lexfuse.train.models.splade import SpladeLearner
    from lexfuse.train.models.student import StudentLearner

    kinds: dict[ModelKind, type[Learner]] = {
        ModelKind.DENSE: DenseLearner,
        ModelKind.TWO_TOWER: TwoTowerLearner,
        ModelKind.SPLADE: SpladeLearner,
        ModelKind.COLBERT: ColbertLearner,
        ModelKind.CROSS: CrossEncoderLearner,
    }
    torch.manual_seed(training.seed)
    return kinds[kind](base, training) if teacher is None else StudentLearner(base, training, teacher)


def _called(base: str | Path, read: StartingModel) -> str:
    """The name of a base without its parent folders."""
    return read.path.resolve().name if Path(base).expanduser().is_dir() else str(base)
