"""Runs many commands as processes of their own, cheaply: what all of them import is imported once, then every command is a fork.

A forked command runs the real `main` on real file descriptors, in its own folder and environment. A job of `run_jobs` ends as a
real interpreter does. A command of `lexfuse` joins its threads, runs what is registered for the exit and flushes its output, but
does not clear every module: that takes a tenth of a second of a forked process, most of what a small command takes at all. What
only a new interpreter does is tried elsewhere: tests/test_readme.py, tests/test_dependencies.py and some of tests/cli start the
program itself.

`lexfuse` and `run_jobs` start this file as a program once in every process of the tests: jobs come as lines of JSON on standard
input, results go as lines of JSON to standard output. Its arguments are packages that it and its commands cannot import, as if
they were not installed.

A job: ``arguments``; ``environment``, added to that of the test; ``folder``, where it runs; ``stdin`` (a file, or "closed") or
``input`` (a text); ``stdout`` and ``stderr`` ("full", "closed", "pipe" for one that nobody reads, captured if not given);
``encoding`` of stdout; ``signals``, a list of [event, text, number]: the process sends itself the signal at the first audit event
of that name whose arguments hold the text; ``clears``, whether the interpreter clears its modules at the end. ``goes_on`` starts
a job that is not waited for: its result has its process and the folder of its streams; ``{"ended": process}`` waits for its end.
"""

import atexit
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from shared_compilation import share_compilation

SOONER_OR_LATER = 600  # seconds after which a command that hangs is killed
_ONE_AT_A_TIME = threading.Lock()


def lexfuse(*arguments, cwd=None, stdin=None, without=(), **environment):
    """Run a command as `subprocess.run` does: exit code, stdout and stderr as texts. Its lines are 160 characters wide.

    Packages of `without` cannot be imported.
    """
    job = {"arguments": [str(one) for one in arguments], "environment": {"COLUMNS": "160"} | environment, "clears": False}
    job |= {name: str(value) for name, value in (("folder", cwd), ("input", stdin)) if value is not None}
    [result] = run_jobs([job], without)
    return subprocess.CompletedProcess(["lexfuse", *job["arguments"]], result["code"], result["stdout"], result["stderr"])


@contextmanager
def going_on(*arguments, cwd=None, **environment):
    """A command that goes on, like a server: its standard output, and the path of its standard error.

    At the end it gets SIGTERM, and must end well.
    """
    job = {"arguments": [str(one) for one in arguments], "environment": environment, "clears": False, "goes_on": True}
    [started] = run_jobs([job | ({"folder": str(cwd)} if cwd else {})])
    with open(f"{started['place']}/stdout", encoding="utf-8") as output:
        try:
            yield output, Path(started["place"], "stderr")
        finally:
            with suppress(ProcessLookupError):
                os.kill(started["process"], signal.SIGTERM)
            output.read()
            [ended] = run_jobs([{"ended": started["process"]}])
    assert ended["code"] == 0, ended


def run_jobs(jobs, without=()):
    """The result of every job: code (negative for a signal), stdout, stderr."""
    with _ONE_AT_A_TIME:
        return [_answer(job, tuple(without)) for job in jobs]


def _answer(job, without):
    surroundings = dict(os.environ) | job.get("environment", {})
    server = _server(without)
    server.stdin.write(json.dumps({"folder": os.getcwd()} | job | {"environment": surroundings}) + "\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    assert answer, f"the launcher ended with {server.wait()}, see its standard error"
    return json.loads(answer)


@cache
def _server(without):
    """The program, which ends with this process."""
    command = [sys.executable, __file__, *without]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    atexit.register(server.communicate)
    return server


class Refused:
    """Finds no module of some packages."""

    def __init__(self, packages):
        self.packages = frozenset(packages)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def preload(without=()):
    import importlib

    sys.meta_path.insert(0, Refused(without))

    for name in (
        "lexfuse.cli.app",
        "lexfuse.cli.process",
        "lexfuse.cli.output.console",
        "numpy",
        "orjson",
        "rich.console",
        "rich.table",
        "rich.progress",
        "typer.rich_utils",
        "lexfuse.storage.index_folder",
        "lexfuse.channels.registry",
        "lexfuse.data.formats.file_format",
        "lexfuse.service.mcp.server",
        "lexfuse.service.settings",
        "lexfuse.cli.serve",
        "lexfuse.cli.train.static",
        "numba",
        "scipy.stats",
        "lexfuse.evaluation.comparison",
        "lexfuse.optimisation.weight_surface",
        "lexfuse.advice.advisor",
        "lexfuse.kernels.fusion_numba",
    ):
        try:
            importlib.import_module(name)
        except ImportError:  # a command that needs it says so
            if not without:
                raise
    share_compilation()
    gc.freeze()


def redirect(descriptor, target):
    if target == "closed":
        os.close(descriptor)
        return
    if target == "full":
        opened = os.open("/dev/full", os.O_WRONLY)
    elif target == "pipe":
        unread, opened = os.pipe()
        os.close(unread)
    else:
        opened = os.open(target, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(opened, descriptor)
    os.close(opened)


def become(job, folder):
    """In the fork: set everything up as the job says, and be the command."""
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    places = [job.get("stdin", f"{folder}/stdin"), job.get("stdout", f"{folder}/stdout"), job.get("stderr", f"{folder}/stderr")]
    for descriptor, target in enumerate(places):
        redirect(descriptor, target)
    for name, target in zip(("stdin", "stdout", "stderr"), places, strict=True):
        if target == "closed":
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
    if job.get("encoding"):  # as PYTHONIOENCODING has it
        sys.stdout.reconfigure(encoding=job["encoding"], errors="strict")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["lexfuse", *job["arguments"]]
    waiting = [tuple(each) for each in job.get("signals", [])]
    if waiting:

        def watch(event, arguments):
            if waiting and event == waiting[0][0] and waiting[0][1] in " ".join(map(str, arguments)):
                os.kill(os.getpid(), waiting.pop(0)[2])

        sys.addaudithook(watch)
    from lexfuse.cli import main

    main()


def end_without_clearing(job, folder):
    """Be the command, and end as an interpreter does up to the clearing of modules."""
    code = 0
    try:
        become(job, folder)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:
        code = 1
        sys.excepthook(*sys.exc_info())
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BaseException:
        code = code or 120  # as an interpreter that cannot flush
    os._exit(code)


def started(job, folder):
    """The process of a job."""
    Path(folder, "stdin").write_text(job.get("input", ""), encoding="utf-8")
    pid = os.fork()
    if pid == 0:
        if not job.get("goes_on"):
            signal.alarm(SOONER_OR_LATER)
        if not job.get("clears", True):
            end_without_clearing(job, folder)
        become(job, folder)  # and never come back: what it raises ends the process, as it would end an interpreter
        sys.exit(0)
    return pid


def finished(pid, folder):
    """The result of a process, whose streams are in a folder."""
    _, status = os.waitpid(pid, 0)
    read = {name: _text(Path(folder, name)) for name in ("stdout", "stderr") if not Path(folder, name).is_fifo()}
    shutil.rmtree(folder)
    return {"code": os.waitstatus_to_exitcode(status), **read}


def answer_to(job, running):
    """The result of a job; `running` has the processes that go on, with the folders of their streams."""
    if "ended" in job:
        return finished(job["ended"], running.pop(job["ended"]))
    folder = tempfile.mkdtemp()  # a context manager would tidy up at the end of the fork too
    if not job.get("goes_on"):
        return finished(started(job, folder), folder)
    os.mkfifo(f"{folder}/stdout")
    process = started(job, folder)
    running[process] = folder
    return {"process": process, "place": folder}


def _text(path):
    return path.read_bytes().decode("utf-8", "backslashreplace") if path.exists() else ""


def serve():
    """Run the jobs in turn, until there are no more."""
    asked, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    for descriptor in (0, 1):  # the commands get others
        redirect(descriptor, os.devnull)
    preload(sys.argv[1:])
    running = {}
    for line in asked:
        answers.write(json.dumps(answer_to(json.loads(line), running)) + "\n")
        answers.flush()
    for process, folder in running.items():  # whoever started them was ended before
        os.kill(process, signal.SIGKILL)
        finished(process, folder)


if __name__ == "__main__":
    serve()
