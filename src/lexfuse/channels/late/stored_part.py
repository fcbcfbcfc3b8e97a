"""Token vectors of documents on disk, compressed, with the documents of every centroid.

What is stored is the vector from then on: scores are defined by it, not by what it was compressed from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.channels.late.codec import EncodedTokens, TokenCodec, checked
from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of, read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels.levels import U8
from lexfuse.storage.array_file import checked_offsets, map_array, save_array
from lexfuse.storage.stored_channel import NO_OPTIONS, Option

_TOGETHER = 1 << 15  # vectors that are compressed at once


@dataclass(frozen=True, slots=True, eq=False)
class TokenPart:
    """The token vectors of one block of documents: document i has the tokens from starts[i] to starts[i + 1].

    >>> vectors = np.eye(4, dtype=np.float32)
    >>> part = TokenPart.of([vectors[:3], vectors[3:]], TokenCodec.trained(vectors, bits=8))
    >>> len(part), part.starts.tolist(), part.vectors(1).round(3).tolist()
    (2, [0, 3, 4], [[0.0, 0.0, 0.0, 1.0]])
    """

    codec: TokenCodec
    starts: I64
    codes: I32  # the centroid of every token
    scales: F32
    residuals: U8  # tokens x bytes
    lists: I64  # where the documents of every centroid start
    members: I32  # documents, ascending, each once for a centroid

    @classmethod
    def of(cls, documents: Iterable[F32], codec: TokenCodec) -> TokenPart:
        """Store documents, each given as a table of its token vectors; they are taken one after the other.

        >>> TokenPart.of([], TokenCodec.trained(np.eye(4, dtype=np.float32), bits=2)).starts.tolist()
        [0]
        """
        lengths: list[int] = []
        stored: list[EncodedTokens] = []
        waiting: list[F32] = []
        for vectors in documents:
            lengths.append(len(vectors))
            waiting.append(checked(np.asarray(vectors, dtype=np.float32), codec.dimension))
            if sum(map(len, waiting)) >= _TOGETHER:
                stored.append(codec.encoded(np.concatenate(waiting)))
                waiting = []
        stored.append(codec.encoded(np.concatenate([*waiting, np.empty((0, codec.dimension), dtype=np.float32)])))
        arrays = (np.concatenate([getattr(some, name) for some in stored]) for name in EncodedTokens._fields)
        return cls._listed(codec, offsets_of(np.array(lengths, dtype=np.int64)), EncodedTokens(*arrays))

    @classmethod
    def _listed(cls, codec: TokenCodec, starts: I64, stored: EncodedTokens) -> TokenPart:
        """A part with the documents of every centroid."""
        lists, members = _documents(stored.codes, starts, len(codec.centroids))
        codes, scales, residuals = stored
        return cls(
            codec,
            read_only(starts),
            read_only(codes),
            read_only(scales),
            read_only(residuals),
            read_only(lists),
            read_only(members),
        )

    def __len__(self) -> int:
        """How many documents."""
        return len(self.starts) - 1

    @property
    def tokens(self) -> int:
        """How many token vectors."""
        return len(self.codes)

    @property
    def bytes(self) -> int:
        """Bytes of the arrays."""
        kept = [getattr(self, name) for name in _ARRAYS]
        return self.codec.bytes + sum(int(array.nbytes) for array in (*kept, self.residuals))

    def vectors(self, document: int) -> F32:
        """The token vectors of a document, as they are stored."""
        span = slice(int(self.starts[document]), int(self.starts[document + 1]))
        return self.codec.decoded(EncodedTokens(self.codes[span], self.scales[span], self.residuals[span]))

    @property
    def inverted(self) -> None:
        """None: token vectors have no posting lists."""
        return None

    @property
    def posting_rows(self) -> None:
        """None: token vectors have no posting lists."""
        return None

    def save(self, folder: Path, options: Mapping[str, Option] = NO_OPTIONS) -> Iterator[Path]:
        """Write the arrays into a folder and yield each file."""
        yield from self.codec.save(folder)
        for name in _ARRAYS:
            yield save_array(folder / f"{name}.npy", getattr(self, name))
        yield save_array(folder / "residuals.npy", self.residuals.reshape(-1))

    @classmethod
    def load(cls, folder: Path, files: Collection[str] = ()) -> TokenPart:
        """Map a saved part into memory, and check that its files belong together."""
        codec = TokenCodec.load(folder)
        arrays = {name: map_array(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items()}
        residuals = map_array(folder / "residuals.npy", np.uint8)
        tokens, documents = len(arrays["codes"]), len(arrays["starts"]) - 1
        checked_offsets(arrays["starts"], tokens, folder / "starts.npy")
        checked_offsets(arrays["lists"], len(arrays["members"]), folder / "lists.npy")
        fits = len(arrays["scales"]) == tokens and len(residuals) == tokens * codec.layout.bytes
        fits = fits and len(arrays["lists"]) == len(codec.centroids) + 1
        if not (fits and _within(arrays["codes"], len(codec.centroids)) and _within(arrays["members"], documents)):
            raise DataError("the files do not belong together; restore them, or rebuild the index", path=folder)
        return cls(codec=codec, residuals=residuals.reshape(tokens, codec.layout.bytes), **arrays)

    @classmethod
    def merged(cls, parts: Sequence[TokenPart], kept: Sequence[Bools]) -> TokenPart:
        """The documents that are kept of several parts, one after the other; the parts must share one codec.

        >>> codec = TokenCodec.trained(np.eye(4, dtype=np.float32), bits=2)
        >>> parts = [TokenPart.of([np.eye(4, dtype=np.float32)[:n]], codec) for n in (1, 2)]
        >>> TokenPart.merged(parts, [np.array([True])] * 2).starts.tolist()
        [0, 1, 3]
        """
        check_one_codec(parts)
        lengths = [np.diff(part.starts) for part in parts]
        tokens = [np.repeat(flags, length) for flags, length in zip(kept, lengths, strict=True)]
        chosen = zip(parts, tokens, strict=True)
        stored = [EncodedTokens(part.codes[some], part.scales[some], part.residuals[some]) for part, some in chosen]
        arrays = (np.concatenate([getattr(some, name) for some in stored]) for name in EncodedTokens._fields)
        counts = np.concatenate([length[flags] for length, flags in zip(lengths, kept, strict=True)])
        return cls._listed(parts[0].codec, offsets_of(counts), EncodedTokens(*arrays))


_ARRAYS = {"starts": np.int64, "codes": np.int32, "scales": np.float32, "lists": np.int64, "members": np.int32}


def check_one_codec(parts: Sequence[TokenPart]) -> None:
    """`ConfigError` unless all parts are compressed in the same way."""
    if any(not part.codec.same(parts[0].codec) for part in parts):
        raise ConfigError("parts of late interaction are compressed in different ways; encode the documents again")


def _documents(codes: I32, starts: I64, centroids: int) -> tuple[I64, I32]:
    """For every centroid the documents with a token there: offsets and documents."""
    documents = max(1, len(starts) - 1)
    owner = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
    pairs = np.unique(codes.astype(np.int64) * documents + owner)
    centroid, members = np.divmod(pairs, documents)
    return np.searchsorted(centroid, np.arange(centroids + 1)).astype(np.int64), members.astype(np.int32)


def _within(numbers: I32, end: int) -> bool:
    """Whether numbers point to something."""
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < end)
