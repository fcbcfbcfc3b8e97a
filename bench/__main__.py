"""``python -m bench``: run all benchmarks, collect what fails, print one table, and keep the results.

    python -m bench [--quick] [--json] [--only NAME] [--list] [--results FILE]

Prints what every script needs before it runs. A script whose needs are not met is left out, and named at the end with what is
missing. A script that fails, or measures nothing, does not stop the others. Results are added to FILE; the plot and the table of
the newest figures next to it are written again, so that runs of single scripts add up to a complete one. Exits with 1 if a script
failed or nothing was measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from bench.runner.figures import Figure, shown
from bench.runner.results import RESULTS, Measurement, append, newest, plot, read
from bench.runner.script import Outcome, Script, Status, scripts
from reproduce.console import aligned
from reproduce.result import Circumstances

HEAD = ("script", "metric", "ours", "theirs", "ratio", "peer")
SOURCES = ("script", "date", "commit", "machine", "took", "form")


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run all benchmarks.")
    parser.add_argument("--quick", action="store_true", help="the quick form of every script; one without it is left out")
    parser.add_argument("--json", action="store_true", help="one JSON object a metric instead of the table")
    parser.add_argument("--only", action="append", metavar="NAME", help="run this script (may be repeated)")
    parser.add_argument("--list", action="store_true", help="say what every script needs and whether it is there; run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE", help="results so far [%(default)s]")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, every: Mapping[str, Script] | None = None) -> int:
    """Run what was asked for, and return the exit status."""
    asked, every = arguments(given), scripts() if every is None else every
    if unknown := [name for name in asked.only or () if name not in every]:
        print(f"error: no benchmark {', '.join(unknown)}; there are {', '.join(every)}", file=sys.stderr)
        return 2
    chosen = [every[name] for name in dict.fromkeys(asked.only or every)]
    if asked.list:
        print("\n".join(line for script in chosen for line in needs_lines(script, quick=asked.quick)))
        return 0
    try:
        read(asked.results)  # a file that cannot be read is reported before anything is measured
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    outcomes = [run_one(script, asked) for script in chosen]
    if any(one.status is Status.MEASURED for one in outcomes):
        kept, drawing, listing = read(asked.results), asked.results.with_suffix(".svg"), asked.results.with_suffix(".txt")
        drawing.write_text(plot(kept), encoding="utf-8")
        listing.write_text("\n".join(newest_lines(kept)) + "\n", encoding="utf-8")
        say(f"\nresults: {asked.results}\nplot: {drawing}\ntable of the newest results: {listing}")
    if not asked.json:
        print("\n".join(table(outcomes)))
    say("\n".join(summary(outcomes)))
    failed = any(one.status is Status.FAILED for one in outcomes)
    return 1 if failed or all(one.status is Status.LEFT_OUT for one in outcomes) else 0


def run_one(script: Script, asked: argparse.Namespace) -> Outcome:
    """Say what a script needs, run it, and keep what it measured."""
    say("\n".join(needs_lines(script, quick=asked.quick)))
    circumstances = Circumstances.now()

    def show(figure: Figure) -> None:
        if asked.json:
            print(json.dumps({"script": script.name} | figure.as_json(), ensure_ascii=False), flush=True)
        else:
            peer = f"   {shown(figure.theirs)} {figure.peer}   x {shown(figure.ratio)}" if figure.peer else ""
            say(f"  {figure.metric}: {shown(figure.ours)}{peer}")

    outcome = script.run(os.environ, show, quick=asked.quick)
    if outcome.status is Status.MEASURED:
        append(asked.results, Measurement.of(outcome, circumstances, quick=asked.quick))
    elif outcome.status is Status.FAILED:
        say(f"  failed: {outcome.reason}")
    return outcome


def needs_lines(script: Script, *, quick: bool) -> list[str]:
    """What a script measures and needs, and what of it is missing."""
    hindrances = script.hindrances(os.environ, quick=quick)
    lines = [*script.needs.lines(), *(f"left out: {one}" for one in hindrances)]
    return [f"== {script.name}: {script.title}", *(f"  {line}" for line in lines)]


def newest_lines(measurements: Sequence[Measurement]) -> list[str]:
    """The newest figures of every script under one head, after a line a script that says when and where they were measured."""
    last = newest(measurements)
    sources = [(one.script, *astuple(one.circumstances), f"{one.seconds:.0f} s", "quick" if one.quick else "") for one in last]
    return [*aligned([SOURCES, *sources]), "", *table(last)]


def table(outcomes: Sequence[Outcome | Measurement]) -> list[str]:
    """All figures under one head."""
    rows = [
        (outcome.script, one.metric, shown(one.ours), shown(one.theirs), shown(one.ratio), one.peer or "")
        for outcome in outcomes
        for one in outcome.figures
    ]
    return list(aligned([HEAD, *rows])) if rows else []


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """How many scripts measured, and why the others did not."""
    counts = {status: [one for one in outcomes if one.status is status] for status in Status}
    lines = [", ".join(f"{len(found)} {status}" for status, found in counts.items())]
    for status in (Status.FAILED, Status.LEFT_OUT):
        lines += [f"{status}: {one.script}: {one.reason}" for one in counts[status]]
    return lines


def say(words: str) -> None:
    """Print what is not a result on standard error."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
