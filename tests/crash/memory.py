"""Lets the n-th request for memory fail, for every n of several changes, and checks that nothing committed is lost.

    python memory.py FOLDER [--every 1]

The kernel refuses one request of a process for memory, or all from then on (ENOMEM). The change must succeed or end in
MemoryError or an error of LexFuse, never in a crash, and the index is as it was before or after the change. It prints one JSON
line. ``--every 5`` takes every fifth request only.
"""

import argparse
import errno
import json
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

from tracer import MEMORY, STORAGE, Event, require, trace
from workload import MOST, Change, State, Writer, after, copy, problems_of, started, warm

LONG = {f"d{number}": 7 for number in range(20, MOST)}  # every seventh version is long
CHANGES: list[Change] = [
    ("add", LONG), ("update", LONG | {"d1": 7}), ("create", LONG), ("fill", {}), ("merge", {}), ("rebuild", {}), ("compact", {}),
]  # fmt: skip
CALLS = MEMORY | {number: name for number, name in STORAGE.items() if name == "write"}  # marks are written
CLEAN = ("raised MemoryError", "raised _ArrayMemoryError", "raised StorageError", "raised DataError")


def refused(root: Path, change: Change, failing: int, *, lasting: bool) -> tuple[int, int | None, list[str]]:
    """Refuse memory from a request on: how many requests there were, how the process ended, and what it raised."""
    requests, ended = 0, False

    def decide(event: Event) -> int | None:
        nonlocal requests, ended
        if event.kind != "memory":
            ended = ended or event.kind == "mark"  # it has raised an error or is done, and only tells so
            return None
        requests += 1
        return errno.ENOMEM if not ended and (requests >= failing if lasting else requests == failing) else None

    done = trace(lambda: Writer(root).make(change), root, decide, CALLS)
    return requests, done.status, [event.path for event in done.events if event.kind == "mark"]


def problems(root: Path, state: State, change: Change, status: int | None, marks: list[str]) -> list[str]:
    """What is wrong after a change that was refused memory."""
    wrong = [] if status in (0, 97) else [f"the process ended with {status}"]
    wrong += [text for text in marks if not text.startswith(CLEAN)]
    done = after(state, change)
    found, _ = problems_of(root, [done] if status == 0 else [state, done], random.Random(1))  # noqa: S311 -- repeatable
    return wrong + found


def main() -> None:
    """Read the arguments and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1)
    wanted = parser.parse_args()
    require()
    warm(wanted.folder / "warm")
    start, root = wanted.folder / "start", wanted.folder / "tried"
    state, tried, ends, lost = started(start), Counter(), Counter(), []

    def tries(change: Change, failing: int, *, lasting: bool) -> int:
        copy(start, root)
        requests, status, marks = refused(root, change, failing, lasting=lasting)
        ends[" ".join(marks[0].split(":")[0].split()[:2]) if marks else str(status)] += 1
        if found := problems(root, state, change, status, marks):
            lost.append({"change": change[0], "request": failing, "lasting": lasting, "problems": found})
        shutil.rmtree(root)
        return requests

    for at, change in enumerate(CHANGES):
        requests = tries(change, 10**9, lasting=False)  # none fails
        for lasting in (False, True):
            for failing in range(1 + (2 * at + lasting) % min(wanted.every, requests), requests + 1, wanted.every):
                tries(change, failing, lasting=lasting)
                tried[change[0]] += 1
    line = {"refusals": sum(tried.values()), "of": dict(tried), "ends": dict(ends), "with problems": len(lost), "problems": lost}
    print(json.dumps(line))  # noqa: T201
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
