"""The code of docs/ runs as it is written there; what cannot run is marked ``no-run``, has a reason, and names real
things.
"""

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
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import pytest
from certificate import self_made
from launcher import going_on, lexfuse
from stand_ins import environment, make_stand_ins

from lexfuse.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
RUNNER = Path(__file__).parent / "page_runner.py"
TUTORIAL = "getting-started.md"  # makes what the other pages use
BLOCK = re.compile(r'^```(\w*)( no-run)?(?: title="([^"\n]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\w+=\S+ )*(?:lexfuse|curl|docker|export|git|make|pip|python|ray|tar) \S", re.MULTILINE)

DEFINITION = r"^(?:class |def |(?=\w+(?:: .+)? = ))(\w+)"


class Reason(Enum):
    """Why a block does not run here, and the words that show it."""

    TORCH = r"lexfuse (train|adapt) |lexfuse\.train\.|import mteb"  # tests/train/with_torch has such commands
    RAY = r"lexfuse cluster |ray start|RAY_"  # tests/cluster has such commands, with Ray nodes in their own network
    NETWORK = r"lexfuse collect |lexfuse\.collect\(|pip install"
    HOURS = r"make bench|python -m (bench|reproduce)|--requests 100000"
    JUDGED = r"lexfuse tune confidence fr-labour|advise INDEX --judgements"  # a judged collection, or a judge


NOT_RUN = {
    "adapting.md": [Reason.TORCH] * 2,
    "atlas.md": [Reason.HOURS],
    "benchmarks.md": [Reason.HOURS],
    "bridges.md": [Reason.TORCH],
    "cluster.md": [Reason.RAY] * 6,
    "collections.md": [Reason.NETWORK] * 2,
    "everyday-words.md": [Reason.JUDGED],
    "importing.md": [Reason.TORCH],
    "installation.md": [Reason.NETWORK],
    "neural.md": [Reason.TORCH],
    "page.md": [Reason.JUDGED],
    "results.md": [Reason.HOURS],
    "security.md": [Reason.HOURS],
    "training.md": [Reason.TORCH] * 7,
}

SERVER = "postgresql://law@localhost/law"  # of docs/postgres.md; the tests have one
FRAMEWORKS = {"bridges.md": ("haystack", "ir_datasets", "langchain_core", "llama_index", "pyterrier")}  # of the extra dev


class Block(NamedTuple):
    """A block of code of a page; with a title it is the file of that name."""

    language: str
    skipped: bool
    title: str | None
    text: str
    line: int

    @property
    def runs(self):
        return self.language in ("python", "console") and not self.skipped


def blocks(page):
    text = page.read_text("utf-8")
    return [
        Block(found[1], bool(found[2]), found[3], found[4], text[: found.start()].count("\n") + 2)
        for found in BLOCK.finditer(text)
    ]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, tiny):
    """What docs/getting-started.md makes: the examples, a corpus folder, an index with vectors, advice. And two small models."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    tiny.cross_encoder(folder / "models" / "monobert")
    tiny.folder(folder / "models" / "colbert")
    make_stand_ins(folder)
    for command in (
        "import examples/articles.csv library --queries examples/questions.csv --qrels examples/test.tsv",
        "index library library.index --channels dense,splade,sentences",
        "advise library.index library examples/test.tsv --folds 3 -o advice",
    ):
        run_command(["lexfuse", *command.split()], folder)
    return folder


class Page:
    """A folder in which the blocks of a page run. Its servers have other ports than the page says, and run up to its end."""

    def __init__(self, folder, servers):
        self.folder, self._servers, self._ports = folder, servers, {}

    def with_ports(self, text):
        for said, port in self._ports.items():
            text = text.replace(f"http://127.0.0.1:{said}", f"http://127.0.0.1:{port}")
        return text

    def run_console(self, text):
        """The commands of a block, line by line: each succeeds and says something."""
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(self.with_ports(line), comments=True)
            if words[:1] == ["curl"]:
                ask(words)
            elif words and (words[1] == "serve" or "--http" in words) and "--show-settings" not in words:
                self._start(words)
            elif words:
                run_command(words, self.folder)

    def _start(self, words):
        """A server says its address when it can be asked."""
        said = words[words.index("--port") + 1] if "--port" in words else "8080"
        output, log = self._servers.enter_context(going_on(*words[1:], "--port", 0, cwd=self.folder))
        found = re.search(r" on https?://(?:127\.0\.0\.1|localhost):(\d+)", output.readline())
        assert found, log.read_text("utf-8")
        self._ports[said] = found[1]


def ask(words):
    """The request of a line of curl."""
    [address], data = [word for word in words if word.startswith("http://")], None
    if "--json" in words:
        data = words[words.index("--json") + 1].encode()
    with urlopen(Request(address, data, {"Content-Type": "application/json"})) as answer:  # noqa: S310
        assert json.load(answer)["results"]


def run_command(words, folder):
    if words[0] in ("git", "tar"):
        subprocess.run(words, cwd=folder, env=environment(folder), check=True)
        return
    assert words[0] == "lexfuse", f"not a command that runs here; mark the block as no-run: {' '.join(words)}"
    done = lexfuse(*words[1:], cwd=folder)
    assert done.returncode == 0, f"{' '.join(words)}\nended with {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stdout.strip() or words[1] == "mcp", words  # which is silent until it is asked


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


@pytest.mark.parametrize("page", [page for page in PAGES if any(one.runs for one in blocks(page))], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_in_order(page, prepared, page_runner, tmp_path, request):
    missing = [package for package in FRAMEWORKS.get(page.name, ()) if importlib.util.find_spec(package) is None]
    if missing and not os.environ.get("LEXFUSE_ALL_TESTS"):
        pytest.skip(f"not installed: {', '.join(missing)}; the extra dev has them")
    folder = tmp_path / "folder"
    shutil.copytree(
        ROOT / "examples" if page.name == TUTORIAL else prepared, folder / "examples" if page.name == TUTORIAL else folder
    )
    if page.name == "service.md":
        for file in self_made(tmp_path):
            file.rename(folder / f"law.example{'.pem' if file.name == 'certificate.pem' else '.key'}")
    server = request.getfixturevalue("postgres_server") if page.name == "postgres.md" else ""
    with ExitStack() as servers:
        running = Page(folder, servers)
        for block in blocks(page):
            text = at_server(block.text, server) if server else block.text
            if block.title:
                (folder / block.title).write_text(text, encoding="utf-8")
            elif block.runs and block.language == "console":
                running.run_console(text)
            elif block.runs:
                page_runner(running.with_ports(text), f"<{page.name}, line {block.line}>", folder)


def at_server(text, server):
    """The text of a block with the address of another server of PostgreSQL, whose address may have parameters."""
    return text.replace(f"{SERVER}?", f"{server}{'&' if '?' in server else '?'}").replace(SERVER, server)


def test_commands_are_in_console_blocks():
    """Where they run, or are marked as what does not."""
    others = [(page.name, one.line) for page in PAGES for one in blocks(page) if one.language in ("", "text")
              and not one.title and COMMAND.search(one.text)]  # fmt: skip
    assert others == []


def test_a_program_of_a_bridge_has_at_most_15_lines():
    programs = [one for one in blocks(ROOT / "docs" / "bridges.md") if one.language == "python"]
    programs += [one for one in blocks(ROOT / "docs" / "assistants.md") if one.language == "python"]
    lengths = [len([line for line in one.text.splitlines() if line.strip()]) for one in programs]
    assert len(lengths) == 8
    assert max(lengths) <= 15


def test_every_block_that_does_not_run_has_a_reason():
    skipped = {page.name: [one for one in blocks(page) if one.skipped] for page in PAGES}
    assert {name: len(found) for name, found in skipped.items() if found} == {name: len(why) for name, why in NOT_RUN.items()}
    for name, reasons in NOT_RUN.items():
        for block, reason in zip(skipped[name], reasons, strict=True):
            assert re.search(reason.value, block.text), f"{name}, line {block.line}: not for want of {reason.name.lower()}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_that_do_not_run_name_real_modules_and_options(page):
    for block in blocks(page):
        if block.skipped and block.language == "python":
            check_imports(block.text, f"{page.name}, line {block.line}")
        elif block.skipped:
            check_options(block.text, f"{page.name}, line {block.line}")


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
