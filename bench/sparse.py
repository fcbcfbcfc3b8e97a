"""Learned sparse search beside BMP, Seismic, PISA and Lucene: queries per second, exact and at recall .99.

    python bench/sparse.py [--quick] [--json] [--passages 30000 300000 1000000]

The vectors are those of fr-legal-splade. LEXFUSE_BENCH_SPLADE may name an index of fr-labour with a channel `splade`, whose
29,104 vectors are taken; without it, 600 articles are encoded. Beyond the vectors at hand, passages are made of two: each term of
one of the two with an even chance, its weight times a random factor (lognormal, .2). The output says how many are made. Questions
are those of fr-labour, encoded by the same model.

All engines have the same vectors. Times are processor times of the process, the shortest of some repeats, because other work may
run on the machine. LexFuse, Seismic and PISA get all queries in one call and search on one thread; the others have a call for
each query. Recall is the share of the exact best documents (those of LexFuse, whose scores are exact) that an engine finds. Of
several settings of an approximate search the fastest with a recall of .99 counts, and if none has it, the one with the highest
recall. BMP, PISA and Lucene round weights to whole numbers, so that their exact rankings differ slightly; their recall is printed
too. A peer that is not installed is named, and nothing is measured for it. Queries by words are in `bench/lexical.py`, with bm25s
and tantivy.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.document import Document
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.storage.folder_snapshot import open_snapshot
from peers.sparse import PEERS, Found, Ours, Rows
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour",),
    one_of=("bmp", "seismic", "pyterrier_pisa", "pyserini"),
    optional={"LEXFUSE_BENCH_SPLADE": "an index of fr-labour with a channel splade"},
)

MODEL = "fr-legal-splade"
ENCODED = 600  # articles, if there is no index
SIZES = (30_000, 300_000, 1_000_000)
RECALL = 0.99
Record = dict[str, Any]


def read(name: str) -> list[dict[str, Any]]:
    """The records of a file of fr-labour."""
    with gzip.open(Path(os.environ["LEXFUSE_DATA"], "fr-labour", f"{name}.jsonl.gz"), "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def vectors_at_hand(encoder: SparseEncoder) -> Rows:
    """The vectors of an index, or of some articles."""
    if place := os.environ.get("LEXFUSE_BENCH_SPLADE"):
        with open_snapshot(place) as snapshot:
            postings = snapshot.postings("splade")
            numbers = np.array([encoder.terms.find(term) for term in postings.vocabulary], dtype=np.int32)
            parts = list(postings.stretches())
            docs, weights, terms = (np.concatenate([np.asarray(part[at]) for part in parts]) for at in (1, 2, 3))
            by_doc = np.lexsort((numbers[terms], docs))
            starts = np.searchsorted(docs[by_doc], np.arange(int(docs.max()) + 2))
            return Rows(starts, numbers[terms][by_doc], weights[by_doc])
    records = read("corpus")
    chosen = [records[at] for at in np.random.default_rng(0).permutation(len(records))[:ENCODED]]
    texts = [
        whole_text(Document(one["_id"], one["title"], one["text"], headings=tuple(one["metadata"].get("headings", ()))), True)
        for one in chosen
    ]
    return Rows.of(encoder.encode(texts, Side.PASSAGE))


def passages(own: Rows, count: int) -> Rows:
    """The vectors at hand, and made ones up to a number; always the same."""
    chance = np.random.default_rng(0)
    rows = [own.row(at) for at in range(min(count, len(own)))]
    while len(rows) < count:
        one, other = (own.row(int(at)) for at in chance.integers(len(own), size=2))
        terms = np.concatenate([one[0], other[0]])
        kept = chance.random(len(terms)) < 0.5
        distinct, first = np.unique(terms[kept], return_index=True)
        weights = np.concatenate([one[1], other[1]])[kept][first]
        rows.append((distinct, (weights * chance.lognormal(0.0, 0.2, len(weights))).astype(np.float32)))
    return Rows.of(rows)


def shortest(repeats: int, calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The shortest processor time of each, in turn."""
    best = dict.fromkeys(calls, math.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def recall_of(found: Found, exact: Found) -> float:
    """The share of the exact results that are found."""
    shared = sum(len(set(map(int, some)) & set(map(int, best))) for some, best in zip(found, exact, strict=True))
    return shared / max(1, sum(map(len, exact)))


def compared(what: str, ours: float, engine: Any, theirs: float, queries: int, recall: float) -> Record:
    """One line: queries per second, higher is better."""
    metric = f"qps {what}"
    return {
        "metric": metric,
        "ours": queries / ours,
        "peer": f"{engine.name} (recall {recall:.3f})",
        "theirs": queries / theirs,
        "ratio": theirs / ours,
    }


def exact_speed(what: str, ours: Ours, peers: list[Any], asked: Rows, k: int, repeats: int) -> Iterator[Record]:
    """Exact searches."""
    engines = [peer for peer in peers if peer.name != "seismic"]
    truth = ours.search(asked, k)
    times = shortest(repeats, {one.name: partial(one.search, asked, k) for one in (ours, *engines)})
    for one in engines:
        yield compared(
            f"{what} top-{k} exact", times[ours.name], one, times[one.name], len(asked), recall_of(one.search(asked, k), truth)
        )


def approximate_speed(what: str, ours: Ours, peers: list[Any], asked: Rows, k: int, repeats: int) -> Iterator[Record]:
    """Approximate searches of those that have them, beside ours and the exact searches of the others."""
    truth = ours.search(asked, k)
    own = recall_of(ours.search(asked, k, "approximate"), truth)
    for one in peers:
        settings = getattr(one, "settings", ("",))
        found = {setting: recall_of(one.search(asked, k, setting), truth) for setting in settings}
        times = shortest(repeats, {setting: partial(one.search, asked, k, setting) for setting in settings})
        good = [setting for setting in settings if found[setting] >= RECALL]
        best = min(good, key=times.__getitem__) if good else max(settings, key=found.__getitem__)
        mine = shortest(repeats, {ours.name: partial(ours.search, asked, k, "approximate")})[ours.name]
        yield compared(f"{what} top-{k} approximate (recall {own:.3f})", mine, one, times[best], len(asked), found[best])


def measured(own: Rows, asked: Rows, count: int, folder: Path, quick: bool, names: list[str]) -> Iterator[Record]:
    """All engines, or those that are named, with one number of passages."""
    rows = passages(own, count)
    made = max(0, count - len(own))
    print(f"{count:,} passages, of which {made:,} are made of two of the {len(own):,} encoded ones", file=sys.stderr)
    ours, peers = Ours(rows, folder), []
    for peer in [one for one in PEERS if not names or one.name in names]:
        if find_spec(peer.package) is None:
            print(f"{peer.name} is not measured: no package {peer.package}", file=sys.stderr)
            continue
        try:
            start = time.process_time()
            peers.append(peer(rows, folder))
            print(f"{peer.name}: built in {time.process_time() - start:,.0f} s of processor time", file=sys.stderr)
        except (ImportError, OSError) as error:
            print(f"{peer.name} is not measured: {error}", file=sys.stderr)
    if not peers:
        raise SystemExit("nothing was compared: none of these peers could be measured")
    repeats, what = 3 if quick else 5, f"splade, {count // 1000:,}k passages ({made // 1000:,}k made)"
    for k in (10, 100):
        yield from exact_speed(what, ours, peers, asked, k, repeats)
        yield from approximate_speed(what, ours, peers, asked, k, repeats)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="learned sparse search beside its peers")
    parser.add_argument("--quick", action="store_true", help="30,000 passages, 100 questions, fewer repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--passages", type=int, nargs="+", help="numbers of passages [default: 30,000, 300,000 and 1,000,000]")
    parser.add_argument("--peers", nargs="+", choices=[one.name for one in PEERS], default=[], help="only these [default: all]")
    options = parser.parse_args()
    NEEDS.check()
    compiled_is_due(PATIENCE)
    encoder = SparseEncoder.load(MODEL)
    asked = Rows.of(encoder.encode([one["text"] for one in read("queries")][: 100 if options.quick else 300], Side.QUERY))
    own = vectors_at_hand(encoder)
    for count in options.passages or (SIZES[:1] if options.quick else SIZES):
        with tempfile.TemporaryDirectory() as folder:
            for record in measured(own, asked, count, Path(folder), options.quick, options.peers):
                show(record, options.json)


def show(record: Record, as_json: bool) -> None:
    """One line a comparison."""
    if as_json:
        print(json.dumps(record), flush=True)
    else:
        values = f"{record['ours']:12,.0f}  {record['theirs']:12,.0f}"
        print(f"{record['metric']:<72} {values}  {record['ratio']:8.2f} x  {record['peer']}", flush=True)


if __name__ == "__main__":
    main()
