"""Rankings by dense models, made on a GPU and stored: ``reproduce`` reads them where it has neither the models nor hours.

    python recipes/rankings.py DATA/cjeu RANKINGS --before-query-date --masked SBERT=MINILM SBERT-ft=work-en/dense
    python recipes/rankings.py DATA/fr-labour RANKINGS --depth 500 --timed 20 siamese=siamese two-tower=two-tower
    python recipes/rankings.py DATA/fr-labour RANKINGS --depth 500 --timed 20 --windows 200,20 --pool all zero-shot=dense-hard

A model is a folder that `lexfuse train dense` or `two-tower` writes, or a package of LexFuse. Texts are divided, tokens pooled
and documents scored as in a dense channel of an index; torch takes the place of ONNX Runtime on the GPU, and their vectors of
some texts are compared first. RANKINGS gets a file ``NAME.npz`` for each model, and ``NAME-masked.npz`` of the queries without
the judgments that they cite. With ``--timed`` a file has the time of a query too, asked alone on the CPU by ONNX Runtime and
exact search.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stages import say

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.builder import divider
from lexfuse.channels.dense.flat_search import FlatSearch, PassagePooling
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.registry import plan_channel
from lexfuse.data.arrays import F32, F64, I64, offsets_of
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.queries import Queries
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from lexfuse.train.loop.torch_device import best_device
from lexfuse.train.models.base_model import TOWERS, StartingModel

CHECKED = 100  # texts whose vectors by both runtimes are compared
CLOSE = 0.9999  # cosine that they must have
TOKENS = 32_768  # in a batch on a GPU


class TorchSession:
    """The transformer of a model folder in torch, in place of the ONNX session of an encoder."""

    def __init__(self, folder: Path) -> None:
        """Load the weights in 32 bits."""
        self.device = best_device()
        self.model = StartingModel.read(folder).transformer().to(self.device).eval()

    @torch.inference_mode()
    def run(self, _: Sequence[str], feed: dict[str, Any]) -> list[F32]:
        """The last hidden states of a padded batch."""
        ids, mask = (torch.from_numpy(feed[name]).to(self.device) for name in ("input_ids", "attention_mask"))
        return [self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float().cpu().numpy()]


@dataclass(frozen=True)
class Model:
    """A model by the name of its ranking: the folders of both sides, the same unless it has two towers."""

    name: str
    passages: Path
    queries: Path

    @classmethod
    def named(cls, given: str) -> Model:
        """From ``NAME=FOLDER``."""
        name, _, place = given.partition("=")
        if not name or not place:
            raise SystemExit(f"a model is given as NAME=FOLDER, got {given!r}")
        folder = fetch_model(place)
        towers = {side: folder / tower for side, tower in TOWERS.items()}
        if towers[Side.QUERY].is_dir():
            return cls(name, towers[Side.PASSAGE], towers[Side.QUERY])
        return cls(name, folder, folder)

    @cached_property
    def on_cpu(self) -> dict[Side, DenseEncoder]:
        """The encoders of both sides by ONNX Runtime."""
        passages = DenseEncoder.load(self.passages)
        return {
            Side.PASSAGE: passages,
            Side.QUERY: passages if self.queries == self.passages else DenseEncoder.load(self.queries),
        }

    @cached_property
    def on_gpu(self) -> dict[Side, DenseEncoder]:
        """The same encoders by torch."""
        return {
            side: replace(one, transformer=replace(one.transformer, session=TorchSession(one.folder.path), most_tokens=TOKENS))
            for side, one in self.on_cpu.items()
        }  # type: ignore[arg-type]

    def checked(self, texts: Sequence[str]) -> float:
        """The least cosine of the vectors of some texts by both runtimes; the recipe stops where it is too low."""
        one, two = (normed(some[Side.PASSAGE].encode(texts, Side.PASSAGE)) for some in (self.on_cpu, self.on_gpu))
        least = float((one * two).sum(axis=1).min())
        if least < CLOSE:
            raise SystemExit(f"{self.name}: the least cosine of torch and ONNX Runtime is {least:.6f}, expected {CLOSE} or more")
        return least


@dataclass(frozen=True)
class Ranker:
    """Asks models the queries of a split."""

    collection: Collection
    queries: Queries
    depth: int
    earlier: bool  # whether only documents dated before a query are candidates
    options: dict[str, Any]  # of the dense channel
    pool: PassagePooling
    _divided: dict[Hashable, tuple[list[str], I64]]

    def ranking(self, model: Model, queries: Queries, vectors: F32, starts: I64) -> dict[str, Any]:
        """What a model ranks first for each query (CSR)."""
        asked = model.on_gpu[Side.QUERY].encode(queries.text, Side.QUERY)
        scores = pooled(asked @ vectors.T, starts, self.pool)
        if self.earlier:
            scores[~(self.collection.corpus.date[None, :] < queries.date[:, None])] = -np.inf
        rows = [best_of(row, self.depth) for row in scores]
        doc = np.concatenate(rows).astype(np.int32)
        offsets = offsets_of(np.array([len(row) for row in rows]))
        score = scores[np.repeat(np.arange(len(rows)), np.diff(offsets)), doc]
        used, doc = np.unique(doc, return_inverse=True)
        return {
            "queries": np.array([*queries.ids]), "docs": np.array([self.collection.corpus.ids[int(at)] for at in used]),
            "offsets": offsets, "doc": doc.astype(np.int32), "score": score.astype(np.float32),
        }  # fmt: skip

    def passages(self, model: Model) -> tuple[list[str], I64]:
        """The texts of all documents as the channel divides them, and where those of each begin."""
        encoder = model.on_gpu[Side.PASSAGE]
        key = encoder.folder.max_length, encoder.folder.chunks, encoder.tokens.vocabulary_size
        if key not in self._divided:
            settings = plan_channel("dense", ChannelPlan(str(model.passages), **self.options))
            divide = divider(settings, encoder, Side.PASSAGE)
            texts = [[text for text, _ in divide(document)] for document in self.collection.corpus]
            self._divided[key] = [text for some in texts for text in some], offsets_of(np.array([len(some) for some in texts]))
        return self._divided[key]

    def milliseconds(self, model: Model, vectors: F32, starts: I64, count: int) -> float:
        """The mean time of a query that is asked alone on the CPU; the first ones are asked once before."""
        part = VectorPart.of(vectors, starts, storage=VectorStorage.FP16)
        search, encoder = FlatSearch([part], np.arange(len(starts) - 1, dtype=np.int32)), model.on_cpu[Side.QUERY]
        search.prepare()
        texts = self.queries.text[:count]
        start = 0.0
        for asked in (texts[:3], texts):
            start = time.perf_counter()
            for text in asked:
                search.best(encoder.encode([text], Side.QUERY), self.depth, self.pool)
        return 1000 * (time.perf_counter() - start) / len(texts)


def pooled(scores: F32, starts: I64, pool: PassagePooling) -> F32:
    """Scores of documents from those of their passages: the best, or the mean."""
    if pool == PassagePooling.BEST:
        found: F32 = np.maximum.reduceat(scores, starts[:-1], axis=1)
        return found
    return (np.add.reduceat(scores, starts[:-1], axis=1) / np.diff(starts)).astype(np.float32)


def best_of(row: F32, depth: int) -> I64:
    """The places of the highest scores, highest first, without those that are no candidates."""
    top = np.argpartition(-row, min(depth, len(row)) - 1)[:depth]
    top = top[np.isfinite(row[top])]
    found: I64 = top[np.argsort(-row[top], kind="stable")]
    return found


def normed(vectors: F32) -> F64:
    """Vectors of length one."""
    wide = vectors.astype(np.float64)
    found: F64 = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return found


def main() -> None:
    """Rank by each model."""
    parser = argparse.ArgumentParser(description="Rankings by dense models, stored for reproduce")
    parser.add_argument("collection", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("models", nargs="+", help="NAME=FOLDER")
    parser.add_argument("--splits", default="test", help="splits whose queries are asked, such as train,dev,test [%(default)s]")
    parser.add_argument("--depth", type=int, default=1000, help="documents of a ranking [%(default)s]")
    parser.add_argument("--before-query-date", action="store_true", help="only documents dated before the query")
    parser.add_argument("--masked", action="store_true", help="also the queries without the judgments that they cite")
    parser.add_argument("--windows", default="", help="divide documents into windows: tokens,overlap")
    parser.add_argument("--pool", choices=["1", "all"], default="1", help="passages of a document that count [%(default)s]")
    parser.add_argument("--timed", type=int, default=0, help="queries to time on the CPU")
    options = parser.parse_args()
    collection = read_collection(options.collection)
    if collection.queries is None:
        parser.error(f"{str(options.collection)!r} has no queries")
    if missing := [split for split in options.splits.split(",") if split not in collection.qrels]:
        parser.error(f"{str(options.collection)!r} has no split {missing[0]!r}; it has {', '.join(collection.qrels)}")
    judged = {query for split in options.splits.split(",") for query in collection.qrels[split].queries}
    queries = collection.queries.select([at for at, id in enumerate(collection.queries.ids) if id in judged])
    windows = [int(one) for one in options.windows.split(",")] if options.windows else []
    build = {"passages": "windows", "size": windows[0], "overlap": windows[1]} if windows else {}
    pool = PassagePooling.MEAN if options.pool == "all" else PassagePooling.BEST
    ranker = Ranker(collection, queries, options.depth, options.before_query_date, build, pool, {})
    forms = {"": queries}
    if options.masked:
        forms["-masked"] = replace(queries, text=tuple(mask_citations(text, DECISIONS) for text in queries.text))
    options.out.mkdir(parents=True, exist_ok=True)
    for model in map(Model.named, options.models):
        texts, starts = ranker.passages(model)
        least = model.checked(texts[:: max(1, len(texts) // CHECKED)][:CHECKED])
        vectors = model.on_gpu[Side.PASSAGE].encode(texts, Side.PASSAGE)
        more: dict[str, Any] = {"cosine": np.array(least)}
        if options.timed:
            more["milliseconds"] = np.array(ranker.milliseconds(model, vectors, starts, options.timed))
        for form, asked in forms.items():
            np.savez_compressed(options.out / f"{model.name}{form}.npz", **ranker.ranking(model, asked, vectors, starts), **more)
        took = f", {float(more['milliseconds']):.1f} ms a query" if options.timed else ""
        say(f"{model.name}: {len(queries):,} queries, {len(texts):,} passages, least cosine of both runtimes {least:.6f}{took}")


if __name__ == "__main__":
    main()
