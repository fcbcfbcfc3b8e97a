"""RPRS, figure 4: what is lost where only the beginnings of judgments are read.

Of queries and documents the sentences within the first 256, 512, … words are kept; one that goes beyond the cut is dropped, so
that nothing has to be encoded anew. The first stage reads whole texts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.data.arrays import F64, I32, I64, offsets_of
from lexfuse.data.queries import Query
from lexfuse.encode.encoder import Progress, no_progress
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, tuned_rprs
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences, SentenceVectorReader
from lexfuse.text.passages import word_offsets
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, Judgments, judgments

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WHOLE = sys.maxsize
GRID = RprsGrid(n=(1, 3, 5, 10), k1=(0.0, 1.0, 3.0), b=(0.0, 0.5, 1.0), depth=(50, 100))


def ends(text: str, lengths: Sequence[int]) -> list[int]:
    """For each length in words, where the first words of a text end; beyond the text where it has fewer."""
    words = word_offsets(text)
    return [words[length - 1][1] if length <= len(words) else WHOLE for length in lengths]


class Beginnings(SentenceVectorReader):
    """The sentences within the first words of each text."""

    def __init__(self, dense: PassageRetriever, words: int, limits: I64) -> None:
        """Take the channel, the number of words, and where these words end in every document."""
        super().__init__(dense)
        self.words, self.limits = words, limits

    def query(self, query: Query, *, progress: Progress = no_progress) -> QuerySentences:
        """The first sentences of a query."""
        whole = super().query(query, progress=progress)
        (limit,) = ends(query.text, [self.words])
        kept = sum(span.end <= limit for span in whole.spans)
        return QuerySentences(whole.spans[:kept], whole.vectors[:kept])

    def candidates(self, docs: I32 | I64) -> CandidateSentences:
        """The first sentences of documents."""
        whole = super().candidates(docs)
        kept = whole.spans[:, 1] <= self.limits[docs][whole.owner]
        starts = offsets_of(np.bincount(whole.owner[kept], minlength=len(whole)))
        return CandidateSentences(starts, whole.vectors[kept], whole.spans[kept], whole.order)

    @cached_property
    def average_length(self) -> float:
        """Sentences that are known of a document, on average."""
        found = [one.spans[:, 1] for one in self.dense.passages_of(range(len(self.dense.snapshot)))]
        known = [np.count_nonzero(ends <= limit) for ends, limit in zip(found, self.limits.tolist(), strict=True) if len(ends)]
        return float(np.mean(known))


@dataclass(frozen=True)
class TruncatedRprs(Rprs):
    """RPRS over the beginnings of texts."""

    read_by: SentenceVectorReader | None = None

    @cached_property
    def reader(self) -> SentenceVectorReader:
        """What gives it the sentences."""
        if self.read_by is None:
            raise TypeError("RPRS over beginnings needs what reads them")
        return self.read_by


def measure(experiment: Experiment) -> Measured:
    """AP on train and dev at every length, whole texts first."""
    found = judgments(experiment)
    limits = np.array([ends(text, LENGTHS) for text in found.snapshot.column("text")], dtype=np.int64)
    every = [(WHOLE, np.full(len(limits), WHOLE)), *zip(LENGTHS[::-1], limits.T[::-1], strict=True)]
    rows: dict[str, dict[str, float]] = {}
    values: dict[str, F64] = {}
    for words, ended in every:
        name = "whole texts" if words == WHOLE else f"first {words:,} words"
        rows[name], values[name] = _at_length(found, words, ended)
    whole = values.pop("whole texts")
    p_values = adjust_p_values([paired_test(PairedTest.T, whole, other).p for other in values.values()], Correction.HOLM)
    for name, p in zip(values, p_values.tolist(), strict=True):
        rows[name]["p"] = p
    lines = {
        split: Curve(LENGTHS, [rows[f"first {words:,} words"][split] for words in LENGTHS]) for split in ("AP train", "AP dev")
    }
    levels = {f"{split}, whole texts": rows["whole texts"][split] for split in lines}
    labels = Labels("words", "AP", experiment.dataset.name)
    plot = curves("RPRS-FIG4", "AP over the words that are read", labels, lines, levels=levels, log=True)
    return Measured(rows, (plot,))


def _at_length(found: Judgments, words: int, ended: I64) -> tuple[dict[str, float], F64]:
    """The figures for the first words of each text, and the AP of every judgment of dev."""
    rprs = TruncatedRprs(found.sentences, read_by=Beginnings(found.sentences, words, ended))
    first = found.system(FIRST_STAGE).run
    train, dev = (
        rprs_surface(rprs, found.queries, first, found.qrels(split), "AP", GRID) for split in ("train", "dev")
    )  # fmt: skip
    tuned = tuned_rprs(train, dev)
    row = {"AP train": tuned.train, "AP dev": tuned.dev, "sentences a document": rprs.reader.average_length}
    return row, dev.of_queries(tuned.point)
