"""A segment: documents that were added together, built, and kept as immutable files in one folder.

Documents are sorted by id, so that within a segment the lower ordinal wins ties, and the same documents give the same bytes in
any order of input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32, I32
from lexfuse.data.document import Document
from lexfuse.data.files import make_folder
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.manifest import read_manifest, write_manifest
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.position_builder import PositionBuilder, marked_pieces
from lexfuse.storage.segments.position_file import PositionFile
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

LEXICAL = "bm25"
POSITIONS = "positions"  # their folder


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Document ids, one inverted file per channel, and the positions of words; one of an older LexFuse has none.

    >>> segment = Segment(StringList.of(["a"]), {"bm25": InvertedFile.of([["loi"]])})
    >>> sha256 = segment.save(folder / "1")
    >>> list(Segment.load(folder / "1", sha256).ids)
    ['a']
    """

    ids: StringList
    channels: dict[str, InvertedFile]
    positions: PositionFile | None = None

    def save(self, folder: Path) -> str:
        """Write all files, then the manifest, flush them to disk, and return the sha256 of the manifest."""
        files: list[Path] = []
        make_folder(folder.parent)
        folder.mkdir()
        files += self.ids.save(folder / "ids")
        for name, inverted in self.channels.items():
            (folder / name).mkdir()
            files += inverted.save(folder / name)
        if self.positions is not None:
            (folder / POSITIONS).mkdir()
            files += self.positions.save(folder / POSITIONS)
        return write_manifest(folder, files, {"channels": list(self.channels), "positions": self.positions is not None})

    @classmethod
    def load(cls, folder: Path, sha256: str) -> Segment:
        """Map a segment into memory; missing and impossible files are named, changed bytes only by `damages`.

        >>> Segment.load(Path("/nowhere"), "")
        Traceback (most recent call last):
        ...
        lexfuse.errors.NotFoundError: the index lacks its file '/nowhere/manifest.json'; restore it, or rebuild the index
        """
        manifest = read_manifest(folder, sha256)
        channels = {name: InvertedFile.load(folder / name) for name in manifest["channels"]}
        positions = PositionFile.load(folder / POSITIONS) if manifest.get("positions") else None
        segment = cls(StringList.load(folder / "ids"), channels, positions)
        for name, inverted in channels.items():
            if len(inverted.lengths) != len(segment.ids):
                reason = f"has {len(inverted.lengths):,} documents, not {len(segment.ids):,}; restore it, or rebuild the index"
                raise DataError(reason, path=folder / name)
        if positions is not None and len(positions.documents) != len(segment.ids) + 1:
            reason = f"has {len(positions.documents) - 1:,} documents, not {len(segment.ids):,}; restore it, or rebuild the index"
            raise DataError(reason, path=folder / POSITIONS)
        return segment


def build_segment(
    documents: Sequence[Document], settings: IndexSettings, *, progress: Callable[[int], None] = lambda _: None
) -> Segment:
    """A segment of documents, which must be sorted by id.

    >>> build_segment([Document("a", text="la loi", language="fr")], IndexSettings()).channels["bm25"].terms[0]
    'loi'
    """
    vocabulary = Vocabulary()
    encoders: dict[str, TermEncoder] = {}
    positions = PositionBuilder()
    rows: list[I32] = []
    weights: list[F32] = []
    for done, document in enumerate(documents, start=1):
        if document.language not in encoders:
            encoders[document.language] = TermEncoder(_analyser(document, settings), vocabulary)
        encoder = encoders[document.language]
        pieces = [(one, encoder.analyser, marked_pieces(one, encoder.analyser)) for one in settings.field_texts(document)]
        positions.add(pieces)
        parts = [(encoder.encode_pieces(own), one.weight) for one, _, own in pieces]
        rows.append(np.concatenate([terms for terms, _ in parts]) if parts else np.empty(0, dtype=np.int32))
        weights.append(np.repeat(np.array([w for _, w in parts], dtype=np.float32), [len(terms) for terms, _ in parts]))
        progress(done)
    inverted = InvertedFile.from_rows(rows, vocabulary, weights)
    ids = StringList.of(document.id for document in documents)
    return Segment(ids, {LEXICAL: inverted}, positions.built(inverted.terms))


def _analyser(document: Document, settings: IndexSettings) -> Analyser:
    try:
        return settings.analyser(document.language)
    except ConfigError as error:
        raise DataError(f"document {document.id!r}: {error}") from None
