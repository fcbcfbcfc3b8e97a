"""Runs many commands as processes of their own, cheaply: what all of them import is imported once, then every command is a fork.

It is a program: jobs come as JSON on standard input, results go as JSON to standard output. A forked command runs the real
`main` on real file descriptors and ends as a real interpreter does. `run_jobs` starts the program from a test.

A job: ``arguments``; ``environment``; ``stdin`` (a file, or "closed"); ``stdout`` and ``stderr`` ("full", "closed", "pipe" for
one that nobody reads, captured if not given); ``encoding`` of stdout; ``signals``, a list of [event, text, number]: the process
sends itself the signal at the first audit event of that name whose arguments hold the text.
"""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

SOONER_OR_LATER = 300  # seconds after which a command that hangs is killed


def run_jobs(jobs, *, wrapper=()):
    """The result of every job: code (negative for a signal), stdout, stderr."""
    done = subprocess.run(
        [*wrapper, sys.executable, __file__],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def preload():
    import importlib

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
        "lexfuse.cli.train.static",
        "numba",
        "scipy.stats",
        "lexfuse.evaluation.comparison",
        "lexfuse.optimisation.weight_surface",
        "lexfuse.advice.advisor",
        "lexfuse.kernels.fusion_numba",
    ):
        importlib.import_module(name)
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
    os.environ.update(job.get("environment", {}))
    places = [job.get("stdin", os.devnull), job.get("stdout", f"{folder}/stdout"), job.get("stderr", f"{folder}/stderr")]
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


def finished(job, folder):
    pid = os.fork()
    if pid == 0:
        signal.alarm(SOONER_OR_LATER)
        become(job, folder)  # and never come back: what it raises ends the process, as it would end an interpreter
        sys.exit(0)
    _, status = os.waitpid(pid, 0)
    read = {name: _text(Path(folder, name)) for name in ("stdout", "stderr")}
    return {"code": os.waitstatus_to_exitcode(status), **read}


def _text(path):
    return path.read_bytes().decode("utf-8", "backslashreplace") if path.exists() else ""


if __name__ == "__main__":
    jobs = json.load(sys.stdin)
    preload()
    results = []
    for job in jobs:
        place = tempfile.mkdtemp()  # a context manager would tidy up at the end of the fork too
        results.append(finished(job, place))
        shutil.rmtree(place)
    json.dump(results, sys.stdout)
