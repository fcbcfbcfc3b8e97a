"""Sentence splitting compared with pysbd and plain nupunkt: accuracy on hard legal boundaries, and speed on whole judgments.

    python bench/sentences.py [--quick] [--json]

The boundaries are those of tests/text/sentences/fixtures/boundaries.txt. The speed is measured on irled2017 in the folder
that LEXFUSE_DATA names, or on the boundaries themselves, repeated, without it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from lexfuse.text.sentences import boundaries
from lexfuse.text.sentences.splitter import split_sentences
from runner.needs import Needs

NEEDS = Needs(packages=("pysbd", "nupunkt"), optional={"LEXFUSE_DATA": "the folder of the collection irled2017, for speed"})

FIXTURE = Path(__file__).parents[1] / "tests" / "text" / "sentences" / "fixtures" / "boundaries.txt"
Splitter = Callable[[str, str], set[int]]  # text and language -> starts of all sentences but the first


@dataclass(frozen=True)
class Item:
    """One text of the list with the starts of its sentences but the first."""

    language: str
    part: str
    text: str
    starts: set[int]


def read_items() -> Iterator[Item]:
    """The list of boundaries."""
    for block in FIXTURE.read_text(encoding="utf-8").split("\n## ")[1:]:
        head, marked = block.strip().split("\n", 1)
        _, language, part = head.split(" | ", 1)[0].split()
        text, starts = "", set()
        for place, piece in enumerate(marked.replace("⏎", "\n").split("‖")):
            if place:
                starts.add(len(text) + len(piece) - len(piece.lstrip()))
            text += piece
        yield Item(language, part, text, starts)


def ours(text: str, language: str) -> set[int]:
    """LexFuse."""
    return {span.start for span in split_sentences(text, language)[1:]}


@contextmanager
def without_nupunkt() -> Iterator[None]:
    """LexFuse's rules alone: every word that no rule knows ends its sentence."""
    with mock.patch.object(boundaries, "punkt_breaks", return_value=True):
        yield


def rules_alone(text: str, language: str) -> set[int]:
    """LexFuse without nupunkt."""
    with without_nupunkt():
        return ours(text, language)


def plain_nupunkt(text: str, language: str) -> set[int]:
    """Nupunkt's default model with its own rules for line breaks."""
    import nupunkt

    return {start for start, _ in nupunkt.load("default").spans(text, line_breaks=True)[1:]}


@cache
def pysbd_of(language: str) -> Any:
    """The pysbd splitter of a language, made once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pysbd

    return pysbd.Segmenter(language=language, clean=False)


def plain_pysbd(text: str, language: str) -> set[int]:
    """The sentences of pysbd, found again in the text one after the other."""
    starts, place = [], 0
    for sentence in pysbd_of(language).segment(text):
        if stripped := sentence.strip():
            place = text.index(stripped, place)
            starts.append(place)
            place += len(stripped)
    return set(starts[1:])


def accuracy(items: Iterable[Item], splitter: Splitter) -> dict[str, float]:
    """Share of items split exactly, and F1 over boundaries."""
    chosen = [(splitter(item.text, item.language), item.starts) for item in items]
    right = sum(len(got & want) for got, want in chosen)
    total = sum(len(got) + len(want) for got, want in chosen)
    return {"exact": sum(got == want for got, want in chosen) / len(chosen), "F1": 2 * right / total}


def speed(texts: list[str], split: Callable[[str], Any]) -> float:
    """Megabytes a second (millions of UTF-8 bytes) in one pass: no splitter has seen these texts before."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    begun = time.perf_counter()
    for text in texts:
        split(text)
    return size / (time.perf_counter() - begun)


def speed_texts(count: int) -> tuple[str, list[str]]:
    """What the speed is measured on: its name and texts."""
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder:
        return "boundaries repeated", ["\n\n".join(item.text for item in read_items() if item.language == "en")] * count
    with gzip.open(Path(folder) / "irled2017" / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        return "irled2017", [json.loads(line)["text"] for line, _ in zip(stream, range(count), strict=False)]


def comparisons(quick: bool) -> Iterator[dict[str, Any]]:
    """Every comparison, one after the other; a ratio above 1 means that ours is better."""
    from pysbd.languages import LANGUAGE_CODES

    items = list(read_items())
    peers: dict[str, Splitter] = {"pysbd": plain_pysbd, "nupunkt": plain_nupunkt, "rules-alone": rules_alone}
    for language in dict.fromkeys(item.language for item in items):
        for part in ("tuned", "held-out"):
            chosen = [item for item in items if (item.language, item.part) == (language, part)]
            measured = accuracy(chosen, ours)
            for peer, splitter in peers.items():
                if peer == "pysbd" and language not in LANGUAGE_CODES:
                    continue
                for measure, theirs in accuracy(chosen, splitter).items():
                    yield line(f"{measure} {language} {part} ({len(chosen)} items)", measured[measure], peer, theirs)
    import nupunkt

    name, texts = speed_texts(20 if quick else 200)
    few, rest = texts[: 2 if quick else 10], texts[2 if quick else 10 :]  # pysbd is slow
    model = nupunkt.load("default")
    mine = speed(few, lambda text: split_sentences(text, "en"))
    yield line(f"MB/s {name}, {len(few)} texts", mine, "pysbd", speed(few, pysbd_of("en").segment))
    mine = speed(rest, lambda text: split_sentences(text, "en"))
    yield line(f"MB/s {name}, {len(rest)} texts", mine, "nupunkt", speed(rest, model.spans))


def line(metric: str, mine: float, peer: str, theirs: float) -> dict[str, Any]:
    """One comparison."""
    return {"metric": metric, "ours": round(mine, 4), "peer": peer, "theirs": round(theirs, 4), "ratio": round(mine / theirs, 3)}


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer texts")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    NEEDS.check()
    for row in comparisons(arguments.quick):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            print(
                f"{row['metric']:38} {row['ours']:9.3f}  {row['peer']:12} {row['theirs']:9.3f}  x{row['ratio']:.2f}", flush=True
            )


if __name__ == "__main__":
    main()
