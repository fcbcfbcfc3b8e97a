"""The table of commands: where each lives, and its line in ``lexfuse --help``.

A command is imported when it is used, so that ``lexfuse --help`` loads none of them. Its line is the first line of its docstring;
a test compares them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lexfuse import __version__
from lexfuse.cli.options.flag_group import expand_flags
from lexfuse.dependencies import Extra

MARKUP: Final = "markdown"  # of help texts
VALIDATION: Final = "Value error, "  # how Typer begins what its validation says of a value


class LazyCommand(TyperCommand):
    """The name, place and one-line help of a command; it becomes the command when it runs, completes or shows help.

    `target` is ``module:function`` below `lexfuse.cli`; `extra` has the optional packages that the module imports.

    >>> len(LazyCommand("fetch", "fetch:fetch", "Fetch models.").load().params)
    2
    """

    def __init__(self, name: str, target: str, help: str, *, extra: Extra | None = None) -> None:
        super().__init__(name, help=help, rich_markup_mode=MARKUP)
        self.target, self.extra = target, extra

    def load(self) -> Any:
        """Import the function; the command with its parameters."""
        module, _, function = self.target.partition(":")
        if self.extra:
            self.extra.require(f"lexfuse {self.name}")
        loaded = import_module(f"lexfuse.cli.{module}")
        single = typer.Typer(rich_markup_mode=MARKUP, add_completion=False)
        single.command(self.name)(expand_flags(getattr(loaded, function)))
        return get_command(single)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """The context of the loaded command: running, completing and showing help all ask for it first."""
        try:
            return self.load().make_context(*arguments, **settings)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(VALIDATION)
            raise


def group(name: str, help: str, *commands: TyperCommand) -> TyperGroup:
    """Commands under one name.

    >>> list(group("keys", "Manage keys.", LazyCommand("add", "keys:add", "Make a key.")).commands)
    ['add']
    """
    return TyperGroup(name=name, help=help, commands=commands, no_args_is_help=True, rich_markup_mode=MARKUP)


COMMANDS = [
    LazyCommand("import", "import_:import_", "Read files, a table or a collection of law and write them as a corpus folder."),
    LazyCommand(
        "collect", "collect:collect", "Make a public collection from packages and repositories; without NAME, list them."
    ),
    LazyCommand("index", "index:index", "Build an index of a corpus, or change one."),
    LazyCommand("search", "search:search", "Search an index: cited documents first, then the best matches."),
    LazyCommand("suggest", "suggest:suggest", "Complete a question: articles, frequent questions, headings and words."),
    LazyCommand("similar", "similar:similar", "Find documents like a whole judgment: a file, or a document of the index."),
    LazyCommand("run", "run:run", "Rank documents for many queries and write a TREC run."),
    LazyCommand("fuse", "fuse:fuse", "Fuse runs of any systems into one."),
    LazyCommand("advise", "advise:advise", "Compare every subset of sources with every fusion, and recommend one with evidence."),
    group(
        "export",
        "Write an index into another system or format.",
        LazyCommand(
            "beir", "export.beir:beir", "Write the documents of an index as a BEIR folder, for tools that read this format."
        ),
        LazyCommand(
            "ciff", "export.ciff:ciff", "Write the words of an index as a CIFF file, for search engines that read this format."
        ),
        LazyCommand(
            "postgres",
            "export.postgres:postgres",
            "Write an index into PostgreSQL, to be searched there by SQL and by LexFuse.",
            extra=Extra.POSTGRES,
        ),
    ),
    LazyCommand("info", "info:info", "Describe an index, a collection, a run or judgements."),
    LazyCommand("diff", "history.diff:diff", "Show what changed in a document from one day to another, word by word."),
    LazyCommand("analyse", "analyse:analyse", "Show how LexFuse reads a text: language, sentences, words and citations."),
    LazyCommand("evaluate", "evaluate:evaluate", "Measure runs against judgements."),
    LazyCommand("compare", "compare:compare", "Compare runs with a baseline: differences, intervals, effect sizes, tests."),
    LazyCommand("serve", "serve:serve", "Serve the search page and the HTTP API.", extra=Extra.SERVE),
    LazyCommand(
        "mcp",
        "mcp:mcp",
        "Serve LLM clients over the Model Context Protocol, on standard input and output or over HTTP.",
        extra=Extra.MCP,
    ),
    LazyCommand("fetch", "fetch:fetch", "Download models that indexes and profiles name."),
    LazyCommand(
        "demo",
        "demo:demo",
        "Download real law, index it, answer questions and serve the search page.",
    ),
    group(
        "train",
        "Train models on your own texts.",
        LazyCommand(
            "static", "train.static:static", "Train word vectors on a corpus, in a minute or two, without another model."
        ),
        LazyCommand("dense", "train.models:dense", "Train a dense bi-encoder: one model, one vector per text."),
        LazyCommand(
            "two-tower",
            "train.models:two_tower",
            "Train a dense bi-encoder with one model for queries and one for documents.",
        ),
        LazyCommand(
            "splade", "train.models:splade", "Train a learned sparse encoder (SPLADE); BASE needs its masked-language head."
        ),
        LazyCommand(
            "query-table",
            "train.query_table:query_table",
            "Learn a table of query weights from a SPLADE model, so that no model is needed for queries.",
        ),
        LazyCommand("colbert", "train.models:colbert", "Train a late-interaction encoder (ColBERT): one vector per token."),
        LazyCommand(
            "cross", "train.models:cross", "Train a cross-encoder (monoBERT) that reranks; needs --index or --negatives."
        ),
    ),
    group(
        "adapt",
        "Adapt models to your own texts, without judgements.",
        LazyCommand(
            "tsdae",
            "train.adapt:tsdae",
            "Train a dense encoder by restoring damaged sentences (TSDAE).",
        ),
        LazyCommand(
            "sdr",
            "train.adapt:sdr",
            "Train a dense encoder by masked tokens and by sentences of one paragraph (SDR).",
        ),
        LazyCommand(
            "mlm", "train.adapt:mlm", "Continue masked-language training; the result is a base for every kind of training."
        ),
        LazyCommand(
            "structure",
            "train.adapt:structure",
            "Train a dense encoder on the structure of law: headings, titles, citations.",
        ),
    ),
    group(
        "tune",
        "Tune parameters on judged queries (a train or dev split, never test).",
        LazyCommand(
            "weights",
            "tune.parameters:weights",
            "Tune the weights of channels, and compare them with equal weights on other queries.",
        ),
        LazyCommand(
            "runs",
            "tune.parameters:runs",
            "Tune the weights of TREC runs of any systems.",
        ),
        LazyCommand("bm25", "tune.parameters:bm25", "Tune k1 and b on a grid, without indexing again."),
        LazyCommand("rprs", "tune.rerankers:rprs", "Tune the sentence-level reranker of whole judgments (RPRS) on a grid."),
        LazyCommand(
            "structure",
            "tune.rerankers:structure",
            "Tune how much the section of an article, and articles that cite it, count for its rank.",
        ),
        LazyCommand("confidence", "tune.confidence:confidence", "Calibrate when the best result is shown as an answer."),
    ),
    group(
        "cluster",
        "Build and serve an index in shards, on one machine or many.",
        LazyCommand("index", "cluster.index:index", "Build a cluster of a corpus or index, or change one.", extra=Extra.CLUSTER),
        LazyCommand("serve", "cluster.serve:serve", "Serve the search page and the HTTP API of a cluster.", extra=Extra.CLUSTER),
        LazyCommand("status", "cluster.status:status", "Describe the cluster at a URI.", extra=Extra.CLUSTER),
    ),
    group(
        "keys",
        "Manage the API keys of the service.",
        LazyCommand("add", "keys:add", "Create a key and show it once; the file keeps only its hash."),
        LazyCommand("list", "keys:list_", "List the names, scopes and dates of the keys."),
        LazyCommand("revoke", "keys:revoke", "Revoke a key; a running service refuses it from the next request on."),
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
