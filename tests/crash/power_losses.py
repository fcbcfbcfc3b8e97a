"""Loses power again and again while an index and other outputs are written, and checks each time that nothing committed is lost.

    python power_losses.py FOLDER [--losses 200] [--seed 7] [--unsynced]

A writer is recorded call by call; then the disk is put together as it may be after a loss of power at a random call, with
what was not synced dropped, torn or kept (see `disk`), and the index is opened, verified, searched and changed again. It prints
one JSON line with what was found. With ``--unsynced`` no sync counts, so the check must find damage.
"""

import argparse
import json
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

from disk import Disk, Loss
from tracer import Event, require, trace
from workload import State, Writer, after, drawn, possible, problems_of, warm

CHANGES = 25  # in one recording
LOSSES = 25  # of one recording


def recorded(root: Path, seed: int) -> list[Event]:
    """What a writer does below an empty folder."""
    root.mkdir(parents=True)
    done = trace(lambda: Writer(root).go_on(State(), random.Random(seed), CHANGES), root, lambda _: None)  # noqa: S311
    if done.status != 0:
        raise RuntimeError(f"the writer failed: {done.events[-1]}")
    return done.events


def loss_of_power(events: list[Event], cut: int, loss: Loss, chance: random.Random, root: Path, target: Path) -> list[str]:
    """What is wrong when power is lost before an event: with what is left, and after the next change of it."""
    disk = Disk(root)
    for event in events[:cut]:
        disk.happen(event)
    disk.lose_power(loss, chance, target)
    problems, state = problems_of(target, possible(State(), events[:cut]), chance)
    if problems:
        return problems
    writer, change = Writer(target), drawn(state, chance)
    writer.make(change)
    writer.close()
    problems, _ = problems_of(target, [after(state, change)], chance)
    return [f"after the next change: {problem}" for problem in problems]


def main() -> None:
    """Read the arguments and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--losses", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--unsynced", action="store_true")
    wanted = parser.parse_args()
    require()
    warm(wanted.folder / "warm")
    chance = random.Random(wanted.seed)  # noqa: S311 -- repeatable
    root, target = wanted.folder / "recorded", wanted.folder / "left"
    lost, kinds, flying, events = [], Counter(), Counter(), []
    for number in range(wanted.losses):
        if number % LOSSES == 0:
            shutil.rmtree(root, ignore_errors=True)
            events = recorded(root, chance.randrange(10**9))
            if wanted.unsynced:
                events = [event for event in events if event.kind != "sync"]
        cut, loss = chance.randint(1, len(events)), chance.choice(list(Loss))
        kinds[loss.value] += 1
        marks = [event.path for event in events[:cut] if event.kind == "mark"]
        flying[json.loads(marks[-1].removeprefix("begun "))[0] if marks[-1:] and marks[-1] != "done" else "none"] += 1
        if problems := loss_of_power(events, cut, loss, chance, root, target):
            lost.append({"loss": number, "kind": loss.value, "before": cut, "of": len(events), "problems": problems})
        shutil.rmtree(target)
    line = {
        "losses": wanted.losses,
        "kinds": dict(kinds),
        "in flight": dict(flying),
        "with problems": len(lost),
        "problems": lost,
    }
    print(json.dumps(line))  # noqa: T201
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
