"""The lexicon of everyday words in a search as data."""

from __future__ import annotations

from pathlib import Path

from lexfuse.channels.lexical.everyday_words import KEPT, WEIGHT, EverydayWords
from lexfuse.data.validation import Model, Share
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.everyday.lexicon import FILE_NAME, Lexicon, everyday_lexicon


class LexiconSpec(Model):
    """Which everyday words are expanded in the lexical channel, and with which weights.

    >>> LexiconSpec(weight=2.0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: weight must be at most 1, got 2.0
    """

    weight: Share = WEIGHT  # of the words of the law that are added, where a word of the question has 1; 0 switches it off
    kept: Share = KEPT  # of the everyday words themselves
    everyday: bool = True  # whether the lexicon that LexFuse ships is used, and the one in the index folder
    file: str = ""  # one more lexicon, whose entries come first

    def open(self, snapshot: Snapshot) -> EverydayWords:
        """The lexicon on a snapshot: the shipped one, extended by that of the index folder, extended by the file.

        >>> LexiconSpec().open(snapshot).weight == WEIGHT
        True
        """
        lexicon = everyday_lexicon() if self.everyday else Lexicon()
        for path in self._files(snapshot):
            lexicon = lexicon.extended(Lexicon.read(path))
        return EverydayWords(snapshot, lexicon, self.weight, self.kept)

    def _files(self, snapshot: Snapshot) -> list[Path]:
        own = snapshot.folder / FILE_NAME if self.everyday and isinstance(snapshot, FolderSnapshot) else None
        return [*([own] if own and own.is_file() else []), *([Path(self.file)] if self.file else [])]
