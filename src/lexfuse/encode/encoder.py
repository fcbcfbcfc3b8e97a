"""What every encoder of texts into single vectors offers, whatever is inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from lexfuse.data.arrays import F32

Progress = Callable[[int], None]  # told how many texts are done


def no_progress(_: int) -> None:
    """Progress that nobody looks at.

    >>> no_progress(3)
    """


class Encoder(Protocol):
    """Texts in, rows of vectors out.

    >>> from lexfuse.encode.dense_encoder import DenseEncoder
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

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> F32:
        """One row a text, in order; ``progress`` is told how many texts are done."""


class Side(StrEnum):
    """What a text is to a search.

    >>> Side("query")
    <Side.QUERY: 'query'>
    """

    QUERY = "query"
    PASSAGE = "passage"
