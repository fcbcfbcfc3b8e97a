"""The commands by name; each lives in a file of its own and loads what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from lexfuse.cli.adapting import adapt
from lexfuse.cli.advising import advise
from lexfuse.cli.analysing import analyse
from lexfuse.cli.assisting import mcp
from lexfuse.cli.comparing import compare
from lexfuse.cli.demonstrating import demo
from lexfuse.cli.describing import info
from lexfuse.cli.evaluating import evaluate
from lexfuse.cli.fetch import fetch
from lexfuse.cli.fusing import fuse
from lexfuse.cli.importing import import_
from lexfuse.cli.indexing import index
from lexfuse.cli.resembling import similar
from lexfuse.cli.running import run
from lexfuse.cli.searching import search
from lexfuse.cli.serving import keys, serve
from lexfuse.cli.training import train
from lexfuse.cli.tuning import tune

app = typer.Typer(
    help="LexFuse finds the law: hybrid retrieval for statutes and case law, and honest evaluation of it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
)
app.command(name="import")(import_)
for command in (index, search, similar, run, fuse, advise, info, analyse, evaluate, compare, serve, mcp, fetch, demo):
    app.command()(command)
app.add_typer(train, name="train")
app.add_typer(adapt, name="adapt")
app.add_typer(tune, name="tune")
app.add_typer(keys, name="keys")


def _version(asked: bool) -> None:
    if asked:
        from lexfuse import __version__

        typer.echo(f"lexfuse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass
