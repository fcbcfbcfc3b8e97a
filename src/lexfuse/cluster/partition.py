"""Which shard owns a document: a stable hash of its id, the same in every process and on every machine."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from lexfuse.data.document import Document
from lexfuse.errors import ConfigError


def owner(id: str, shards: int) -> int:
    """The number of the shard that owns a document.

    >>> [owner(id, 3) for id in ("lib-1", "lib-2", "lib-3", "lib-4")]
    [1, 2, 2, 2]
    """
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % checked_shards(shards)


def partition(documents: Iterable[Document], shards: int) -> list[list[Document]]:
    """The documents of every shard, in the order in which they are given.

    >>> [[document.id for document in some] for some in partition([Document("lib-1"), Document("lib-4")], 2)]
    [[], ['lib-1', 'lib-4']]
    """
    owned: list[list[Document]] = [[] for _ in range(checked_shards(shards))]
    for document in documents:
        owned[owner(document.id, shards)].append(document)
    return owned


def checked_shards(shards: int) -> int:
    """The number of shards if it makes sense.

    >>> checked_shards(0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a cluster needs at least 1 shard, got 0
    """
    if shards < 1:
        raise ConfigError(f"a cluster needs at least 1 shard, got {shards}")
    return shards
