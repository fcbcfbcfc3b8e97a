"""One example of every command that there is, on a small library: what tests of all commands run."""

import shutil
import sys
from pathlib import Path

from launcher import lexfuse
from typer.main import get_command

from lexfuse.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = Path(sys.executable).parent / "lexfuse"
# Where a word says HERE, the folder of the library stands, where it says NEW, a name that is not taken.
ASKED = ["HERE/library.index", "HERE/questions.csv", "HERE/test.tsv"]
LEARNT = ["fr-legal-dense", "HERE/articles.csv", "NEW"]
ARGUMENTS = {
    "import": ["HERE/articles.csv", "NEW"],
    "collect": [],
    "index": ["HERE/articles.csv", "NEW"],
    "search": ["HERE/library.index", "rendre un livre après le délai"],
    "suggest": ["HERE/library.index", "bibl"],
    "similar": ["HERE/library.index", "HERE/judgment.txt"],
    "run": ["HERE/library.index", "HERE/questions.csv", "-o", "NEW"],
    "fuse": ["HERE/words.trec", "HERE/vectors.trec", "-o", "NEW"],
    "advise": [*ASKED, "--channels", "bm25,tfidf", "--folds", "2", "-o", "NEW"],
    "export beir": ["HERE/library.index", "NEW"],
    "export ciff": ["HERE/library.index", "NEW"],
    "export postgres": ["postgresql://127.0.0.1:1/law", "HERE/library.index"],
    "info": ["HERE/library.index"],
    "diff": ["HERE/library.index", "lib-4", "2022-01-01", "2024-01-01"],
    "analyse": ["le préavis de l'article L. 1234-5"],
    "evaluate": ["HERE/test.tsv", "HERE/words.trec"],
    "compare": ["HERE/test.tsv", "HERE/words.trec", "HERE/vectors.trec"],
    "serve": ["HERE/library.index", "--show-settings"],
    "mcp": ["HERE/library.index"],
    "fetch": ["fr-legal-dense"],
    "demo": ["--no-serve", "--folder", "NEW"],
    "train static": ["HERE/articles.csv", "NEW", "--dimension", "2"],
    "train query-table": ["HERE/splade", "HERE/questions.csv", "NEW"],
    **{f"train {kind}": LEARNT for kind in ("dense", "two-tower", "splade", "colbert", "cross")},
    **{f"adapt {kind}": LEARNT for kind in ("tsdae", "sdr", "mlm", "structure")},
    "tune weights": [*ASKED, "--channels", "bm25,tfidf", "--folds", "2"],
    "tune runs": ["HERE/test.tsv", "HERE/words.trec", "HERE/vectors.trec", "--folds", "2"],
    "tune bm25": ASKED,
    "tune rprs": ASKED,
    "tune structure": [*ASKED, "--step", "0.5", "--folds", "2"],
    "tune confidence": [*ASKED, "--off-topic", "HERE/questions.csv", "-o", "NEW"],  # too few questions
    "cluster index": ["HERE/articles.csv", "memory://law", "--shards", "2"],  # refused before Ray starts
    "cluster serve": ["NEW"],
    "cluster status": ["NEW"],
    "keys add": ["éditeurs", "--scope", "read", "--file", "NEW"],
    "keys list": ["--file", "HERE/keys.toml"],
    "keys revoke": ["nobody", "--file", "HERE/keys.toml"],
}  # fmt: skip
NO_REGISTRY = {"PATH": "", "PIP_NO_INDEX": "1"}  # a demonstration that fetches nothing


def all_commands():
    """The name of every command of the application, groups spelled out."""

    def leaves(command, path):
        for name, below in getattr(command, "commands", {}).items():
            yield from leaves(below, [*path, name])
        if not hasattr(command, "commands"):
            yield " ".join(path)

    return list(leaves(get_command(app), []))


SILENT = {"mcp"}  # it prints nothing before it is asked


def exit_codes(name):
    """How the example of a command may end where nothing is in its way."""
    if needs_torch(name):
        return {3, 7}  # the model has no weights to train on; or there is no torch
    if name.startswith("cluster "):
        return {2, 4, 7}  # workers cannot see the memory of another process, there is no cluster; or there is no Ray
    if name == "export postgres":
        return {5, 7}  # nobody listens; or there is no driver
    return {{"demo": 6, "keys revoke": 4, "tune rprs": 4, "tune confidence": 2}.get(name, 0)}  # nothing to revoke, too few


def needs_torch(name):
    """Whether a command trains with torch, without which it stops at once."""
    return name.startswith(("train ", "adapt ")) and name not in ("train static", "train query-table")


def write_library(folder):
    """The library that the examples are about."""
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    (folder / "judgment.txt").write_text("1. Le lecteur a rendu le livre en retard.\n\n2. L'amende est due.\n", encoding="utf-8")
    for arguments in (["index", "articles.csv", "library.index"], ["keys", "add", "readers", "--scope", "read"]):
        done = lexfuse(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr


def filled_in(name, folder, new):
    """The arguments of a command's example."""
    return [*name.split(), *(word.replace("HERE", str(folder)).replace("NEW", str(new)) for word in ARGUMENTS[name])]
