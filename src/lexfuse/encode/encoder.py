"""What every encoder of texts into single vectors offers, whatever is inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from lexfuse.data.arrays import F32
from lexfuse.encode.sides import Side

Progress = Callable[[int], None]  # told how many texts are done


def unseen(_: int) -> None:
    """Progress that nobody looks at.

    >>> unseen(3)
    """


class Encoder(Protocol):
    """Texts in, rows of vectors out.

    >>> from lexfuse.encode.dense import DenseEncoder
    >>> DenseEncoder.load("fr-legal-dense").encode(["la loi"], Side.QUERY).shape
    (1, 384)
    """

    @property
    def fingerprint(self) -> str:
        """The same for two encoders exactly when they give the same vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def normalises(self) -> bool:
        """Whether all vectors have length one (or zero)."""

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = unseen) -> F32:
        """One row a text, in order; ``progress`` is told how many texts are done."""
