"""Kills writers of an index and of other outputs again and again, and checks after each kill that nothing committed is lost.

    python kills.py FOLDER [--kills 1000] [--seed 7] [--names-first | --parts-first]
    python kills.py FOLDER --every-call-of file folder key revoke

A writer is killed before one of its calls to the file system, drawn at random, by SIGKILL or SIGTERM; the next one goes on
with what it left. So the kills come at the same moments on a busy machine as on an idle one, and a seed repeats them. It prints
one JSON line with what was found. With ``--names-first`` (for segments) or
``--parts-first`` (for channels) writers break the rule that files come before their names, so the check must find damage.
With ``--every-call-of`` changes of these kinds are killed before each of their calls, one after the other.
"""

import argparse
import json
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tracer import Event, require, trace
from workload import EXAMPLES, Change, State, Writer, after, copy, possible, problems_of, started, unnamed, warm

from lexfuse.storage.segments.segment import Segment
from lexfuse.storage.stored_channel import ChannelSegment

KILLS = 40  # of one index; then comes a new one
CALLS = 250  # until a kill at most: those of a few changes
CHANGES = 1000  # more than any writer lives to make


def killed(root: Path, state: State, chance: random.Random) -> tuple[list[Event], int]:
    """The events of a writer until it was killed, and how it ended."""
    seed, left, how = chance.randrange(10**9), chance.randint(1, CALLS), chance.choice([signal.SIGKILL, signal.SIGTERM])

    def decide(event: Event) -> signal.Signals | None:
        nonlocal left
        left -= event.kind != "mark"
        return how if left < 0 else None

    done = trace(lambda: Writer(root).go_on(state, random.Random(seed), CHANGES), root, decide)  # noqa: S311 -- repeatable
    return done.events, done.status


def kill(root: Path, state: State, chance: random.Random) -> tuple[dict, State]:
    """Kill one writer: what is told of it, and the state that it left."""
    events, status = killed(root, state, chance)
    end = next((at for at, event in enumerate(events) if (event.kind, event.path) == ("mark", "killed")), len(events))
    marks = [event.path for event in events[:end] if event.kind == "mark"]
    flying = json.loads(marks[-1].removeprefix("begun "))[0] if marks and marks[-1].startswith("begun ") else None
    told = {"done": marks.count("done"), "in flight": flying, "status": status, "problems": []}
    failed = [mark for mark in marks if mark.startswith("raised ")]
    if end == len(events) or failed:
        told["problems"].append(f"the writer was not killed, it ended with {status} {failed}")
        return told, state
    problems, state = problems_of(root, possible(state, events), chance)
    told["problems"] += problems
    told["unnamed"] = 0 if problems else unnamed(root)
    return told, state


def killed_again_and_again(folder: Path, kills: int, chance: random.Random) -> Iterator[dict]:
    """Kill so many writers; a new index is begun after some of them, and after one that was damaged."""
    state, root, damaged = State(), folder, False
    for number in range(kills):
        if number % KILLS == 0 or damaged:
            state, root = State(), folder / str(number)
            root.mkdir()
        told, state = kill(root, state, chance)
        damaged = bool(told["problems"])
        yield told


def killed_at_every_call(folder: Path, kinds: list[str]) -> Iterator[dict]:
    """Kill a change of each kind before its first call, its second one and so on, each time from the same start."""
    start, root = folder / "start", folder / "killed"
    state = started(start)
    for change in (change for change in EXAMPLES if change[0] in kinds):
        for call in count(1):
            copy(start, root)
            status = killed_at(root, change, call)
            problems, _ = problems_of(root, [state, after(state, change)], random.Random(1))  # noqa: S311 -- repeatable
            shutil.rmtree(root)
            if status == 0:  # it has fewer calls
                break
            yield {"done": 0, "in flight": change[0], "status": status, "problems": problems}


def killed_at(root: Path, change: Change, call: int) -> int | None:
    """How a process ends that makes a change and is killed before one of its calls."""
    calls = 0

    def decide(event: Event) -> signal.Signals | None:
        nonlocal calls
        calls += event.kind != "mark"
        return signal.SIGKILL if calls == call else None

    return trace(lambda: Writer(root).make(change), root, decide).status


def names_first(kind: type) -> None:
    """Break the order: the catalog names a segment or a part whose files are written by the next operation only."""
    save, late = kind.save, []

    def save_late(self, folder, *options, **named):
        while late:
            late.pop()()
        late.append(lambda: save(self, folder, *options, **named))
        return "0" * 64

    kind.save = save_late


def main() -> None:
    """Read the arguments and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--every-call-of", nargs="+", default=[])
    parser.add_argument("--names-first", action="store_true")
    parser.add_argument("--parts-first", action="store_true")
    wanted = parser.parse_args()
    require()
    warm(wanted.folder / "warm")
    for kind in [Segment] * wanted.names_first + [ChannelSegment] * wanted.parts_first:
        names_first(kind)
    if wanted.every_call_of:
        each = list(killed_at_every_call(wanted.folder, wanted.every_call_of))
    else:
        each = list(killed_again_and_again(wanted.folder, wanted.kills, random.Random(wanted.seed)))  # noqa: S311 -- repeatable
    found = summary(each)
    print(json.dumps(found))  # noqa: T201
    sys.exit(1 if found["problems"] else 0)


def summary(each: list[dict]) -> dict:
    """All kills in one object."""
    lost = [{"kill": number, **told} for number, told in enumerate(each) if told["problems"]]
    return {
        "kills": len(each),
        "changes done": sum(told["done"] for told in each),
        "in flight": dict(Counter(told["in flight"] or "none" for told in each)),
        "signals": dict(Counter(str(told["status"]) for told in each)),
        "with files not yet named": sum(told.get("unnamed", 0) > 0 for told in each),
        "with problems": len(lost),
        "problems": lost,
    }


if __name__ == "__main__":
    main()
