"""The commands by name; each lives in a file of its own and loads what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from lexfuse.cli.adapt import adapt
from lexfuse.cli.advise import advise
from lexfuse.cli.analyse import analyse
from lexfuse.cli.compare import compare
from lexfuse.cli.demo import demo
from lexfuse.cli.evaluate import evaluate
from lexfuse.cli.fetch import fetch
from lexfuse.cli.fuse import fuse
from lexfuse.cli.import_ import import_
from lexfuse.cli.index import index
from lexfuse.cli.info import info
from lexfuse.cli.keys import keys
from lexfuse.cli.mcp import mcp
from lexfuse.cli.run import run
from lexfuse.cli.search import search
from lexfuse.cli.serve import serve
from lexfuse.cli.similar import similar
from lexfuse.cli.train.static import train
from lexfuse.cli.tune.bm25 import tune

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
