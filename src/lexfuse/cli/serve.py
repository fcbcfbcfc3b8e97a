"""``lexfuse serve``: the HTTP service with its search page."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.output.console import note, spinner
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.http_server import listening, prepare
from lexfuse.service.http_server import serve as served
from lexfuse.service.logs import LOGGER, configure_logs
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.search_processes import SearchProcesses
from lexfuse.service.settings import ServiceSettings, load_settings
from lexfuse.service.tls import tls_context
from lexfuse.web.routes import add_pages

TlsCertificate = Annotated[
    Path | None, typer.Option("--tls-certificate", help="Serve HTTPS with this certificate, a PEM file with its chain.")
]
TlsKey = Annotated[
    Path | None, typer.Option("--tls-key", help="The private key of the certificate, a PEM file without a password.")
]


def serve(
    indexes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INDEX…", help="Index folders, postgresql:// addresses, or NAME=PLACE; the first is used by default."
        ),
    ] = None,
    profiles: Annotated[list[Path] | None, typer.Option("--profile", help="A profile file to offer. May be repeated.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Settings in a TOML file.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one [default: 8080].")] = None,
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    language: Annotated[str | None, typer.Option(help="The default language of the page: en or fr.")] = None,
    advice: Annotated[
        list[Path] | None, typer.Option("--advice", help="A folder of advice reports to show. May be repeated.")
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="The key file of lexfuse keys; without it, writing is disabled.")] = None,
    anonymous_read: Annotated[bool | None, typer.Option(help="Allow reading without a key.")] = None,
    anonymous_judging: Annotated[
        bool | None, typer.Option(help="Allow judging results, and reading all judgements, without a key.")
    ] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(help="Requests per minute of a key, or of an address without a key; 0 is no limit.")
    ] = None,
    burst: Annotated[int | None, typer.Option(help="Requests that may arrive at once.")] = None,
    max_body_bytes: Annotated[int | None, typer.Option(help="Maximum size of a request body.")] = None,
    max_query_characters: Annotated[int | None, typer.Option(help="Maximum length of a question.")] = None,
    timeout_seconds: Annotated[float | None, typer.Option(help="Maximum time of an answer.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads that search [default: one per processor].")] = None,
    search_processes: Annotated[
        int | None, typer.Option(help="Processes that search, for many clients at once; 0: threads of this one [default: 0].")
    ] = None,
    max_waiting: Annotated[int | None, typer.Option(help="Maximum number of requests that wait for a thread.")] = None,
    max_connections: Annotated[int | None, typer.Option(help="Maximum number of open connections.")] = None,
    header_seconds: Annotated[
        float | None, typer.Option(help="Maximum time in which a client sends the head of a request.")
    ] = None,
    shutdown_seconds: Annotated[float | None, typer.Option(help="Time that running requests have to finish at shutdown.")] = None,
    reload_seconds: Annotated[float | None, typer.Option(help="How often to check for a newer index; 0 is never.")] = None,
    log_queries: Annotated[bool | None, typer.Option(help="Write questions to the log.")] = None,
    client_header: Annotated[str | None, typer.Option(help="The header in which a proxy sends the client's address.")] = None,
    allowed_hosts: Annotated[
        list[str] | None, typer.Option("--allowed-host", help="A host name that the service answers to. May be repeated.")
    ] = None,
    show_settings: Annotated[bool, typer.Option("--show-settings", help="Show every setting and its origin, and exit.")] = False,
) -> None:
    """Serve the search page and the HTTP API.

    Settings come from flags, then the environment (LEXFUSE_SERVE_PORT …), then the file, then the defaults. A newer version of
    an index is taken over while it runs. The log is JSON on standard error, without questions. Ctrl-C or SIGTERM ends it.

        lexfuse serve legi.index

        lexfuse serve labour=legi.index india.index --profile advised.toml --port 0

        lexfuse serve --config serve.toml --show-settings
    """
    flags: dict[str, Any] = {
        "indexes": indexes, "profiles": profiles, "host": host, "port": port,
        "tls_certificate": tls_certificate, "tls_key": tls_key, "title": title, "language": language, "advice": advice,
        "keys": keys, "anonymous_read": anonymous_read, "anonymous_judging": anonymous_judging,
        "requests_per_minute": requests_per_minute, "burst": burst, "max_body_bytes": max_body_bytes,
        "max_query_characters": max_query_characters, "timeout_seconds": timeout_seconds, "workers": workers,
        "search_processes": search_processes, "max_waiting": max_waiting, "max_connections": max_connections,
        "header_seconds": header_seconds, "shutdown_seconds": shutdown_seconds, "reload_seconds": reload_seconds,
        "log_queries": log_queries, "client_header": client_header, "allowed_hosts": allowed_hosts,
    }  # fmt: skip
    loaded = load_settings({name: value or None if isinstance(value, list) else value for name, value in flags.items()}, config)
    if show_settings:
        typer.echo(loaded.text())
        return
    run_service(loaded.settings)


def run_service(settings: ServiceSettings, *, log_requests: bool = True) -> None:
    """Open the indexes, warn about risky settings, and serve until the process ends."""
    tls_context(settings.tls_certificate, settings.tls_key)  # reports bad files before anything is loaded
    with listening(settings.host, settings.port) as bound:
        with spinner("opening the indexes"):
            registry = IndexRegistry.open([index.place() for index in settings.indexes], settings.profiles)
        with registry:
            processes = SearchProcesses(settings) if settings.search_processes else None
            app = create_app(ServiceContext(registry, settings, processes))
            add_pages(app)
            _warn(settings)
            configure_logs()
            if not log_requests:
                logging.getLogger(LOGGER).setLevel(logging.WARNING)
            served(app, settings, bound, lambda url: _announce(url, settings.title, registry.names), lambda: prepare(app))


def _announce(url: str, title: str, names: tuple[str, ...]) -> None:
    """The one line on standard output; programs that started the service wait for it."""
    sys.stdout.write(f"{title} on {url} ({', '.join(names)}); Ctrl-C ends it\n")
    sys.stdout.flush()


def _warn(settings: ServiceSettings) -> None:
    """What an operator should know."""
    if settings.keys is None and not settings.anonymous_read:
        note("nobody can read: anonymous_read is off and there is no key file; create one with lexfuse keys add")
    if settings.log_queries:
        note("questions are written to the log, because log_queries is on")
