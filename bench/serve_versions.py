"""The service of this checkout compared with that of another one: the same answers, time and processor time of a request.

    python bench/serve_versions.py --index FOLDER --other CHECKOUT [--queries QUERIES] [--quick] [--json]

CHECKOUT is a folder with another version of the sources (`git archive COMMIT src | tar -x -C CHECKOUT`). Both services run at the
same time and are asked the same questions in turn, first by one client, then by eight, so that other load on the machine slows
both alike. Questions are new to both, as in `bench/serve.py`; profile hybrid. Answers must be equal, but for the
times they state; otherwise the script stops with an error. A ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from runner.needs import Needs
from serve import Questions, Record, Served, served, show

NEEDS = Needs(
    inputs={"LEXFUSE_BENCH_INDEX": "an index with a dense channel", "LEXFUSE_BENCH_CHECKOUT": "another version of the sources"},
    arguments=("--index", "{LEXFUSE_BENCH_INDEX}", "--other", "{LEXFUSE_BENCH_CHECKOUT}"),
)

ROOT = Path(__file__).parent.parent
WARM_UP = 30  # questions


class Side:
    """One of the two services, and what was measured of it."""

    def __init__(self, service: Served) -> None:
        """Start with nothing measured."""
        self.service = service
        self.times: list[float] = []  # milliseconds of a question
        self.rates: list[float] = []  # requests a second, a round
        self.computed: list[float] = []  # milliseconds of processor time of a request, a round
        self._clients = threading.local()

    def ask(self, question: str) -> Record:
        """An answer without its times."""
        if not hasattr(self._clients, "own"):
            self._clients.own = self.service.client()
        start = time.perf_counter()
        status, answer = self._clients.own.search(query=question)
        self.times.append(1000 * (time.perf_counter() - start))
        if status != 200:
            raise SystemExit(f"the service answered {status}: {answer}")
        return {name: value for name, value in answer.items() if name != "timing"}

    def round(self, questions: list[str], clients: int) -> list[Record]:
        """Ask the questions with a number of concurrent clients."""
        start, before = time.perf_counter(), self.service.computed()
        with ThreadPoolExecutor(clients) as pool:
            answers = list(pool.map(self.ask, questions))
        self.rates.append(len(questions) / (time.perf_counter() - start))
        self.computed.append(1000 * (self.service.computed() - before) / len(questions))
        return answers

    def forget(self) -> None:
        """Start again."""
        self.times, self.rates, self.computed = [], [], []


def compared(metric: str, ours: float, theirs: float, ratio: float) -> Record:
    """One line."""
    return {"metric": metric, "ours": ours, "peer": "the other version", "theirs": theirs, "ratio": ratio}


def measured(ours: Side, theirs: Side, questions: Questions, clients: int, rounds: int, size: int) -> Iterator[Record]:
    """Rounds in turn."""
    for side in (ours, theirs):
        side.forget()
    for number in range(rounds):
        some, answers = questions.some(size), dict[Side, Any]()
        for side in (ours, theirs) if number % 2 else (theirs, ours):
            answers[side] = side.round(some, clients)
        if answers[ours] != answers[theirs]:
            raise SystemExit(next(f"answers differ: {q}" for q, a, b in zip(some, *answers.values(), strict=True) if a != b))
    who = f"{clients} client{'s' if clients > 1 else ''}"
    for percent in (50, 95):
        mine, other = (float(np.percentile(side.times, percent)) for side in (ours, theirs))
        yield compared(f"ms p{percent}, {who}", mine, other, other / mine)
    faster = median(mine / other for mine, other in zip(ours.rates, theirs.rates, strict=True))
    yield compared(f"requests/s, {who}", median(ours.rates), median(theirs.rates), faster)
    cheaper = median(other / max(mine, 0.01) for mine, other in zip(ours.computed, theirs.computed, strict=True))
    yield compared(f"ms of processor time, {who}", median(ours.computed), median(theirs.computed), cheaper)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True, metavar="FOLDER", help="an index with a dense channel")
    parser.add_argument("--other", type=Path, required=True, metavar="CHECKOUT", help="a folder with another version of src/")
    parser.add_argument("--queries", type=Path, help="a BEIR folder or a file of queries to ask")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    rounds = 8 if options.quick else 30
    with ExitStack() as stack:
        sides = []
        for root in (ROOT, options.other):
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            environment = os.environ | {"PYTHONPATH": str(root.resolve() / "src")}
            sides.append(Side(stack.enter_context(served(options.index, home, environment))))
        questions = Questions(options.index, options.queries)
        for side in sides:
            side.round(questions.some(WARM_UP), 1)
        for clients, size in ((1, 10), (8, 40)):
            for record in measured(*sides, questions, clients, rounds, size):
                show(record, options.json)


if __name__ == "__main__":
    main()
