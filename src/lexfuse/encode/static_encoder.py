"""Texts as means of word vectors: an encoder that needs no model, and BSARD's word2vec and fastText baselines.

The vector of a text is the mean of its word vectors, weighted by count and optionally by idf, and normalised. A text without
known words has the zero vector. Besides files of word vectors (see `lexfuse.encode.word_vector_file`) it reads the folder that
``lexfuse train static`` writes:

    static.json             how text becomes words, the default weighting, the origin of the vectors
    words.offsets.npy       the words, as `lexfuse.storage.string_list` stores them
    words.bytes.npy
    vectors.npy             one row after the other, 16-bit floats
    idf.npy                 ln((N + 1) / (df + 1)) of every word
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lexfuse.data.arrays import F32, F64, read_only
from lexfuse.data.files import existing
from lexfuse.encode.encoder import Progress, Side, check_texts, no_progress
from lexfuse.encode.word_vector_file import read_word_vectors
from lexfuse.encode.word_vectors import WordVectors
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.array_file import map_array, save_array
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.analysis.language_table import unstated_version
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

DESCRIPTION = "static.json"
FORMAT = "lexfuse static vectors 1"
_SWITCHES = ("stems", "stop_words", "citations")


class WordWeighting(StrEnum):
    """The weight of a word in the mean."""

    NONE = "none"  # each occurrence the same
    IDF = "idf"  # rare words more


def plain_words(language: str = "") -> Analyser:
    """The analyser of published word vectors: lower-case words with their accents.

    >>> plain_words().terms("L'employé, art. 3")
    ['employé', 'art']
    """
    version = unstated_version(language)  # so that the fingerprint of an old channel holds
    return Analyser(language, stems=False, stop_words=False, citations=False, folding=Folding.KEEP, version=version)


@dataclass(frozen=True, slots=True, eq=False)
class StaticEncoder:
    """Word vectors, the analysis of text, and the weighting of words.

    >>> vectors = WordVectors(Vocabulary(["droit", "loi"]), np.eye(2, dtype=np.float32))
    >>> StaticEncoder(vectors, plain_words()).encode(["Loi, loi !", "???"], Side.QUERY).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    vectors: WordVectors
    analyser: Analyser
    idf: F32 = field(default_factory=lambda: np.empty(0, dtype=np.float32))  # of every word, or empty if unknown
    weighting: WordWeighting = WordWeighting.NONE
    origin: Mapping[str, Any] = field(default_factory=dict)  # how the vectors were made
    _terms: TermEncoder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a weighting without its weights."""
        if len(self.idf) not in (0, len(self.vectors.words)):
            raise ConfigError(f"{len(self.vectors.words):,} words need as many idf values, got {len(self.idf):,}")
        if self.weighting is WordWeighting.IDF and not len(self.idf):
            raise ConfigError("these vectors come without idf; use weighting none, or give them idf with lexfuse train static")
        object.__setattr__(self, "_terms", TermEncoder(self.analyser, self.vectors.words, grows=False))

    @classmethod
    def load(cls, name: str | Path, *, weighting: WordWeighting | None = None) -> StaticEncoder:
        """Load a folder from ``lexfuse train static``, or a file of word vectors, which has no idf and uses plain words."""
        path = existing(name)
        encoder = _read_folder(path) if path.is_dir() else cls(read_word_vectors(path), plain_words())
        return encoder if weighting is None else replace(encoder, weighting=weighting)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self.vectors.dimension

    @property
    def fingerprint(self) -> str:
        """Equal for two encoders if and only if they give the same vectors."""
        digest = hashlib.sha256(orjson.dumps([_shown(self.analyser), self.weighting.value], option=orjson.OPT_SORT_KEYS))
        digest.update("\n".join(self.vectors.words).encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(self.vectors.matrix).data)
        if self.vectors.subwords is not None:
            digest.update(self.vectors.subwords.fingerprint.encode())
        if self.weighting is WordWeighting.IDF:
            digest.update(np.ascontiguousarray(self.idf).data)
        return digest.hexdigest()[:32]

    @property
    def normalises(self) -> bool:
        """True: all vectors have length one, except that of a text without known words."""
        return True

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> F32:
        """One row per text; both sides are read alike. A text without known words gives zeros."""
        check_texts(texts)
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at, text in enumerate(texts):
            total = self._sum_of_any(text) if self.vectors.subwords is not None else self._sum_of_known(text)
            length = float(np.sqrt(np.square(total).sum()))
            if length > 0:
                rows[at] = total / length
            progress(at + 1)
        return rows

    def _sum_of_known(self, text: str) -> F64:
        """The weighted sum over the words of a text; it has the direction of the mean."""
        words, counts = np.unique(self._terms.encode(text), return_counts=True)
        weights = counts.astype(np.float64)
        if self.weighting is WordWeighting.IDF:
            weights *= self.idf[words]
        total: F64 = weights @ self.vectors.matrix[words].astype(np.float64)
        return total

    def _sum_of_any(self, text: str) -> F64:
        """The same if unknown words have vectors too; they weigh as much as the rarest word."""
        total = np.zeros(self.dimension)
        rarest = float(self.idf.max(initial=0.0)) if self.weighting is WordWeighting.IDF else 1.0
        for word, count in sorted(Counter(self.analyser.terms(text)).items()):
            vector, place = self.vectors.of(word), self.vectors.words.find(word)
            if vector is not None:
                known = self.weighting is WordWeighting.IDF and place is not None
                total += count * (float(self.idf[place]) if known else rarest) * vector.astype(np.float64)
        return total

    def save(self, folder: Path) -> Iterator[Path]:
        """Write the files into an existing folder and return their paths; n-grams of fastText are not saved.

        >>> encoder = StaticEncoder(WordVectors(Vocabulary(["loi"]), np.eye(1, dtype=np.float32)), plain_words())
        >>> [path.name for path in encoder.save(folder)]
        ['words.offsets.npy', 'words.bytes.npy', 'vectors.npy', 'idf.npy', 'static.json']
        """
        yield from StringList.of(self.vectors.words).save(folder / "words")
        yield save_array(folder / "vectors.npy", self.vectors.matrix.astype(np.float16).reshape(-1))
        yield save_array(folder / "idf.npy", self.idf.astype(np.float32))
        values = {
            "format": FORMAT,
            "dimension": self.dimension,
            "analysis": _shown(self.analyser),
            "weighting": self.weighting.value,
            "origin": dict(self.origin),
        }
        description = folder / DESCRIPTION
        description.write_bytes(orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        yield description


def is_static(path: str | Path) -> bool:
    """Whether a folder has static word vectors."""
    return Path(path, DESCRIPTION).is_file()


def _shown(analyser: Analyser) -> dict[str, Any]:
    switches = {name: getattr(analyser, name) for name in _SWITCHES}
    shown = {"language": analyser.language, **switches, "folding": analyser.folding.value}
    return shown if analyser.version == unstated_version(analyser.language) else shown | {"version": analyser.version}


def _read_folder(folder: Path) -> StaticEncoder:
    if not is_static(folder):
        raise DataError(
            f"no folder of static word vectors: it has no {DESCRIPTION}; make one with lexfuse train static", path=folder
        )
    try:
        values = orjson.loads((folder / DESCRIPTION).read_bytes())
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']!r}, expected {FORMAT!r}")
        analysis = dict(values["analysis"])
        stems, stop_words, citations = (bool(analysis[name]) for name in _SWITCHES)
        folding, spoken = Folding(analysis["folding"]), analysis["language"]
        version = int(analysis.get("version", unstated_version(spoken)))
        analyser = Analyser(spoken, stems, stop_words, citations, folding, version)
        words, dimension = StringList.load(folder / "words").strings(), int(values["dimension"])
        flat, idf = map_array(folder / "vectors.npy", np.float16), map_array(folder / "idf.npy", np.float32)
        if dimension < 1 or len(flat) != dimension * len(words) or len(idf) not in (0, len(words)):
            raise ValueError(f"{len(words):,} words, {len(flat):,} numbers and {len(idf):,} idf values do not belong together")
        if len(set(words)) != len(words) or not np.isfinite(flat).all() or not np.isfinite(idf).all():
            raise ValueError("a word comes twice, or a number is nan or infinite")
        vectors = WordVectors(Vocabulary(words), read_only(flat.reshape(-1, dimension).view()))
        return StaticEncoder(vectors, analyser, idf, WordWeighting(values["weighting"]), values.get("origin") or {})
    except (DataError, NotFoundError, ConfigError, ValueError, KeyError, TypeError, OSError) as error:
        raise DataError(f"the word vectors are damaged ({error}); copy or train them again", path=folder) from None
