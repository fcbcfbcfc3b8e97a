"""No command ends in a raw traceback, whatever its streams, its locale and its surroundings are."""

import json
import os
import subprocess
import sys

import pytest

NOWHERE = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere", "LEXFUSE_CACHE": ""}
# Conditions that have nothing to do with one another are tried together, to run every command but a few times.
CONDITIONS = {
    "full": {"stdout": "full", "stdin": "closed", "environment": {"TERM": "dumb"}},
    "unread": {"stdout": "pipe", "stderr": "full", "environment": {"COLUMNS": "3"}},
    "closed": {"stdout": "closed", "stderr": "closed", "environment": NOWHERE},
    "narrow": {"encoding": "ascii", "stderr": "pipe", "environment": NOWHERE | {"COLUMNS": "0", "TERM": "dumb"}},
}
WITHOUT_OUTPUT = {"full": 5, "closed": 5, "unread": 141}


def environment(job, commands):
    return job | {"environment": commands.NO_REGISTRY | {"LEXFUSE_TRACEBACK": "1"} | job.get("environment", {})}


@pytest.fixture(scope="module")
def ended(commands, run_jobs, library, tmp_path_factory):
    """How every command ended, under three conditions each."""
    new, jobs = tmp_path_factory.mktemp("new"), {}
    for number, name in enumerate(commands.ARGUMENTS):
        chosen = ["narrow"] if commands.needs_torch(name) else ["narrow", "full", ("unread", "closed")[number % 2]]
        for condition in chosen:
            arguments = commands.filled_in(name, library, new / f"{len(jobs)}-é")
            job = {"arguments": arguments, "clears": condition != "narrow"} | CONDITIONS[condition]
            if name == "demo":  # what was fetched on this machine before must not be found
                job["environment"] = {"LEXFUSE_CACHE": str(new / "cache")} | job.get("environment", {})
            jobs[name, condition] = environment(job, commands)
    return dict(zip(jobs, run_jobs(list(jobs.values())), strict=True))


def test_every_command_has_an_example(commands):
    assert set(commands.ARGUMENTS) == set(commands.all_commands())


def test_no_command_ends_in_a_traceback(ended, commands):
    """One test, since workers would share its many commands otherwise only by running them again."""
    for (name, condition), result in ended.items():
        told = result["stdout"] + result["stderr"]
        assert "Traceback" not in told, (name, condition, told)
        assert "Exception ignored" not in told, (name, condition, told)
        expected = commands.exit_codes(name)
        if expected == {0} and name not in commands.SILENT:
            expected = {WITHOUT_OUTPUT.get(condition, 0)}
        assert result["code"] in expected, (name, condition, result)
    assert {condition for _, condition in ended} == set(CONDITIONS)
    assert "cannot write to standard output: No space left on device" in ended["search", "full"]["stderr"]
    assert r"\xe9" in ended["search", "narrow"]["stdout"]  # letters that the output lacks are escaped


def test_help_and_json_that_cannot_be_written(commands, run_jobs, library):
    asked = [["--help"], ["--version"], [], ["tune", "--help"], ["search", str(library / "library.index"), "livre", "--json"]]
    tried = [(one, stream) for one in asked for stream in ("full", "pipe", "closed")]
    streams = [stream for _, stream in tried]
    results = run_jobs([environment({"arguments": one, "stdout": stream}, commands) for one, stream in tried])
    assert [result["code"] for result in results] == [141 if stream == "pipe" else 5 for stream in streams]
    assert not any("Traceback" in result["stderr"] or "Exception ignored" in result["stderr"] for result in results)
    assert all(result["stderr"] == "" for result, stream in zip(results, streams, strict=True) if stream == "pipe")  # | head -1


LOCALES = {
    "C": {"LC_ALL": "C"},
    "POSIX": {"LC_ALL": "POSIX", "LANG": ""},
    "ascii output": {"PYTHONIOENCODING": "ascii"},
    "C, not mended": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def lexfuse(commands, *arguments, **others):
    return subprocess.run([str(commands.COMMAND), *map(str, arguments)], capture_output=True, check=False, **others)


@pytest.mark.parametrize("locale", LOCALES)
def test_french_in_any_locale(commands, library, tmp_path, locale):
    """The question, the text and the names of folders have accents; JSON is UTF-8 everywhere."""
    surroundings = os.environ | LOCALES[locale]
    found = lexfuse(commands, "search", library / "library.index", "le délai du prêt", "--json", env=surroundings)
    assert found.returncode == 0, found.stderr
    assert "bibliothèques" in json.loads(found.stdout)["results"][0]["title"]
    shown = lexfuse(commands, "analyse", "-", input="le préavis".encode(), env=surroundings)
    assert shown.returncode == 0, shown.stderr
    assert b"avis" in shown.stdout
    made = lexfuse(commands, "import", library / "articles.csv", tmp_path / "été", env=surroundings)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "été" / "corpus.jsonl.gz").is_file()


def test_bytes_that_are_no_text(commands, library):
    found = lexfuse(commands, "search", library / "library.index", b"pr\xe9avis".decode("utf-8", "surrogateescape"), "--json")
    assert found.returncode in (0, 2), found.stderr
    assert b"Traceback" not in found.stderr


@pytest.mark.parametrize(
    "module", ["lexfuse.cli.process", "typer", "lexfuse.cli.app", "rich.console", "numpy", "lexfuse.storage.index_folder"]
)
def test_an_interrupt_among_the_imports(library, module):
    """Ctrl-C comes when the module is imported: at the start, and inside a command."""
    program = f"""
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
from lexfuse.cli import main
sys.meta_path.insert(0, Interrupts())
sys.argv = ["lexfuse", "search", {str(library / "library.index")!r}, "livre"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode in (130, -2), done.stderr  # a shell shows 130 for both
    assert done.stderr.strip() == ""
    assert done.stdout == ""
