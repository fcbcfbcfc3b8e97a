"""SIGTERM in the middle of every long command: it ends in order, with 143, and leaves nothing half-written behind."""

import shutil
import signal

import pytest

# The moment at which a command that writes has something half-written, and one at which a command that reads is reading.
WRITING, READING = ("os.rename", ".partial-"), ("open", "bibliothèque")
WRITERS = [
    "import",
    "index",
    "run",
    "fuse",
    "advise",
    "train static",
    "train query-table",
    "keys add",
    "export beir",
    "export ciff",
]
READERS = [
    "search", "similar", "evaluate", "compare", "info", "tune weights", "tune runs", "tune bm25", "tune rprs", "tune structure",
    "keys list",
]  # fmt: skip
# Short, or with tests of their own.
OTHERS = [
    "analyse",
    "cluster index",
    "cluster serve",
    "cluster status",
    "collect",
    "diff",
    "export postgres",
    "fetch",
    "keys revoke",
    "demo",
    "serve",
    "mcp",
    "suggest",
    "tune confidence",
]
CHANGES = {  # of an index that is there
    "update": (["HERE/articles.csv", "INDEX", "--update"], ("open", "segments/000002")),
    "merge": (["INDEX", "--merge"], ("open", "segments/")),
    "verify": (["INDEX", "--verify"], ("open", "segments/")),
    "rebuild": (["INDEX", "--rebuild"], ("open", "segments/")),
    "delete": (["INDEX", "--delete", "lib-1"], ("sqlite3.connect", "catalog.sqlite")),
    "channels": (["INDEX", "--channels", "static", "--model", "HERE/words.vec"], ("open", "channels/")),
    "distributions": (["INDEX", "--distributions", "--distribution-queries", "HERE/questions.csv"], ("open", "questions.csv")),
}
TWICE = "import, and a second signal while it tidies up"


def job(arguments, *moments):
    signals = [[event, text, int(signal.SIGTERM)] for event, text in moments]
    return {"arguments": arguments, "signals": signals, "environment": {"LEXFUSE_TRACEBACK": "1"}}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where commands write, and the indexes that they change."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture(scope="module")
def ended(commands, run_jobs, library, place):
    """How every command ended, and what `lexfuse index --verify` says of every index that was being changed."""
    (library / "words.vec").write_text("2 2\nlivre 1 0\nretard 0 1\n", encoding="utf-8")
    jobs = {}
    for name in (*WRITERS, *READERS):
        moment = WRITING if name in WRITERS else READING
        jobs[name] = job(commands.filled_in(name, library, place / name / "new"), moment)
    jobs[TWICE] = job(commands.filled_in("import", library, place / "twice" / "new"), WRITING, ("shutil.rmtree", ".partial-"))
    for name, (words, moment) in CHANGES.items():
        index = shutil.copytree(library / "library.index", place / f"{name}.index")
        arguments = ["index", *(word.replace("HERE", str(library)).replace("INDEX", str(index)) for word in words)]
        jobs[name] = job(arguments, moment)
        jobs[f"check {name}"] = {"arguments": ["index", str(index), "--verify"]}
    return dict(zip(jobs, run_jobs(list(jobs.values())), strict=True))


def test_every_command_is_tried_or_known_to_be_short(commands):
    assert {*WRITERS, *READERS, *OTHERS, *filter(commands.needs_torch, commands.ARGUMENTS)} == set(commands.all_commands())


def test_sigterm_ends_commands_in_order(ended, place):
    for name in (*WRITERS, *READERS, *CHANGES, TWICE):
        assert ended[name]["code"] == 143, (name, ended[name])
        assert "Traceback" not in ended[name]["stderr"], (name, ended[name])
        assert ended[name]["stdout"] == "", (name, ended[name])
    assert [path for path in place.rglob("*") if ".partial" in path.name] == []


def test_nothing_appears_under_the_name_that_was_to_be_written(ended, place):
    assert [name for name in WRITERS if (place / name / "new").is_file()] == []
    assert [path for name in WRITERS for path in (place / name).glob("new/*")] == []


def test_indexes_that_were_being_changed_are_whole(ended):
    for name in CHANGES:
        assert ended[f"check {name}"]["code"] == 0, (name, ended[f"check {name}"])
