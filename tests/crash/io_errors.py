"""Lets the n-th call to the file system fail, for every n of every kind of change, and checks that nothing committed is lost.

    python io_errors.py FOLDER [--every 1]

A failing call gives ENOSPC or EIO: once (and the same process makes the change again), from then on, as on a full disk, or
every sync from then on, as on a broken disk. The change must succeed or end in an error of LexFuse, and one that says that
nothing was changed must be right. It prints one JSON line. ``--every 5`` takes every fifth call only.
"""

import argparse
import errno
import json
import random
import shutil
import sys
from collections import Counter
from enum import StrEnum
from pathlib import Path

from tracer import Event, mark, require, trace
from workload import EXAMPLES, Change, State, Writer, after, copy, problems_of, started, warm

from lexfuse.errors import LexFuseError, StorageError


class Failure(StrEnum):
    """Which calls fail."""

    ONCE = "once"
    FULL = "full"  # all from then on
    SYNC = "sync"  # all syncs from then on

    def error(self, call: int, failing: int, event: Event) -> int | None:
        """The error that a call gives, if it fails."""
        if event.kind == "mark" or call < failing or (call > failing and self is Failure.ONCE):
            return None
        if self is Failure.SYNC:
            return errno.EIO if event.kind == "sync" else None
        return errno.ENOSPC if self is Failure.FULL or failing % 2 else errno.EIO


def attempt(root: Path, change: Change, times: int) -> None:
    """Make a change that may fail, so often at most; errors of LexFuse are marked, others end the process."""
    for _ in range(times):
        try:
            writer = Writer(root)
            writer.make(change)
            writer.close()
            break
        except LexFuseError as error:
            mark(f"refused {type(error).__name__}: {error}")


def failed(root: Path, change: Change, failing: int, failure: Failure) -> tuple[int, list[str]]:
    """Let calls fail from the given one on; gives how many calls there were, and what was marked."""
    calls = 0

    def decide(event: Event) -> int | None:
        nonlocal calls
        calls += event.kind != "mark"
        return failure.error(calls, failing, event)

    done = trace(lambda: attempt(root, change, 2 if failure is Failure.ONCE else 1), root, decide)
    return calls, [event.path for event in done.events if event.kind == "mark"]


def problems(root: Path, state: State, change: Change, marks: list[str], failure: Failure) -> list[str]:
    """What is wrong after a change of which calls failed."""
    wrong = [text for text in marks if not text.startswith(f"refused {StorageError.__name__}")]
    states = [state, after(state, change)]
    if failure is Failure.ONCE:  # it was made again
        states = states[1:]
    elif any("nothing was changed" in text for text in marks):
        states = states[:1]
    found, _ = problems_of(root, states, random.Random(1))  # noqa: S311 -- repeatable
    return wrong + found


def main() -> None:
    """Read the arguments and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--changes", nargs="+", default=[kind for kind, _ in EXAMPLES])
    wanted = parser.parse_args()
    require()
    warm(wanted.folder / "warm")
    start, root = wanted.folder / "start", wanted.folder / "tried"
    state, tried, refused, lost = started(start), Counter(), 0, []

    def tries(change: Change, failing: int, failure: Failure) -> int:
        nonlocal refused
        copy(start, root)
        calls, marks = failed(root, change, failing, failure)
        refused += bool(marks)
        if found := problems(root, state, change, marks, failure):
            lost.append({"change": change[0], "call": failing, "failure": failure, "marks": marks, "problems": found})
        shutil.rmtree(root)
        return calls

    for at, change in enumerate(change for change in EXAMPLES if change[0] in wanted.changes):
        calls = tries(change, 10**9, Failure.ONCE)  # none fails
        for number, failure in enumerate(Failure):
            for failing in range(1 + (3 * at + number) % min(wanted.every, calls), calls + 1, wanted.every):
                tries(change, failing, failure)
                tried[change[0]] += 1
    line = {"failures": sum(tried.values()), "of": dict(tried), "refused": refused, "with problems": len(lost), "problems": lost}
    print(json.dumps(line))  # noqa: T201
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
