"""The interface of encoders that turn texts into single vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

from lexfuse.data.arrays import F32
from lexfuse.errors import ConfigError

Progress = Callable[[int], None]  # gets the number of finished texts
Encoded = TypeVar("Encoded")


def no_progress(_: int) -> None:
    """Ignore progress."""


def check_texts(texts: Sequence[str]) -> None:
    """Refuse a single text where a list of texts is expected: its letters would be encoded one by one."""
    if isinstance(texts, str):
        raise ConfigError("expected a list of texts, got one text; put it into a list")


def encoded_once(
    texts: Sequence[str], block: int, encode: Callable[[list[str], Progress], Iterable[Encoded]], progress: Progress
) -> list[Encoded]:
    """What ``encode`` makes of each text, given in blocks of distinct texts; ``progress`` counts repeated texts too.

    >>> encoded_once(["loi", "la", "loi"], 1, lambda some, progress: [text.upper() for text in some], print)
    3
    ['LOI', 'LA', 'LOI']
    """
    check_texts(texts)
    distinct = list(dict.fromkeys(texts))
    found: dict[str, Encoded] = {}
    for start in range(0, len(distinct), block):

        def scaled(done: int, start: int = start) -> None:
            progress(len(texts) * (start + done) // len(distinct))

        some = distinct[start : start + block]
        found.update(zip(some, encode(some, scaled), strict=True))
    progress(len(texts))
    return [found[text] for text in texts]


class Encoder(Protocol):
    """Turns texts into rows of vectors.

    >>> from lexfuse.encode.dense_encoder import DenseEncoder
    >>> DenseEncoder.load("fr-legal-dense").encode(["la loi"], Side.QUERY).shape
    (1, 384)
    """

    @property
    def fingerprint(self) -> str:
        """Equal for two encoders if and only if they give the same vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def normalises(self) -> bool:
        """Whether all vectors have length one (or zero)."""

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> F32:
        """One row per text, in order; ``progress`` gets the number of finished texts."""


class Side(StrEnum):
    """The role of a text in a search."""

    QUERY = "query"
    PASSAGE = "passage"
