"""The program of `lexfuse.service.search_processes`: calls on standard input, an answer to each on standard output.

It opens the indexes of the service's settings, and ends with the service.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Mapping
from typing import IO

from lexfuse.channels.query_context import query_context
from lexfuse.deadline import Deadline, limited
from lexfuse.service.child_process import framed, unframed
from lexfuse.service.http_server import warm_up
from lexfuse.service.logs import configure_logs
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.search_processes import FAILED, RemoteCall
from lexfuse.service.settings import ServiceSettings


def main() -> None:
    """Answer until the service ends."""
    for one in (signal.SIGINT, signal.SIGTERM):  # the service ends it, after the requests that are running
        signal.signal(one, signal.SIG_IGN)
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that a library prints gets among the answers
    configure_logs()
    settings: ServiceSettings = pickle.loads(unframed(asked))  # noqa: S301 -- from the service, through its pipe
    with IndexRegistry.open([index.place() for index in settings.indexes], settings.profiles) as registry:
        warm_up(registry)
        _send(answers, FAILED)  # ready
        while True:
            try:
                raw = unframed(asked)
            except EOFError:
                return
            _send(answers, _answer(raw, registry))


def _answer(raw: bytes, registry: IndexRegistry) -> bytes:
    """The answer to a call, or `FAILED`: the service then makes the call itself, and raises the error."""
    try:
        call, generations, seconds = RemoteCall(*pickle.loads(raw))  # noqa: S301 -- as above
        with limited(Deadline(seconds)), query_context():
            _follow(registry, generations)
            return pickle.dumps(call(registry))
    except Exception:
        return FAILED


def _follow(registry: IndexRegistry, generations: Mapping[str, int]) -> None:
    """Open what the service has opened since the last call."""
    for name, generation in generations.items():
        if (served := registry.index(name)).generation != generation:
            served.refresh()


def _send(stream: IO[bytes], answer: bytes) -> None:
    stream.write(framed(answer))
    stream.flush()


if __name__ == "__main__":
    main()
