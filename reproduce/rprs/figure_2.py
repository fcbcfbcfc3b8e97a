"""RPRS, figure 2: sentences against units of a fixed number of words; and what finding and cutting sentences changes (5.6).

Every kind of unit is a channel of one more index. Parameters are tuned on train for each, test is reported. To keep it small only
the first 50 documents of a query are reranked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import Any
from unittest import mock

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.stored_part import VectorStorage
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.arrays import F64
from lexfuse.encode import passage_plan
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint, RprsSurface
from lexfuse.rerank.reranker import first_documents
from lexfuse.rerank.rprs import Rprs
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.passages import Passage
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, PLAN, judgments

DEPTH, SIZES, UNCUT = 50, (25, 50, 100, 200), 100_000
GRID = RprsGrid(n=tuple(range(1, 11)), k1=(0.0, 0.4, 1.0, 2.0, 2.8), b=(0.0, 0.25, 0.5, 0.75, 1.0), depth=(20, DEPTH))
PAPER = RprsPoint(4, 2.8, 1.0, DEPTH)
SPLITS = ("train", "test")
USUAL = "sentences"
Splitter = Callable[[str, str], list[Passage]]
_FULL_STOP = re.compile(r"(?<=[.!?])\s+")


def by_full_stops(text: str, language: str) -> list[Passage]:
    """Sentences that end after every full stop before white space, abbreviation or not.

    >>> [one.of("Sec. 302 I.P.C. He won.") for one in by_full_stops("Sec. 302 I.P.C. He won.", "en")]
    ['Sec.', '302 I.P.C.', 'He won.']
    """
    gaps = [match.span() for match in _FULL_STOP.finditer(text)]
    starts = [len(text) - len(text.lstrip()), *(end for _, end in gaps)]
    ends = [*(start for start, _ in gaps), len(text.rstrip())]
    return [Passage(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip()]


def by_nupunkt(text: str, language: str) -> list[Passage]:
    """Sentences of nupunkt alone, with its rules for line breaks."""
    spans = _nupunkt().spans(text, line_breaks=True)
    return [Passage(start, start + len(text[start:end].rstrip())) for start, end in spans if text[start:end].strip()]


@cache
def _nupunkt() -> Any:
    import nupunkt

    return nupunkt.load("default")


def plans() -> Mapping[str, ChannelPlan]:
    """How documents and judgments are divided, by what the units are called."""

    def cut(scheme: PassageScheme, size: int) -> ChannelPlan:
        return ChannelPlan(PLAN.model, passages=scheme, size=size, storage=VectorStorage.INT8)

    words = {f"{size} words": cut(PassageScheme.WORDS, size) for size in SIZES}
    others = {"sentences, nupunkt alone": PLAN, "sentences, at every full stop": PLAN}
    return {USUAL: PLAN} | words | {"sentences, not cut": cut(PassageScheme.SENTENCES, UNCUT)} | others


SEGMENTERS: Mapping[str, Splitter] = {
    "sentences, nupunkt alone": by_nupunkt,
    "sentences, at every full stop": by_full_stops,
}


@contextmanager
def segmented_by(splitter: Splitter) -> Iterator[None]:
    """Divide texts into the sentences of another segmenter."""
    with mock.patch.object(passage_plan, "split_sentences", splitter):
        yield


def measure(experiment: Experiment) -> Measured:
    """AP with every kind of unit, sentences first."""
    rows: dict[str, dict[str, float]] = {}
    values: dict[str, F64] = {}
    for name in plans():
        surfaces, count = unit_surfaces(experiment, name)
        best = surfaces["train"].best
        rows[name] = {f"AP {split}": surface.mean(best) for split, surface in surfaces.items()}
        rows[name] |= {"AP test, the paper's parameters": surfaces["test"].mean(PAPER), "units a document": count}
        values[name] = surfaces["test"].of_queries(best)
    first = values.pop(USUAL)
    p_values = adjust_p_values([paired_test(PairedTest.T, first, other).p for other in values.values()], Correction.HOLM)
    for name, p in zip(values, p_values.tolist(), strict=True):
        rows[name]["p"] = p
    columns = ("AP train", "AP test", "AP test, the paper's parameters")
    lines = {column: Curve(SIZES, [rows[f"{size} words"][column] for size in SIZES]) for column in columns}
    levels = {f"sentences: {column}": rows[USUAL][column] for column in columns}
    labels = Labels("words of a unit", "AP", experiment.dataset.name)
    return Measured(rows, (curves("RPRS-FIG2", "AP over the length of units", labels, lines, levels=levels, paired=True),))


def unit_surfaces(experiment: Experiment, name: str) -> tuple[dict[str, RprsSurface], float]:
    """AP over the parameters of RPRS with one kind of unit, which is encoded into a channel; and units of a document."""
    found = judgments(replace(experiment, slow=False))  # whole texts need no sentences of all documents
    run = first_documents(found.system(FIRST_STAGE).run, DEPTH)
    folder = experiment.workspace.folder / f"{experiment.dataset.name}-units.index"
    documents = None if folder.exists() else [found.snapshot.document(doc) for doc in found.snapshot.ids]
    every = plans()
    channel = f"sentences-{list(every).index(name)}"
    with (
        segmented_by(SEGMENTERS[name]) if name in SEGMENTERS else nullcontext(),
        IndexFolder(folder) if documents is None else IndexFolder.create(folder, documents=documents) as index,
    ):
        if channel not in index.channels.names:
            index.channels.make(channel, plan_channel(channel, every[name]))
        fill_channel(index, channel)
        with index.snapshot() as snapshot:
            rprs = Rprs(found.cached(channel, snapshot))
            surfaces = {split: rprs_surface(rprs, found.queries, run, found.qrels(split), "AP", GRID) for split in SPLITS}
            return surfaces, rprs.reader.average_length
