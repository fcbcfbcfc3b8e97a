"""Words per second from text to term ids, citations included, compared with bm25s.tokenize with a stemmer and stop words.

    python bench/text.py [--quick] [--json]

Both sides start from a list of texts and end with one array or list of term ids for each of them and a vocabulary; both know
nothing before: ours makes a new analyser, encoder and vocabulary each time, and forgets the citations that it kept. Words are
counted by white space, the same for both. Calls alternate, and the shortest counts, in processor time: both use one thread,
and other work on the machine is not theirs. Only ours reads citations: bm25s.tokenize loses them. The texts are those of
irled2017 and fr-labour in the folder that the environment variable LEXFUSE_DATA names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bm25s
import Stemmer

from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary
from lexfuse.text.short_text_cache import forget_all
from runner.needs import Needs

NEEDS = Needs(collections=("irled2017", "fr-labour"), packages=("bm25s", "Stemmer"))

COLLECTIONS = {"irled2017": ("en", "english"), "fr-labour": ("fr", "french")}


def texts_of(folder: Path, collection: str, count: int | None) -> list[str]:
    """The texts of a collection, all or the first."""
    with gzip.open(folder / collection / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line in stream][:count]


def ours(texts: list[str], language: str) -> None:
    """LexFuse: a new encoder, all texts."""
    forget_all()
    encoder = TermEncoder(Analyser(language), Vocabulary())
    for text in texts:
        encoder.encode(text)


def theirs(texts: list[str], language: str, name: str) -> None:
    """bm25s: its tokenizer with the Snowball stemmer and its own stop words."""
    bm25s.tokenize(texts, stopwords=language, stemmer=Stemmer.Stemmer(name), show_progress=False)


def seconds(call: Callable[[], None]) -> float:
    """Processor time of one call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def comparisons(folder: Path, quick: bool, repeats: int) -> Iterator[dict[str, Any]]:
    """One line for each collection; a ratio above 1 means that ours is faster."""
    for collection, (language, name) in COLLECTIONS.items():
        texts = texts_of(folder, collection, (500 if collection == "irled2017" else 6000) if quick else None)
        words = sum(len(text.split()) for text in texts)
        calls = (partial(ours, texts, language), partial(theirs, texts, language, name))
        times = [[seconds(call) for call in calls] for _ in range(repeats)]
        mine, peer = (words / min(column) for column in zip(*times, strict=True))
        yield {
            "metric": f"words/s analyse {collection}",
            "ours": round(mine),
            "peer": "bm25s.tokenize",
            "theirs": round(peer),
            "ratio": round(mine / peer, 3),
        }


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 judgments and 6,000 articles")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--repeats", type=int, default=3, help="the shortest of so many calls counts")
    arguments = parser.parse_args()
    NEEDS.check()
    for row in comparisons(Path(os.environ["LEXFUSE_DATA"]), arguments.quick, arguments.repeats):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            print(
                f"{row['metric']:32} {row['ours']:>10,}  {row['peer']:15} {row['theirs']:>10,}  x{row['ratio']:.2f}", flush=True
            )


if __name__ == "__main__":
    main()
