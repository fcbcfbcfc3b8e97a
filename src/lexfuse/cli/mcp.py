"""``lexfuse mcp``: the same search for AI assistants, over the Model Context Protocol."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import spinner
from lexfuse.service.context import ServiceContext
from lexfuse.service.logs import configure_logs
from lexfuse.service.mcp.server import serve_mcp
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.settings import load_settings


def mcp(
    indexes: Annotated[
        list[str],
        typer.Argument(
            metavar="INDEX…", help="Index folders, postgresql:// addresses, or NAME=PLACE; the first is used by default."
        ),
    ],
    profiles: Annotated[list[Path] | None, typer.Option("--profile", help="A profile file to offer. May be repeated.")] = None,
) -> None:
    """Serve LLM clients over the Model Context Protocol on standard input and output.

    An assistant's client starts this command itself. It offers five tools, search, similar, explain, cite and fetch, and
    documents as resources. The log is JSON on standard error, without questions. It ends when the client closes standard input.
    It needs the extra lexfuse[mcp].

        lexfuse mcp legi.index

        lexfuse mcp labour=legi.index india.index --profile advised.toml
    """
    settings = load_settings({"indexes": indexes, "profiles": profiles or None}).settings
    with spinner("opening the indexes"):
        registry = IndexRegistry.open([index.place() for index in settings.indexes], settings.profiles)
    configure_logs()
    service = ServiceContext(registry, settings)
    for number in (signal.SIGINT, signal.SIGTERM):  # a thread that waits for input would keep the process until its next line
        signal.signal(number, signal.SIG_DFL)
    try:
        serve_mcp(service)
    finally:
        service.close()
