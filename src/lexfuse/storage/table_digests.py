"""Checksums of the catalog's tables. SQLite has none: a changed byte in a number or name would go unnoticed.

The digest of a table is the number of its rows and the sum of their hashes, so that rows can be added and removed without reading
the others. A writer checks the digests of the small tables before it changes them, so that damage is never included in a new
digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

DIGESTS = "digests"  # the setting with the digests; an older index has none
_BITS = 64


class Digest(NamedTuple):
    """The digest of a set of rows; digests can be added and subtracted.

    >>> some, others = Digest.of([(1, "a")]), Digest.of([(2, None), (3, b"b")])
    >>> some.plus(others) == Digest.of([(3, b"b"), (1, "a"), (2, None)]), some.plus(others).minus(others) == some
    (True, True)
    """

    rows: int
    total: int

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Digest:
        """The digest of these rows; numbers, texts, bytes and nulls are distinguished."""
        hashes = [blake2b(repr(tuple(row)).encode("utf-8", "surrogatepass"), digest_size=_BITS // 8).digest() for row in rows]
        return cls(len(hashes), sum(int.from_bytes(one, "big") for one in hashes) % 2**_BITS)

    def plus(self, other: Digest) -> Digest:
        """The digest of both sets."""
        return Digest(self.rows + other.rows, (self.total + other.total) % 2**_BITS)

    def minus(self, other: Digest) -> Digest:
        """The digest without the other set."""
        return Digest(self.rows - other.rows, (self.total - other.total) % 2**_BITS)

    @property
    def text(self) -> str:
        """The stored form."""
        return f"{self.rows}:{self.total:0{_BITS // 4}x}"

    @classmethod
    def parse(cls, text: str) -> Digest:
        """Parse the stored form; a `ValueError` if it is invalid.

        >>> Digest.parse("2:00000000000000ff")
        Digest(rows=2, total=255)
        """
        rows, _, total = text.partition(":")
        digest = cls(int(rows), int(total, 16))
        if digest.text != text:
            raise ValueError(f"no digest: {text!r}")
        return digest
