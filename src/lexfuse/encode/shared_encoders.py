"""Share loaded models: each is loaded once, encodes the queries of several threads in one batch, and caches them.

A service opens the same channels repeatedly: for every profile, and for every new version of an index. Inside `sharing`,
`lexfuse.channels.encoded_kind` takes encoders from a `SharedEncoders`. The results are bit-equal, since the vector of a text does
not depend on the other texts of its batch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition, Lock
from typing import Any, TypeVar, cast

import numpy as np

from lexfuse.deadline import unlimited
from lexfuse.encode.encoder import Progress, Side, no_progress

KEPT = 1024  # cached queries per encoder
FEW = 32  # texts; larger calls are batch jobs, which are neither batched nor cached

Encoding = TypeVar("Encoding")
_current: ContextVar[SharedEncoders | None] = ContextVar("shared encoders", default=None)


class SharedEncoders:
    """Encoders by key; safe for threads.

    >>> encoders = SharedEncoders()
    >>> first, again = (encoders.shared("a model", lambda: object()) for _ in range(2))
    >>> first is again
    True
    """

    def __init__(self) -> None:
        """Start without encoders."""
        self._lock = Lock()
        self._encoders: dict[Hashable, Any] = {}

    def shared(self, key: Hashable, load: Callable[[], Encoding]) -> Encoding:
        """The encoder of this key, loaded at the first call."""
        with self._lock:
            if key not in self._encoders:
                self._encoders[key] = _BatchingEncoder(load())
            return cast(Encoding, self._encoders[key])


@contextmanager
def sharing(encoders: SharedEncoders) -> Iterator[None]:
    """Let channels opened in this context (this thread) use these encoders."""
    token = _current.set(encoders)
    try:
        yield
    finally:
        _current.reset(token)


def shared_or_loaded(key: Hashable, load: Callable[[], Encoding]) -> Encoding:
    """The shared encoder of a key inside `sharing`, else a newly loaded one."""
    encoders = _current.get()
    return load() if encoders is None else encoders.shared(key, load)


def unshared(encoder: Encoding) -> Encoding:
    """The encoder behind a shared one, to check its class."""
    return cast(Encoding, encoder._encoder) if isinstance(encoder, _BatchingEncoder) else encoder


class _BatchingEncoder:
    """An encoder for many threads: the first free thread encodes all waiting queries in one batch."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self._changed = Condition()  # guards the three below, briefly
        self._busy = False  # whether a thread encodes
        self._waiting: dict[str, Future[Any]] = {}
        self._kept: OrderedDict[str, Future[Any]] = OrderedDict()

    def __getattr__(self, name: str) -> Any:
        """Everything else comes from the encoder."""
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> Any:
        """Like the encoder's; a few queries are encoded together with those of other threads."""
        if side is not Side.QUERY or isinstance(texts, str) or not 0 < len(texts) <= FEW:
            return self._encoder.encode(texts, side, progress=progress)
        asked = self._asked(texts)
        while batch := self._turn(asked):
            self._encode(batch)
        rows = [one.result() for one in asked]
        progress(len(texts))
        return np.stack(rows) if isinstance(rows[0], np.ndarray) and rows[0].ndim == 1 else rows

    def _asked(self, texts: Sequence[str]) -> list[Future[Any]]:
        with self._changed:
            asked = []
            for text in texts:
                if text not in self._kept:  # a waiting text may have been evicted, but its caller still waits for it
                    self._kept[text] = self._waiting.setdefault(text, Future())
                self._kept.move_to_end(text)
                asked.append(self._kept[text])
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return asked

    def _turn(self, asked: list[Future[Any]]) -> dict[str, Future[Any]]:
        """All waiting texts, for this thread to encode; nothing once its own texts are done by any thread."""
        with self._changed:
            self._changed.wait_for(lambda: not self._busy or all(one.done() for one in asked))
            if all(one.done() for one in asked):
                return {}
            self._busy = True
            batch, self._waiting = self._waiting, {}
            return batch

    def _encode(self, batch: dict[str, Future[Any]]) -> None:
        found: list[Any]
        try:
            with unlimited():  # the batch holds queries of other calls
                found = self._rows(list(batch))
        except BaseException as error:  # waiting threads get it too
            found = [error] * len(batch)
        with self._changed:
            for (text, future), row in zip(batch.items(), found, strict=True):
                if isinstance(row, BaseException):
                    if self._kept.get(text) is future:
                        del self._kept[text]  # the next call tries again
                    future.set_exception(row)
                else:
                    future.set_result(row)
            self._busy = False
            self._changed.notify_all()

    def _rows(self, texts: list[str]) -> list[Any]:
        """The encoder's result for each text, or its error: a text that cannot be encoded does not affect others."""
        try:
            return list(self._encoder.encode(texts, Side.QUERY))
        except Exception as error:
            return [row for text in texts for row in self._rows([text])] if len(texts) > 1 else [error]
