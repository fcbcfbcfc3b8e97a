"""The code of docs/ runs as it is written there; what cannot run is marked ``no-run`` and counted, and names real things."""

import ast
import importlib
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lexfuse.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
RUNNER = Path(__file__).parent / "page_runner.py"
TUTORIAL = "getting-started.md"  # makes what the other pages use
BLOCK = re.compile(r"^```(python|console)( no-run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Blocks that need torch, Ray, a GPU, the network, a fine-tuned model or a published collection.
DEFINITION = r"^(?:class |def |(?=\w+(?:: .+)? = ))(\w+)"
NOT_RUN = {
    "adapting.md": 2,
    "atlas.md": 1,
    "cluster.md": 3,
    "collections.md": 2,
    "fusion.md": 3,
    "getting-started.md": 1,
    "importing.md": 4,
    "judgments.md": 1,
    "postgres.md": 3,
    "reranking.md": 3,
    "results.md": 1,
    "training.md": 6,
}


def blocks(page):
    text = page.read_text("utf-8")
    return [(found[1], bool(found[2]), found[3], text[: found.start()].count("\n") + 2) for found in BLOCK.finditer(text)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What docs/getting-started.md makes: the examples, a corpus folder and an index with vectors."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    for command in (
        "import examples/articles.csv library --queries examples/questions.csv --qrels examples/test.tsv",
        "index library library.index --channels dense,splade,sentences",
    ):
        subprocess.run([Path(sys.executable).parent / "lexfuse", *command.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(not skipped for _, skipped, _, _ in blocks(page))], ids=lambda page: page.name
)
def test_the_blocks_of_a_page_run_in_order(page, prepared, tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(
        ROOT / "examples" if page.name == TUTORIAL else prepared, folder / "examples" if page.name == TUTORIAL else folder
    )
    run = [(language, text, line) for language, skipped, text, line in blocks(page) if not skipped]
    done = subprocess.run(
        [sys.executable, "-W", "error", RUNNER], cwd=folder, input=json.dumps(run), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page.name}, {done.stderr}"


def test_blocks_that_do_not_run_are_counted():
    counts = {page.name: sum(skipped for _, skipped, _, _ in blocks(page)) for page in PAGES}
    assert {name: count for name, count in counts.items() if count} == NOT_RUN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_that_do_not_run_name_real_modules_and_options(page):
    for language, skipped, text, line in blocks(page):
        if skipped and language == "python":
            check_imports(text, f"{page.name}, line {line}")
        elif skipped:
            check_options(text, f"{page.name}, line {line}")


def check_imports(text, place):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("lexfuse."):
            specification = importlib.util.find_spec(node.module)
            assert specification, f"{place}: no module {node.module}"
            defined = re.findall(DEFINITION, Path(specification.origin).read_text("utf-8"), re.MULTILINE)
            for alias in node.names:
                assert alias.name in defined, f"{place}: no {alias.name} in {node.module}"


def check_options(text, place):
    commands = {command.name: command for command in COMMANDS}
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["lexfuse"]:
            continue
        command = commands[words[1]]
        if hasattr(command, "commands"):
            command = command.commands[words[2]]
        options = {option for parameter in command.load().params for option in (*parameter.opts, *parameter.secondary_opts)}
        unknown = [word for word in words if re.match(r"--?[a-z]", word) and word not in options]
        assert not unknown, f"{place}: {' '.join(words[:3])} has no {', '.join(unknown)}"


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.name)
def test_links_point_at_files(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
