"""Snapshots of files in a git repository, each with the day on which it came into force, read without a work tree.

Git runs with fixed arguments and without what the configuration of a repository could make it run or fetch. `git log` lists
all snapshots of all files, `git cat-file` says which of them the repository lacks and streams the contents of the others.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from lexfuse.data.dates import parse_date
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, NotFoundError

_FIELD, _COMMIT = "\x02", "\x01"
_FORMAT = "%x01%H%x02%(trailers:key=Source-Date,valueonly,separator=%x2C)%x02%s"
_SAFE = ("-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_CHANGE = re.compile(r":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) ([A-Z])\d*\t(.+)")


class FileSnapshot(NamedTuple):
    """The content of a file from a day on."""

    day: datetime.date
    blob: str  # its name in git; empty if the file was removed
    order: int  # of its commit in the log, the first is 0; days are not in that order
    original: bool = False  # the commit that began the file


def is_repository(path: str | Path) -> bool:
    """Whether a folder is a git repository, with or without a work tree.

    >>> is_repository("/nowhere")
    False
    """
    folder = _git_folder(Path(path))
    return (folder / "objects").is_dir() and (folder / "HEAD").exists()


def file_snapshots(repository: Path, suffix: str, report: ReadReport) -> dict[str, list[FileSnapshot]]:
    """The snapshots of every file with a suffix, in order of their days; of one day, the last commit counts.

    The day is that of the ``Source-Date`` of a commit: dates of commits cannot lie before 1970. A commit without it changes no
    law, such as one of a README; the report counts them.
    """
    found: dict[str, list[FileSnapshot]] = {}
    arguments = ["log", f"--format={_FORMAT}", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"]
    listed = _output(repository, ["-c", "core.quotePath=false", *arguments, "HEAD"])
    for order, commit in enumerate(reversed(listed.split(_COMMIT)[1:])):  # the oldest first
        head, *lines = commit.split("\n")
        name, written, subject = head.split(_FIELD)
        changes = [change for line in lines if (change := _CHANGE.fullmatch(line)) and change[3].endswith(suffix)]
        if not changes:
            continue
        day = _day(written)
        if day is None:
            report.note("a commit without Source-Date, not read", path=name[:12])
            continue
        for change in changes:
            blob = "" if change[2] == "D" else change[1]
            found.setdefault(change[3], []).append(FileSnapshot(day, blob, order, subject.startswith("[bootstrap]")))
    for path, every in found.items():
        last = {one.day: one for one in every}
        found[path] = [last[day] for day in sorted(last)]
    return found


def read_blobs(repository: Path, blobs: Sequence[str]) -> Iterator[str | None]:
    """The texts of blobs in this order, one at a time; None for one that the repository does not have."""
    process = subprocess.Popen(  # noqa: S603 -- fixed arguments
        [*_command(repository), "cat-file", "--batch"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment(),
    )  # fmt: skip
    asked, answers = process.stdin, process.stdout
    if asked is None or answers is None:
        raise DataError("git did not start", path=repository)
    try:
        for blob in blobs:
            asked.write(f"{blob}\n".encode())
            asked.flush()
            yield _answer(answers, repository)
    finally:
        asked.close()
        answers.close()
        process.kill()
        process.wait()


def absent_blobs(repository: Path, blobs: Sequence[str]) -> set[str]:
    """The blobs that the repository does not have, without reading the others."""
    listed = _output(repository, ["cat-file", "--batch-check"], "".join(f"{blob}\n" for blob in blobs))
    return {name for name, *facts in map(str.split, listed.splitlines()) if facts == ["missing"]}


def _answer(answers: IO[bytes], repository: Path) -> str | None:
    head = answers.readline().decode("ascii", "replace").split()
    if len(head) == 2 and head[1] == "missing":
        return None
    if len(head) != 3 or head[1] != "blob":
        raise DataError(f"git answered {' '.join(head)!r} where a file was expected; check the repository", path=repository)
    return answers.read(int(head[2]) + 1)[:-1].decode("utf-8", "replace")


def _day(written: str) -> datetime.date | None:
    try:
        return parse_date(written.strip())
    except DataError:
        return None


def _output(repository: Path, arguments: Sequence[str], given: str = "") -> str:
    command, sent = [*_command(repository), *arguments], given.encode()
    done = subprocess.run(command, input=sent, capture_output=True, check=False, env=_environment())  # noqa: S603 -- fixed arguments
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise DataError(f"git cannot read the repository: {said[-1] if said else done.returncode}", path=repository)
    return done.stdout.decode("utf-8", "replace")


def _command(repository: Path) -> list[str]:
    git = shutil.which("git")
    if git is None:
        raise ConfigError("a history is read with git, which is not installed; install git")
    folder = _git_folder(repository)
    if not is_repository(repository):
        raise NotFoundError(f"{str(repository)!r} is not a git repository; clone it with its history: git clone ADDRESS")
    return [git, "--no-pager", f"--git-dir={folder.absolute()}", *_SAFE]


def _git_folder(path: Path) -> Path:
    return path / ".git" if (path / ".git").is_dir() else path


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
