"""A passage encoder with half of the layers, in the space of `fr-legal-dense`, for indexing on few processors.

    python recipes/passage_encoder.py work data/fr-labour data/fr-citizen --parallel data/ca-parallel

It starts from three of the six layers, keeps the word embeddings, and learns the last state of every token, and the vector, that
the six layers give to the passages of the corpora, as an index divides them, and to sections of both languages. It sees no
question and no judgement. Questions are encoded by `fr-legal-dense` itself. ``work/fr-legal-passages`` is what ships, in 8 bits.

`--steps` and `--batch` make it short. Two cores are enough: torch computes in bfloat16, and an interrupted training resumes.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from citizen_material import kept_acts, read_parallel
from stages import keep, learner_of, say, ship, staged, with_layers
from torch import Tensor
from torch.nn import functional

from lexfuse.data.formats.beir import read_collection
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.passage_plan import PassagePlan
from lexfuse.train.examples.batches import Batch
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.models.base_model import StartingModel, chunks, padded
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import TokenisedTexts

TEACHER, NAME = "fr-legal-dense", "passages"
LAYERS = (0, 2, 5)  # of the teacher's six, that the student starts from
TOKENS = 3072  # that are computed at once: passages of about the same length
LEARNT = Hyperparameters.usual(
    ModelKind.DENSE, steps=1500, batch=64, learning_rate=6e-4, decay="linear", warm_up=0.03, negatives=0, query_length=8,
    passage_length=256, evaluate_every=200, patience=0, precision="bf16", shares={"law": 0.9, "sections": 0.1},
)  # fmt: skip
SECTIONS = 20_000  # of the parallel text, half of them in each language


class LayerStudent(DenseLearner):
    """A dense encoder that learns what a deeper one of the same width says of every token of a text."""

    def __init__(self, base: StartingModel, training: Hyperparameters, teacher: DenseLearner) -> None:
        """Start from some of the teacher's layers."""
        super().__init__(base, training)
        self.model.get_input_embeddings().requires_grad_(requires_grad=False)
        self._teacher = (teacher,)  # in a tuple, so that its weights are not among those that are trained and kept
        for model in (self.model, teacher.model):
            model.set_attn_implementation("eager")  # faster than the fused one on a CPU

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """The distances from the teacher: of the states of tokens, relative to their length, and of the vectors."""
        self.model.eval()  # without dropout: the teacher has none
        rows = [texts.passages[place] for place in batch.passage[: len(batch)]]
        apart = length = distance = 0.0
        for places in chunks(rows, TOKENS):
            ids, mask = padded(self.base.tokens, [rows[int(place)] for place in places], self.device)
            own = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            with torch.no_grad():
                aim = self._teacher[0].model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            there = mask.unsqueeze(-1).float()
            apart = apart + ((own - aim).square() * there).sum()
            length = length + (aim.square() * there).sum()
            vectors = [functional.normalize((states * there).sum(dim=1) / there.sum(dim=1), dim=1) for states in (own, aim)]
            distance = distance + (1 - (vectors[0] * vectors[1]).sum(dim=1)).sum()
        states, distance = torch.as_tensor(apart / length), torch.as_tensor(distance / len(rows))
        return {"states": states, "distance": distance, "loss": states + 4 * distance}


def passages(folders: Sequence[Path], base: StartingModel) -> Iterator[str]:
    """The passages of corpora, as a dense channel divides them."""
    plan = PassagePlan()
    for folder in folders:
        for document in read_collection(folder).corpus:
            yield from (text for text, _ in plan.of(document, base.tokens))


def sections(path: Path) -> Iterator[str]:
    """Sections of parallel text, each in one of its languages, without the acts that are kept for a measure."""
    every = list(read_parallel(path))
    kept = kept_acts(every)
    every = [section for section in every if section.act not in kept]
    draw = random.Random(3)  # noqa: S311
    for at, section in enumerate(draw.sample(every, min(SECTIONS, len(every)))):
        yield section.english if at % 2 else section.french


def main() -> None:
    """Read the texts, train, write what ships."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("corpora", type=Path, nargs="+", metavar="COLLECTION")
    parser.add_argument("--parallel", type=Path, metavar="FOLDER", help="the collection of sections in English and French")
    parser.add_argument("--steps", type=int, default=LEARNT.steps)
    parser.add_argument("--batch", type=int, default=LEARNT.batch)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    training = LEARNT.replace(steps=given.steps, batch=given.batch)
    teacher = learner_of(DenseLearner, Path(TEACHER), training)
    whole = given.work / "whole"
    if not whole.exists():
        keep(whole, teacher, {})
    start = with_layers(whole, given.work / "start", LAYERS)
    texts = {"law": dict.fromkeys(passages(given.corpora, StartingModel.read(start)))}
    if given.parallel:
        texts["sections"] = dict.fromkeys(sections(given.parallel))
    examples = Examples.of_pairs({name: [TrainingPair(text, text) for text in some if text] for name, some in texts.items()})
    training = training.replace(shares={name: LEARNT.shares[name] for name in texts})
    say(f"{len(examples):,} passages")
    kind = partial(LayerStudent, teacher=teacher)
    staged(given.work, NAME, kind, start, examples, training)
    ship(given.work, {NAME: OutputHead.HIDDEN})


if __name__ == "__main__":
    main()
