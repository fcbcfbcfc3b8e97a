"""The inverted file: the documents of every term, with a weight each.

Weights are term frequencies in lexical channels and impacts in learned sparse ones. Terms are sorted and documents ascend inside
a list, so the same documents give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, offsets_of, read_only
from lexfuse.errors import DataError
from lexfuse.storage.array_file import checked_offsets, map_array, save_array
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class InvertedFile:
    """Posting lists in CSR over sorted terms, and the length (sum of weights) of every document.

    >>> file = InvertedFile.of([["loi", "droit", "loi"], ["droit"]])
    >>> list(file.terms), file.postings("droit")[0].tolist(), file.postings("loi")[1].tolist(), file.lengths.tolist()
    (['droit', 'loi'], [0, 1], [2.0], [3.0, 1.0])
    """

    terms: StringList
    offsets: I64
    docs: I32
    weights: F32
    lengths: F32

    @classmethod
    def of(cls, documents: Sequence[Sequence[str]]) -> InvertedFile:
        """Build from documents given as lists of terms."""
        vocabulary = Vocabulary()
        rows = [np.array([vocabulary.learn(term) for term in document], dtype=np.int32) for document in documents]
        return cls.from_rows(rows, vocabulary)

    @classmethod
    def from_rows(cls, rows: Sequence[I32], vocabulary: Vocabulary, weights: Sequence[F32] | None = None) -> InvertedFile:
        """Build from documents given as arrays of term ids, with a weight per occurrence (default 1).

        >>> InvertedFile.from_rows([np.array([0, 0], np.int32)], Vocabulary(["loi"])).weights.tolist()
        [2.0]
        """
        from lexfuse.kernels.postings import invert

        starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
        terms = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        each = np.concatenate(weights) if weights else np.empty(0, dtype=np.float32)
        by_name = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        place = np.empty(len(vocabulary), dtype=np.int32)
        place[by_name] = np.arange(len(vocabulary), dtype=np.int32)
        offsets, docs, sums, lengths = invert(starts, terms, each, place)
        used = np.flatnonzero(np.diff(offsets))
        names = StringList.of(vocabulary[by_name[at]] for at in used)
        kept = np.concatenate((offsets[:1], offsets[1:][used]))
        return cls(names, read_only(kept), read_only(docs), read_only(sums), read_only(lengths))

    @property
    def document_frequency(self) -> I64:
        """The number of documents with each term."""
        return np.diff(self.offsets)

    def postings(self, term: str) -> tuple[I32, F32]:
        """Documents and weights of a term; empty if it does not occur."""
        at = self.terms.find(term)
        if at is None:
            return self.docs[:0], self.weights[:0]
        span = slice(int(self.offsets[at]), int(self.offsets[at + 1]))
        return self.docs[span], self.weights[span]

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the arrays into a folder, yielding each path."""
        yield from self.terms.save(folder / "terms")
        for name in _ARRAYS:
            yield save_array(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> InvertedFile:
        """Map a saved inverted file into memory; data is read on demand.

        >>> _ = list(InvertedFile.of([["a"]]).save(folder))
        >>> InvertedFile.load(folder).postings("a")[0].tolist()
        [0]
        """
        arrays = {name: map_array(folder / f"{name}.npy", dtype) for name, dtype in _ARRAYS.items()}
        terms = StringList.load(folder / "terms")
        checked_offsets(arrays["offsets"], len(arrays["docs"]), folder / "offsets.npy")
        if len(arrays["offsets"]) != len(terms) + 1 or len(arrays["weights"]) != len(arrays["docs"]):
            raise DataError("the files do not belong together; restore them, or rebuild the index", path=folder)
        return cls(terms, **arrays)


_ARRAYS = {"offsets": np.int64, "docs": np.int32, "weights": np.float32, "lengths": np.float32}
