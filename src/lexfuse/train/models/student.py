"""A dense encoder that learns the vectors of another model through parallel text (Reimers and Gurevych, EMNLP 2020).

The teacher reads a text in a language that it knows. The student reads the same text in another language and in the teacher's,
and learns to give the teacher's vector for both, so that a question in one language finds documents in the other. The loss of
each side is the distance of the cosine from 1, plus the contrastive loss against the teacher's vectors of the other texts of the
batch: a vector must be nearer to its own aim than to any other one.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lexfuse.data.arrays import F32
from lexfuse.encode.encoder import Side
from lexfuse.errors import DataError
from lexfuse.train.examples.batches import Batch
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.models.base_model import StartingModel, move_to_device
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.learner import TokenisedTexts
from lexfuse.train.models.losses import nt_xent


class StudentLearner(DenseLearner):
    """A dense encoder with the teacher's vector of every query of its examples, which are texts in the teacher's language.

    >>> import numpy as np
    >>> from lexfuse.train.examples.batches import Batches
    >>> from lexfuse.train.examples.examples import Examples
    >>> from lexfuse.train.examples.training_pair import TrainingPair
    >>> examples = Examples.of_pairs({"law": [TrainingPair("lease", "le bail"), TrainingPair("law", "la loi")]})
    >>> learner = StudentLearner(tiny_base(folder), Hyperparameters(), np.eye(2, 16, dtype=np.float32))
    >>> batch = next(Batches(examples, 2).from_start())
    >>> sorted(learner(batch, learner.texts(examples.queries, examples.passages), 0))
    ['contrast', 'distance', 'loss']
    """

    def __init__(self, base: StartingModel, training: Hyperparameters, teacher: F32) -> None:
        """Start from a base whose vectors have the teacher's width."""
        super().__init__(base, training)
        width = self.model.config.hidden_size
        if teacher.ndim != 2 or teacher.shape[1] != width:
            raise DataError(f"vectors of a teacher of shape {teacher.shape}; the model to train has vectors of {width} numbers")
        lengths = torch.linalg.vector_norm(torch.from_numpy(teacher), dim=1, keepdim=True).clamp(min=1e-9)
        self.register_buffer("teacher", torch.from_numpy(teacher) / lengths, persistent=False)

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """The distances of both sides from the teacher's vectors."""
        teacher: Tensor = self.get_buffer("teacher")
        aims = teacher[move_to_device(batch.query, self.device).long()]
        allowed = move_to_device(batch.allowed[:, : len(batch)], self.device).T
        rows = [texts.passages[place] for place in batch.passage[: len(batch)]], [texts.queries[place] for place in batch.query]
        sides = [self.vectors(some, side) for some, side in zip(rows, (Side.PASSAGE, Side.QUERY), strict=True)]
        distance = torch.stack([1 - (side.float() * aims).sum(dim=1).mean() for side in sides]).mean()
        cosines = [side.float() @ aims.T for side in sides]
        contrast = torch.stack([nt_xent(some, allowed, self.training_settings.temperature) for some in cosines]).mean()
        return {"distance": distance, "contrast": contrast, "loss": distance + contrast}
