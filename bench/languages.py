"""Language detection on the collections, beside function words alone; and how its table of letters is learned.

    python bench/languages.py [--quick] [--json]
    python bench/languages.py --learn > src/lexfuse/text/analysis/letter_triples.txt

Accuracy is the share of texts whose language is named rightly ("" counts as wrong), over at most 2,000 texts of each part
that are not empty. `--learn` makes the table from the documents of fr-labour, cjeu and scifact; queries are not read. The
collections are in the folder that the environment variable LEXFUSE_DATA names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from lexfuse.text.analysis import languages
from lexfuse.text.letters import fold

COLLECTIONS = {"fr-labour": "fr", "scifact": "en", "cjeu": "en", "irled2017": "en"}
SMALLEST_SHARE = 2e-4  # of all triples of a language; rarer ones are left out
SMOOTHING = 1e-5
HEAVIEST = 3


def texts_of(folder: Path, collection: str, part: str) -> list[str]:
    """Title and text of every document or query that is not empty."""
    with gzip.open(folder / collection / f"{part}.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [text for row in rows if (text := f"{row.get('title', '')} {row['text']}".strip())]


def accuracy(texts: list[str], language: str) -> float:
    """Share of the texts that are named rightly."""
    return sum(languages.detect_language(text) == language for text in texts) / len(texts)


def comparisons(folder: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """One line for each part of each collection."""
    for collection, language in COLLECTIONS.items():
        for part in ("corpus", "queries"):
            texts = texts_of(folder, collection, part)
            most = 200 if quick else 2000
            texts = texts[:: -(-len(texts) // most)]
            mine = accuracy(texts, language)
            with (
                mock.patch.object(languages, "triple_weight", return_value=0),
                mock.patch.object(languages, "_FRENCH_LETTERS", re.compile("(?!)")),
                mock.patch.object(languages, "_ENGLISH_LETTERS", re.compile("(?!)")),
            ):
                theirs = accuracy(texts, language)
            yield {
                "metric": f"language accuracy {collection} {part} ({len(texts)} texts)",
                "ours": round(mine, 4),
                "peer": "function words alone",
                "theirs": round(theirs, 4),
                "ratio": round(mine / theirs, 3),
            }


def shares(texts: Iterable[str]) -> dict[str, float]:
    """Shares of the triples of letters; a word counts by the logarithm of its frequency, so that rare words are heard."""
    words: Counter[str] = Counter()
    for text in texts:
        words.update(re.findall("[a-z]{2,}", fold(text.lower())))
    triples: Counter[str] = Counter()
    for word, count in words.items():
        if count > 1:
            for at in range(len(word)):
                triples[f" {word} "[at : at + 3]] += math.log1p(count)
    total = sum(triples.values())
    return {triple: weight / total for triple, weight in triples.items()}


def learn(folder: Path) -> Iterator[str]:
    """The lines of the table: language, weight, triples (a blank is written ``_``)."""
    french = shares(texts_of(folder, "fr-labour", "corpus"))
    court, science = (shares(texts_of(folder, name, "corpus")) for name in ("cjeu", "scifact"))
    english = {triple: (court.get(triple, 0) + science.get(triple, 0)) / 2 for triple in court | science}
    weights: dict[int, list[str]] = {}
    for triple in sorted(french | english):
        first, second = french.get(triple, 0), english.get(triple, 0)
        weight = max(-HEAVIEST, min(HEAVIEST, round(math.log((first + SMOOTHING) / (second + SMOOTHING)))))
        if max(first, second) >= SMALLEST_SHARE and weight:
            weights.setdefault(weight, []).append(triple.replace(" ", "_"))
    for weight in sorted(weights, reverse=True):
        yield f"{'fr' if weight > 0 else 'en'} {abs(weight)}: {' '.join(weights[weight])}"


def main() -> None:
    """Print the comparisons, or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 texts of each part")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--learn", action="store_true", help="print the table of letters instead")
    arguments = parser.parse_args()
    if "LEXFUSE_DATA" not in os.environ:
        sys.exit("set LEXFUSE_DATA to the folder that holds the collections")
    folder = Path(os.environ["LEXFUSE_DATA"])
    if arguments.learn:
        print(*learn(folder), sep="\n")
        return
    for row in comparisons(folder, arguments.quick):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            print(
                f"{row['metric']:52} {row['ours']:7.4f}  {row['peer']:20} {row['theirs']:7.4f}  x{row['ratio']:.2f}", flush=True
            )


if __name__ == "__main__":
    main()
