"""``lexfuse mcp``: the same search for AI assistants, over the Model Context Protocol."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import spinner
from lexfuse.errors import ConfigError
from lexfuse.service.context import ServiceContext
from lexfuse.service.http_server import listening, serve
from lexfuse.service.logs import configure_logs
from lexfuse.service.mcp.http_app import PATH, create_mcp_app
from lexfuse.service.mcp.server import serve_mcp
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.settings import ServiceSettings, load_settings
from lexfuse.service.tls import tls_context


def mcp(
    indexes: Annotated[
        list[str],
        typer.Argument(
            metavar="INDEX…", help="Index folders, postgresql:// addresses, or NAME=PLACE; the first is used by default."
        ),
    ],
    profiles: Annotated[list[Path] | None, typer.Option("--profile", help="A profile file to offer. May be repeated.")] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, at http://HOST:PORT/mcp.")] = False,
    host: Annotated[str | None, typer.Option(help="With --http: the address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(help="With --http: the port; 0 takes a free one [default: 8080].")] = None,
    keys: Annotated[Path | None, typer.Option(help="With --http: the key file of lexfuse keys.")] = None,
    anonymous_read: Annotated[bool | None, typer.Option(help="With --http: allow searching without a key.")] = None,
) -> None:
    """Serve LLM clients over the Model Context Protocol, on standard input and output or over HTTP.

    An assistant's client starts this command itself. It offers tools such as search, similar, explain, cite and fetch, and
    documents as resources. The log is JSON on standard error, without questions. It ends when the client closes standard input.
    It needs the extra lexfuse[mcp].

    With --http it serves many clients at one address. Keys, limits and TLS are those of lexfuse serve; the variables
    LEXFUSE_SERVE_… set what has no option here.

        lexfuse mcp legi.index

        lexfuse mcp labour=legi.index india.index --profile advised.toml

        lexfuse mcp legi.index --http --port 8900 --keys keys.toml --no-anonymous-read
    """
    network = {"host": host, "port": port, "keys": keys, "anonymous_read": anonymous_read}
    settings = load_settings({"indexes": indexes, "profiles": profiles or None, **network}).settings
    if http:
        serve_http(settings)
        return
    if given := [f"--{name.replace('_', '-')}" for name, value in network.items() if value is not None]:
        raise ConfigError(f"{', '.join(given)} is for a server of HTTP; give --http with it")
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


def serve_http(settings: ServiceSettings) -> None:
    """Open the indexes and serve the protocol over HTTP until the process ends."""
    tls_context(settings.tls_certificate, settings.tls_key)  # reports bad files before anything is loaded
    with listening(settings.host, settings.port) as bound:
        with spinner("opening the indexes"):
            registry = IndexRegistry.open([index.place() for index in settings.indexes], settings.profiles)
        with registry:
            configure_logs()
            app = create_mcp_app(ServiceContext(registry, settings))
            serve(app, settings, bound, lambda url: _announce(f"{url}{PATH}", registry.names))


def _announce(url: str, names: tuple[str, ...]) -> None:
    """The one line on standard output; programs that started the server wait for it."""
    sys.stdout.write(f"MCP on {url} ({', '.join(names)}); Ctrl-C ends it\n")
    sys.stdout.flush()
