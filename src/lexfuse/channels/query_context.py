"""A query context: inside it every question is analysed and encoded once per reader, however often it is needed.

A search reads its question again and again: to retrieve, for the exact scores of what only other channels found, to explain,
and to choose what to show. Retrievers read through `read_once`, which keeps the rows as long as the context is open. A context
lives for one call or one block of queries (`query_blocks`), so memory stays bounded. Threads that are started with a copy of the
context (`contextvars.copy_context`) share it: two that need the same row read it once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

from lexfuse.data.queries import Queries

BLOCK_QUERIES = 1024
BLOCK_CHARACTERS = 1 << 20  # of the queries of a block: a judgment has hundreds of sentences, and each has a vector

Asked = TypeVar("Asked", bound=Hashable)
Row = TypeVar("Row")


class QueryContext:
    """The rows of questions that were read, by reader.

    >>> context = QueryContext()
    >>> analyser, texts = object(), []
    >>> def read(some):
    ...     texts.extend(some)
    ...     return [text.split() for text in some]
    >>> context.rows(analyser, "words", ["a b", "c"], read), context.rows(analyser, "words", ["c", "d"], read)
    ([['a', 'b'], ['c']], [['c'], ['d']])
    >>> texts
    ['a b', 'c', 'd']
    """

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._lock = Lock()
        self._readers: dict[tuple[int, Hashable], tuple[object, dict[Any, tuple[Future[Sequence[Any]], int]]]] = {}

    def rows(
        self, reader: object, kind: Hashable, asked: Sequence[Asked], read: Callable[[list[Asked]], Sequence[Row]]
    ) -> Sequence[Row]:
        """See `read_once`."""
        batch: Future[Sequence[Row]] = Future()
        with self._lock:
            _, known = self._readers.setdefault((id(reader), kind), (reader, {}))  # a reader that lives keeps its id
            missing = [one for one in dict.fromkeys(asked) if one not in known]
            known.update((one, (batch, place)) for place, one in enumerate(missing))
            found = [known[one] for one in asked]
        if missing:
            try:
                batch.set_result(read(missing))
            except BaseException as error:  # other threads that wait get it too; the next request tries again
                with self._lock:
                    for one in missing:
                        known.pop(one, None)
                batch.set_exception(error)
                raise
        return [rows.result()[place] for rows, place in found]

    def known(self, reader: object, kind: Hashable, one: Hashable) -> Any | None:
        """See `known_row`."""
        with self._lock:
            _, known = self._readers.get((id(reader), kind), (reader, {}))
            rows, place = known.get(one, (None, 0))
        return None if rows is None else rows.result()[place]


_current: ContextVar[QueryContext | None] = ContextVar("query context", default=None)


@contextmanager
def query_context(*, new: bool = False) -> Iterator[None]:
    """Open a context for one call; inside another one that one serves, unless a new one is wanted.

    >>> with query_context():
    ...     [read_once(_current, "lengths", ["loi"], lambda some: [len(some)]) for _ in range(2)]
    [[1], [1]]
    """
    if _current.get() is not None and not new:
        yield
        return
    token = _current.set(QueryContext())
    try:
        yield
    finally:
        _current.reset(token)


def read_once(
    reader: object, kind: Hashable, asked: Sequence[Asked], read: Callable[[list[Asked]], Sequence[Row]]
) -> Sequence[Row]:
    """What `read` makes of everything asked, a row each, in order; inside a context each is read once.

    `reader` is what the rows depend on, an encoder or the posting lists of an index; `kind` says what is made of a question where
    a reader makes several things.

    >>> read_once("a reader", "capitals", ["loi", "loi"], lambda some: [text.upper() for text in some])
    ['LOI', 'LOI']
    """
    context = _current.get()
    return context.rows(reader, kind, asked, read) if context and asked else read(list(asked))


def known_row(reader: object, kind: Hashable, one: Hashable) -> Any | None:
    """What `read_once` has made of something in this context before, if anything.

    >>> with query_context():
    ...     _ = read_once("a reader", "capitals", ["loi"], lambda some: [text.upper() for text in some])
    ...     known_row("a reader", "capitals", "loi"), known_row("a reader", "capitals", "droit")
    ('LOI', None)
    """
    context = _current.get()
    return context.known(reader, kind, one) if context else None


def query_blocks(queries: Queries) -> Iterator[range]:
    """The ordinals of queries, block by block: what is read of a block fits into memory.

    >>> list(query_blocks(Queries.of([Query("q", "loi"), Query("long", "loi " * BLOCK_CHARACTERS), Query("p", "loi")])))
    [range(0, 1), range(1, 2), range(2, 3)]
    """
    first, size = 0, 0
    for at, text in enumerate(queries.text):
        if at > first and (at - first == BLOCK_QUERIES or size + len(text) > BLOCK_CHARACTERS):
            yield range(first, at)
            first, size = at, 0
        size += len(text)
    if len(queries):
        yield range(first, len(queries))
