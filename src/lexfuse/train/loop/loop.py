"""The training loop: steps, evaluations, checkpoints.

It exists because no available trainer does all of this: it resumes after an interruption with the exact result of an
uninterrupted run (every draw depends only on the seed and the step), it splits a batch when device memory runs out, it keeps
known answers out of the negatives of the whole batch, and it stops on a loss that is not a number, keeping the last good weights.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lexfuse.errors import ConfigError, TrainingError
from lexfuse.train.examples.batches import Batch, Batches
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import Examples
from lexfuse.train.hyperparameters import Decay, FloatPrecision, Hyperparameters, selection_key
from lexfuse.train.loop.checkpoint import Checkpoints, TrainingState
from lexfuse.train.loop.torch_device import best_device
from lexfuse.train.models.learner import Learner, TokenisedTexts
from lexfuse.train.output.training_results import StageResult

DEV_BATCHES = 20  # that the dev loss is taken over, at most
LOOKED_AT = 10  # steps between looks at the loss, which wait for the device
Say = Callable[[str], None]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class DevSet:
    """The data for evaluating a training while it runs."""

    examples: Examples | None = None
    judged: DevQueries | None = None
    chooses: bool = True  # else it only measures: nothing stops early, and the last weights are kept


def fit(
    learner: Learner,
    examples: Examples,
    training: Hyperparameters,
    folder: Path,
    *,
    dev: DevSet | None = None,
    device: torch.device | None = None,
    say: Say = lambda _: None,
    progress: Progress = lambda _: None,
    name: str = "",
) -> StageResult:
    """Train a model, or resume the training in ``folder``; the model has the best weights afterwards.

    >>> from lexfuse.train.models.dense import DenseLearner
    >>> examples, short = Examples.of([("bail", "le bail", ["la loi"], "mine")]), Hyperparameters(steps=2, batch=1)
    >>> learner = DenseLearner(tiny_base(folder), short)
    >>> outcome = fit(learner, examples, short, folder / "work", dev=DevSet(examples))
    >>> outcome.steps, sorted(outcome.start)
    (2, ['dev loss'])
    """
    loop = _TrainingLoop(learner, examples, training, Checkpoints(folder), dev or DevSet(), device or best_device(), say)
    return loop.run(name, progress)


@dataclass(eq=False)
class _TrainingLoop:
    """One training."""

    learner: Learner
    examples: Examples
    training: Hyperparameters
    checkpoints: Checkpoints
    dev: DevSet
    device: torch.device
    say: Say

    def __post_init__(self) -> None:
        learner, examples, training, dev = self.learner, self.examples, self.training, self.dev
        learner.to(self.device)
        self.texts = learner.texts(examples.queries, examples.passages)
        self.batches = Batches(examples, training.batch, training.negatives, training.seed, training.turn, training.shares)
        self.dev_texts = (
            learner.texts(dev.examples.queries, dev.examples.passages) if dev.examples is not None else TokenisedTexts([], [])
        )
        self.pool = learner.texts(dev.judged.questions, dev.judged.passages) if dev.judged is not None else TokenisedTexts([], [])
        self.optimizer = torch.optim.AdamW(_groups(learner, training), lr=training.learning_rate)
        self.half = _computes_in_half(training.precision, self.device)
        self.state = TrainingState(of=_fingerprint(learner, examples, training, dev))

    def run(self, name: str, progress: Progress) -> StageResult:
        """All remaining steps."""
        self._resume()
        stream = self.batches.from_start(self.state.step)
        began, before = time.monotonic(), self.state.seconds
        if self.state.step == 0:
            if said := self.learner.begin(self.texts):
                self.say(said)
            self._evaluated(first=True)
        total: dict[str, Tensor] = {}
        while self.state.step < self.training.steps and not self.state.stopped:
            losses = self._step(next(stream))
            for part, value in losses.items():
                total[part] = total.get(part, torch.zeros((), device=self.device)) + value
            self.state.step += 1
            progress(self.state.step)
            last = self.state.step == self.training.steps
            evaluates = self.state.step % self.training.evaluate_every == 0 or last
            looks = self.state.step % LOOKED_AT == 0 or evaluates  # before weights are kept
            if looks and not bool(torch.isfinite(total["loss"] + total["gradient"])):
                raise TrainingError(
                    f"the loss is not a number before step {self.state.step}; the weights of step {self.state.best_step} "
                    f'are kept in {str(self.checkpoints.folder)!r}; take a lower learning rate or precision = "fp32"'
                )
            if evaluates:
                count = (self.state.step - 1) % self.training.evaluate_every + 1
                self._evaluated({part: float(value) / count for part, value in total.items()})
                total = {}
                self.state.seconds = before + time.monotonic() - began
                self.checkpoints.save(self.learner, self.optimizer, self.state)
        self.checkpoints.load_best(self.learner)
        measures = self.state.last if self.state.best_step == self.state.step else self._measured()
        return StageResult(
            name, self.state.step, self.state.best_step, self.state.start, measures, self.state.seconds, self.state.stopped,
            self.checkpoints.records(),
        )  # fmt: skip

    def _resume(self) -> None:
        state = self.checkpoints.state()
        if state is None:
            self.checkpoints.forget_after(-1)
            return
        if state.of != self.state.of:
            raise ConfigError(
                f"{str(self.checkpoints.folder)!r} holds another training (other model, data or settings); "
                "remove it, or choose another output"
            )
        self.checkpoints.load(self.learner, self.optimizer)
        self.checkpoints.forget_after(state.step)
        self.state = state
        self.say(f"resuming after step {state.step:,}")

    def _step(self, batch: Batch) -> dict[str, Tensor]:
        """One step; a batch that does not fit into memory is split from then on."""
        self.learner.train()
        for group in self.optimizer.param_groups:
            group["lr"] = rate(self.training, self.state.step) * group["times"]
        while True:
            try:
                losses = self._gradients(batch)
                break
            except torch.OutOfMemoryError:
                self.state.parts = self._doubled(self.state.parts, len(batch))
                size = -(-len(batch) // self.state.parts)
                self.say(f"out of memory: batches are split into {self.state.parts} of {size}, with fewer negatives in each")
        losses["gradient"] = torch.nn.utils.clip_grad_norm_(self.learner.parameters(), self.training.clip)  # its length before
        self.optimizer.step()
        return losses

    def _doubled(self, parts: int, queries: int) -> int:
        """Twice as many parts of a batch, each with at least one query."""
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        if queries <= parts:
            raise TrainingError(
                "the device has too little memory for a single query; take fewer negatives or a shorter passage_length"
            ) from None
        return 2 * parts

    def _gradients(self, batch: Batch) -> dict[str, Tensor]:
        """The losses of a batch, with their gradients."""
        self.optimizer.zero_grad(set_to_none=True)
        torch.manual_seed(_draw(self.training.seed, self.state.step))
        total: dict[str, Tensor] = {}
        for some in _split(batch, self.state.parts):
            share = len(some) / len(batch)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
                losses = self.learner(some, self.texts, self.state.step)
            (losses["loss"] * share).backward()
            for name, value in losses.items():
                total[name] = total.get(name, torch.zeros((), device=self.device)) + value.detach().float() * share
        return total

    def _evaluated(self, losses: dict[str, float] | None = None, *, first: bool = False) -> None:
        """Evaluate, keep the weights if they are the best, and write a line of the log."""
        measures = self._measured()
        if first:
            self.state.start = measures
        self.state.last = measures
        value = list(selection_key(self.training.choose, measures))
        if not measures or not self.dev.chooses:  # nothing to choose by: the last weights are the best
            self.state.best_step = self.state.step
            self.checkpoints.save_best(self.learner)
        elif self.state.best is None or value > self.state.best:
            self.state.best, self.state.best_step, self.state.waited = value, self.state.step, 0
            self.checkpoints.save_best(self.learner)
        else:
            self.state.waited += 1
            self.state.stopped = bool(self.training.patience) and self.state.waited >= self.training.patience
        record: dict[str, Any] = {"step": self.state.step, "learning rate": rate(self.training, self.state.step)}
        record |= {**(losses or {}), **measures, "best step": self.state.best_step}
        self.checkpoints.log(record)
        figures = ", ".join(f"{name} {number:.4f}" for name, number in {**(losses or {}), **measures}.items())
        self.say(f"step {self.state.step:,}: {figures}")
        if self.state.stopped:
            self.say(
                f"no better evaluation in {self.state.waited}: stopped; the weights of step {self.state.best_step:,} are kept"
            )

    def _measured(self) -> dict[str, float]:
        """The dev loss and the measures of the judged queries."""
        self.learner.eval()
        found: dict[str, float] = {}
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            if self.dev.examples is not None and len(self.dev.examples):
                found["dev loss"] = self._dev_loss(self.dev.examples)
            if self.dev.judged is not None:
                try:
                    scores = self.learner.score(self.pool, self.dev.judged.candidates)
                except torch.OutOfMemoryError:
                    raise TrainingError(
                        "the device has too little memory to read the documents of the evaluation; take a shorter passage_length"
                    ) from None
                found |= self.dev.judged.measured(scores.numpy())
        return found

    def _dev_loss(self, examples: Examples) -> float:
        """The loss over the same batches at every evaluation.

        They are split only if memory runs out in an evaluation, which happens in the first one or never: a batch of another size
        has other negatives, and its loss could not be compared.
        """
        size = min(self.training.batch, len(examples))
        amount = min(DEV_BATCHES, -(-len(examples) // size))
        while True:
            batches = islice(Batches(examples, size, self.training.negatives, 0).from_start(), amount)
            parts = [some for batch in batches for some in _split(batch, self.state.dev_parts)]
            try:
                losses = [self.learner(some, self.dev_texts, self.training.steps)["loss"].item() for some in parts]
            except torch.OutOfMemoryError:
                self.state.dev_parts = self._doubled(self.state.dev_parts, size)
                continue
            return sum(len(some) * loss for some, loss in zip(parts, losses, strict=True)) / sum(map(len, parts))


def rate(training: Hyperparameters, step: int) -> float:
    """The learning rate of a step, counted from 0.

    >>> training = Hyperparameters(steps=10, learning_rate=1.0, warm_up=0.2, decay=Decay.LINEAR)
    >>> [round(rate(training, step), 3) for step in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.125]
    """
    warm = round(training.warm_up * training.steps)
    if step < warm:
        return training.learning_rate * (step + 1) / warm
    if training.decay is Decay.CONSTANT:
        return training.learning_rate
    return training.learning_rate * max(0.0, (training.steps - step) / max(1, training.steps - warm))


def _split(batch: Batch, parts: int) -> Iterator[Batch]:
    if parts == 1:
        yield batch
        return
    size = -(-len(batch) // parts)
    for start in range(0, len(batch), size):
        yield batch.rows(start, min(len(batch), start + size))


def _groups(model: Learner, training: Hyperparameters) -> list[dict[str, Any]]:
    """Weight decay applies to matrices, not to biases and scales; some parameters have another learning rate."""
    own = model.learning_rates()
    named = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    usual = [parameter for name, parameter in named.items() if name not in own]
    return [
        {"params": [one for one in usual if one.dim() > 1], "weight_decay": training.weight_decay, "times": 1.0},
        {"params": [one for one in usual if one.dim() <= 1], "weight_decay": 0.0, "times": 1.0},
        *({"params": [named[name]], "weight_decay": 0.0, "times": one / training.learning_rate} for name, one in own.items()),
    ]


def _computes_in_half(precision: FloatPrecision, device: torch.device) -> bool:
    if precision is FloatPrecision.AUTO:
        return device.type == "cuda" and torch.cuda.is_bf16_supported()
    return precision is FloatPrecision.BF16


def _draw(seed: int, step: int) -> int:
    """A seed for every step."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{step}".encode()).digest()[:7], "big")


def _fingerprint(learner: Learner, examples: Examples, training: Hyperparameters, dev: DevSet) -> str:
    """Equal if and only if model, examples, settings and evaluation are equal."""
    digest = hashlib.sha256(f"{learner.kind}/{learner.base.fingerprint}/".encode())
    digest.update(json.dumps(training.plain(), sort_keys=True).encode())
    for some in (examples, dev.examples):
        if some is not None:
            columns = (some.query, some.positive, some.negatives, some.source, some.known_offsets, some.known, some.teacher)
            _add(digest, (*some.queries, *some.passages, *some.sources), columns)
    if (judged := dev.judged) is not None:
        _add(digest, (*judged.queries, *judged.questions, *judged.docs, *judged.passages), (judged.owner, judged.candidates))
        _add(digest, (*judged.qrels.queries, *judged.qrels.docs), (judged.qrels.offsets, judged.qrels.doc, judged.qrels.grade))
        if judged.dates is not None:
            _add(digest, (), (judged.dates.queries, judged.dates.docs))
    return digest.hexdigest()[:32]


def _add(digest: Any, texts: Iterable[str], columns: Iterable[np.ndarray[Any, Any] | None]) -> None:
    for text in texts:
        digest.update(f"{text}\0".encode())
    for column in columns:
        digest.update(b"none" if column is None else f"{column.shape}".encode() + np.ascontiguousarray(column).tobytes())
