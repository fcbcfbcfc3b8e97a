"""The code of docs/ runs as it is written there; what cannot run is marked ``no-run`` and counted, and names real things."""

import ast
import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launcher import lexfuse

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
    "bridges.md": 1,
    "cluster.md": 5,
    "collections.md": 2,
    "fusion.md": 3,
    "getting-started.md": 1,
    "importing.md": 4,
    "installation.md": 1,
    "judgments.md": 1,
    "law-in-time.md": 2,
    "legal-text.md": 2,
    "page.md": 4,
    "postgres.md": 3,
    "reranking.md": 3,
    "results.md": 1,
    "training.md": 7,
    "tutorial.md": 1,
}

FRAMEWORKS = {"bridges.md": ("haystack", "ir_datasets", "langchain_core", "llama_index", "pyterrier")}  # of the extra dev


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
        run_console(f"lexfuse {command}", folder)
    return folder


def run_console(text, folder):
    """The `lexfuse` commands of a block, line by line: each succeeds and says something."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "lexfuse", f"not a lexfuse command; mark the block as no-run: {line}"
            done = lexfuse(*words[1:], cwd=folder)
            assert done.returncode == 0, f"{line}\nended with {done.returncode}\n{done.stdout}{done.stderr}"
            assert done.stdout.strip(), line


@pytest.fixture
def page_runner(tmp_path):
    """Runs Python blocks of one page in one process, which the first of them starts: tests/docs/page_runner.py."""
    runners = []

    def run(text, place, folder):
        if not runners:
            command, log = [sys.executable, "-W", "error", RUNNER], (tmp_path / "log.txt").open("w")
            with log:
                streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
                runners.append(subprocess.Popen(command, cwd=folder, text=True, encoding="utf-8", **streams))
        [runner] = runners
        runner.stdin.write(json.dumps([text, place]) + "\n")
        runner.stdin.flush()
        answer = runner.stdout.readline()
        assert answer, (tmp_path / "log.txt").read_text("utf-8")
        assert not json.loads(answer), json.loads(answer)

    yield run
    for runner in runners:
        runner.communicate()
        assert runner.returncode == 0, (tmp_path / "log.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(not skipped for _, skipped, _, _ in blocks(page))], ids=lambda page: page.name
)
def test_the_blocks_of_a_page_run_in_order(page, prepared, page_runner, tmp_path):
    missing = [package for package in FRAMEWORKS.get(page.name, ()) if importlib.util.find_spec(package) is None]
    if missing and not os.environ.get("LEXFUSE_ALL_TESTS"):
        pytest.skip(f"not installed: {', '.join(missing)}; the extra dev has them")
    folder = tmp_path / "folder"
    shutil.copytree(
        ROOT / "examples" if page.name == TUTORIAL else prepared, folder / "examples" if page.name == TUTORIAL else folder
    )
    for language, skipped, text, line in blocks(page):
        if not skipped and language == "console":
            run_console(text, folder)
        elif not skipped:
            page_runner(text, f"<{page.name}, line {line}>", folder)


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
