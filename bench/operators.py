"""Questions with operators compared with the same words without: queries per second, and what the positions of words cost.

    LEXFUSE_DATA=FOLDER python bench/operators.py [--quick] [--json]

Phrases and pairs of words are drawn from the documents of fr-labour and cjeu (seed 0): two to four words next to each other that
are not only stop words, and two words of one sentence. Each is asked plain and with operators. "search" is `Index.search` with
ten results and snippets, as a user asks it; "ranking" is reading the question and retrieving the best 100, without snippets.

Plain and operators alternate in the same run, and the shortest of the repeats counts, in processor time, because other work may
run on the machine. "ratio" is the speed with operators relative to that of the plain words. The size of the positions is compared
with the rest of the index.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lexfuse.channels.query_context import query_context
from lexfuse.data.queries import Queries
from lexfuse.index import Index
from lexfuse.search.asked_question import read_question
from lexfuse.text.analysis.analyser import WORD, stop_words
from lexfuse.text.sentences.splitter import sentence_texts
from lexical import Collection, read
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour", "cjeu"), packages=("bm25s", "tantivy", "Stemmer"))

COLLECTIONS = ("fr-labour", "cjeu")
Record = dict[str, Any]


def drawn(collection: Collection, count: int) -> dict[str, list[tuple[str, str]]]:
    """Questions by kind, each as plain words and with operators."""
    draw, stops = random.Random(0), stop_words(collection.language)  # noqa: S311
    found: dict[str, list[tuple[str, str]]] = {
        "phrase": [],
        "/s": [],
        "/p": [],
        "/5": [],
        "AND": [],
        "prefix": [],
        "exclusion": [],
    }
    while len(found["phrase"]) < count:
        sentences = sentence_texts(draw.choice(collection.documents).text, collection.language)
        words = [word for word in WORD.findall(draw.choice(sentences)) if word.isalpha()] if sentences else []
        if len(words) < 6:
            continue
        at, size = draw.randrange(len(words) - 4), draw.randint(2, 4)
        phrase = words[at : at + size]
        chosen = [word for word in dict.fromkeys(map(str.lower, words)) if len(word) > 3 and word not in stops]
        if len(chosen) < 2 or not any(len(word) > 3 and word.lower() not in stops for word in phrase):
            continue
        one, other = draw.sample(chosen, 2)
        found["phrase"].append((" ".join(phrase), f'"{" ".join(phrase)}"'))
        for operator in ("/s", "/p", "/5", "AND"):
            found[operator].append((f"{one} {other}", f"{one} {operator} {other}"))
        found["prefix"].append((f"{one} {other}", f"{one} {other[:4]}*"))
        found["exclusion"].append((one, f"{one} -{other}"))
    return found


def searched(index: Index, questions: list[str]) -> Callable[[], None]:
    """Every question, one after the other, with its page of results."""

    def call() -> None:
        for question in questions:
            index.search(question, 10)

    return call


def ranked(index: Index, questions: list[str]) -> Callable[[], None]:
    """Every question read and ranked."""
    version = index.version
    opened = version.search_by()

    def call() -> None:
        for question in questions:
            with query_context():
                asked = read_question(version, question)
                asked.restricted(opened).retriever.retrieve(Queries.of([asked.ranked]), 100, within=asked.within)

    return call


def compared(calls: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """The shortest time of each, in turn."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def measured(name: str, folder: Path, quick: bool) -> Iterator[Record]:
    """All figures of a collection."""
    collection = read(name)
    with Index.build(folder / name, collection.documents) as index:
        files = [path for path in (folder / name).rglob("*") if path.is_file()]
        positions = sum(path.stat().st_size for path in files if path.parent.name == "positions")
        rest = sum(path.stat().st_size for path in files) - positions
        yield {
            "metric": f"{name} bytes of positions",
            "ours": positions,
            "peer": "rest",
            "theirs": rest,
            "ratio": rest / positions,
        }
        for kind, questions in drawn(collection, 100 if quick else 400).items():
            plain, expressed = ([pair[at] for pair in questions] for at in (0, 1))
            for what, timed in (("search", searched), ("ranking", ranked)):
                for some in (plain, expressed):  # loads compiled code, and reads the files
                    timed(index, some)()
                times = compared({"plain": timed(index, plain), "operators": timed(index, expressed)}, 3 if quick else 7)
                speeds = {one: len(questions) / seconds for one, seconds in times.items()}
                yield {
                    "metric": f"qps {name} {what} {kind}", "ours": speeds["operators"], "peer": "plain words",
                    "theirs": speeds["plain"], "ratio": speeds["operators"] / speeds["plain"],
                }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer questions and repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    NEEDS.check()
    with tempfile.TemporaryDirectory() as folder:
        for name in COLLECTIONS:
            for record in measured(name, Path(folder), arguments.quick):
                shown = "{metric:40} {ours:14,.2f}  {peer:12} {theirs:14,.2f}  x{ratio:.2f}".format(**record)
                print(json.dumps(record) if arguments.json else shown, flush=True)


if __name__ == "__main__":
    main()
