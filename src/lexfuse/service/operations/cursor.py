"""Cursors: where a next page begins, bound to the version of the index and to everything that was asked.

A cursor is text that says nothing of the question: the place, the version, and a digest of what was asked.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass

import orjson

from lexfuse.errors import CursorError

_LONGEST = 200  # characters of a cursor


@dataclass(frozen=True, slots=True)
class Cursor:
    """A page of one ranking of one version of an index.

    >>> cursor = Cursor(10, 3, digest("loi", "bm25"))
    >>> Cursor.parse(cursor.text(), digest("loi", "bm25")) == cursor
    True
    """

    after: int  # results on the pages before
    generation: int
    asked: str  # digest of what was asked

    def text(self) -> str:
        """The cursor as it is handed out."""
        return base64.urlsafe_b64encode(orjson.dumps([self.after, self.generation, self.asked])).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, asked: str) -> Cursor:
        """Parse a cursor; `CursorError` if the text is not one, or belongs to another question.

        >>> Cursor.parse("x", "")
        Traceback (most recent call last):
        ...
        lexfuse.errors.CursorError: this is not a cursor; pass the next_cursor of the previous page unchanged
        """
        try:
            if len(text) > _LONGEST:
                raise ValueError
            after, generation, digest = orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True))
        except (ValueError, TypeError, binascii.Error):
            raise CursorError("this is not a cursor; pass the next_cursor of the previous page unchanged") from None
        if not (isinstance(after, int) and isinstance(generation, int) and isinstance(digest, str) and after >= 0):
            raise CursorError("this is not a cursor; pass the next_cursor of the previous page unchanged")
        if digest != asked:
            raise CursorError("the cursor belongs to another question, filter, profile or page size; begin at the first page")
        return cls(after, generation, digest)


def digest(*asked: object) -> str:
    """A short digest of what was asked.

    >>> digest("a", 1) == digest("a", 1), digest("a", "1") == digest("a", 1)
    (True, False)
    """
    return hashlib.blake2b(repr(asked).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
