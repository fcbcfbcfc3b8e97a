"""The log: one JSON object per line on standard error, without questions.

Legal questions are confidential, and error messages may quote them. So the log has the type and the place of an unexpected error,
not its message, and only the first line of records of other libraries.
"""

from __future__ import annotations

import datetime
import logging
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TextIO

import orjson

LOGGER = "lexfuse.service"
OTHERS = "uvicorn.error"

log = logging.getLogger(LOGGER)


class JsonLogFormatter(logging.Formatter):
    """A record as one line of JSON; ``extra={"fields": {…}}`` adds fields to the object.

    >>> record = logging.LogRecord(LOGGER, logging.INFO, "", 0, "request", (), None)
    >>> record.fields = {"status": 200}
    >>> JsonLogFormatter().format(record)
    '{"time":"...","level":"info","event":"request","status":200}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        own = record.name.startswith("lexfuse")
        message = record.getMessage()
        line: dict[str, object] = {
            "time": datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": message if own else message.partition("\n")[0],
        }
        if not own:
            line["from"] = record.name
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = record.exc_info[1].__class__.__name__
            line["trace"] = list(trace_of(record.exc_info[1]))
        return orjson.dumps(line, default=str).decode()


def trace_of(error: BaseException) -> Iterator[str]:
    """Types, files, lines and functions of an error and its causes, innermost last, without messages.

    >>> try:
    ...     int("secret")
    ... except ValueError as error:
    ...     list(trace_of(error))
    ['ValueError', '<doctest ...>:2 <module>']
    """
    seen: set[int] = set()
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        chain.append(current)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    for one in chain:
        yield type(one).__name__
        yield from _frames(one.__traceback__)


def _frames(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        code = trace.tb_frame.f_code
        yield f"{code.co_filename}:{trace.tb_lineno} {code.co_name}"
        trace = trace.tb_next


def configure_logs(stream: TextIO | None = None) -> None:
    """Write the log of the service and its server to one stream, as lines of JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLogFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name, level in ((LOGGER, logging.INFO), (OTHERS, logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(level)
    logging.getLogger("uvicorn.access").disabled = True  # it logs the address, which contains the question
