"""Check sums of the catalog's tables. SQLite keeps none: a changed byte in a number or a name would pass unseen.

The digest of a table is the number of its rows and the sum of their hashes, so that rows are added and taken away without
reading the others. A writer compares the digests of the small tables before it changes them: damage is never summed up as if
it were meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

DIGESTS = "digests"  # the setting that holds them; an index of an older LexFuse has none
_BITS = 64


class Digest(NamedTuple):
    """The digest of a set of rows; two digests can be added and taken away.

    >>> some, others = Digest.of([(1, "a")]), Digest.of([(2, None), (3, b"b")])
    >>> some.plus(others) == Digest.of([(3, b"b"), (1, "a"), (2, None)]), some.plus(others).minus(others) == some
    (True, True)
    """

    rows: int
    total: int

    @classmethod
    def of(cls, rows: Iterable[Sequence[Any]]) -> Digest:
        """The digest of these rows; numbers, texts, bytes and nothing are told apart.

        >>> Digest.of([("1",)]) == Digest.of([(1,)])
        False
        """
        hashes = [blake2b(repr(tuple(row)).encode("utf-8", "surrogatepass"), digest_size=_BITS // 8).digest() for row in rows]
        return cls(len(hashes), sum(int.from_bytes(one, "big") for one in hashes) % 2**_BITS)

    def plus(self, other: Digest) -> Digest:
        """The digest of both."""
        return Digest(self.rows + other.rows, (self.total + other.total) % 2**_BITS)

    def minus(self, other: Digest) -> Digest:
        """The digest of what is left without the other."""
        return Digest(self.rows - other.rows, (self.total - other.total) % 2**_BITS)

    @property
    def text(self) -> str:
        """As it is kept.

        >>> Digest(2, 255).text
        '2:00000000000000ff'
        """
        return f"{self.rows}:{self.total:0{_BITS // 4}x}"

    @classmethod
    def parse(cls, text: str) -> Digest:
        """A digest as it was kept; a `ValueError` for what is none.

        >>> Digest.parse("2:00000000000000ff")
        Digest(rows=2, total=255)
        """
        rows, _, total = text.partition(":")
        digest = cls(int(rows), int(total, 16))
        if digest.text != text:
            raise ValueError(f"no digest: {text!r}")
        return digest
