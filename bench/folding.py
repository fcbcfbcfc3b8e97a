"""What to do with accents: BM25 over the terms of each `Folding`, on French labour law.

    python bench/folding.py [--quick] [--json]

bm25s ranks (k1 = 1.2, b = 0.75) title, headings and text of every article, for the questions of the train and dev splits as
they are written and with their accents removed, as people type them. The peer of each line is `keep` (accents stay). The
collection is fr-labour in the folder that the environment variable LEXFUSE_DATA names; the test split is not touched.
`--quick` has the dev split alone.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
from ir_measures import R, nDCG

from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.beir import read_collection
from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.letters import fold
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",), packages=("bm25s", "ir_measures"))

MEASURES = (R @ 100, nDCG @ 10)
DEPTH = 500
QUESTIONS: dict[str, Callable[[str], str]] = {"as written": str, "without accents": fold}


@dataclass(frozen=True)
class Labelled:
    """A corpus with questions and their relevant articles."""

    corpus: Corpus
    questions: dict[str, str]
    qrels: list[ir_measures.Qrel]


def read(folder: Path, splits: tuple[str, ...]) -> Labelled:
    """The collection with the questions of these splits."""
    collection = read_collection(folder)
    qrels = [
        ir_measures.Qrel(query, doc, grade)
        for split in splits
        for query, grades in collection.qrels[split].as_dict().items()
        for doc, grade in grades.items()
    ]
    wanted = {qrel.query_id for qrel in qrels}
    questions = {query.id: query.text for query in collection.queries if query.id in wanted}
    return Labelled(collection.corpus, questions, qrels)


def measured(labelled: Labelled, folding: Folding) -> Iterator[tuple[str, dict[Any, float]]]:
    """The measures of one way to treat accents, for each form of the questions."""
    analyser = Analyser("fr", folding=folding)
    texts = (" ".join((document.title, *document.headings, document.text)) for document in labelled.corpus)
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index([analyser.terms(text) for text in texts], show_progress=False)
    for name, form in QUESTIONS.items():
        run = []
        for question, text in labelled.questions.items():
            terms = [term for term in analyser.terms(form(text)) if term in index.vocab_dict]
            if terms:
                docs, scores = index.retrieve([terms], k=DEPTH, show_progress=False)
                hits = zip(docs[0], scores[0], strict=True)
                run += [ir_measures.ScoredDoc(question, labelled.corpus.ids[int(d)], float(s)) for d, s in hits if s > 0]
        yield name, ir_measures.calc_aggregate(MEASURES, labelled.qrels, run)


def comparisons(folder: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """Every way compared with keeping accents."""
    labelled = read(folder, ("dev",) if quick else ("train", "dev"))
    kept = dict(measured(labelled, Folding.KEEP))
    for folding in (Folding.FOLD, Folding.BESIDE):
        for name, values in measured(labelled, folding):
            for measure, value in values.items():
                theirs = kept[name][measure]
                yield {
                    "metric": f"{measure} {folding.value}, {name} ({len(labelled.questions)} questions)",
                    "ours": round(value, 4),
                    "peer": "keep",
                    "theirs": round(theirs, 4),
                    "ratio": round(value / theirs, 3),
                }


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the dev split alone")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    NEEDS.check()
    for row in comparisons(Path(os.environ["LEXFUSE_DATA"], "fr-labour"), arguments.quick):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            print(f"{row['metric']:52} {row['ours']:7.4f}  {row['peer']:5} {row['theirs']:7.4f}  x{row['ratio']:.2f}", flush=True)


if __name__ == "__main__":
    main()
