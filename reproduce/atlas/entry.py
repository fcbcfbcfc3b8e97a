"""One entry of the atlas: what was found out about one collection in one setting, as plain values that are kept as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reproduce.result import Circumstances


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Two sources: what each finds alone among its first 100, and what their best fusion gains over the better one (dev)."""

    first: str
    second: str
    only_first: int
    only_second: int
    both: int
    neither: int
    correlation: float | None  # of their scores, over relevant and as many other documents
    gain: float
    p: float  # corrected over all configurations that were tried
    method: str


@dataclass(frozen=True, slots=True)
class SourceFinding:
    """A source alone: means on dev and test by measure, and what it costs."""

    name: str
    model: str
    dev: Mapping[str, float]
    test: Mapping[str, float]
    megabytes: float
    milliseconds: float  # a question, median
    encode_seconds: float  # for all documents; 0 for words


@dataclass(frozen=True, slots=True)
class FusionFinding:
    """A fusion on dev and test, compared with the best single source of dev."""

    name: str
    dev: Mapping[str, float]
    test: Mapping[str, float]
    gain: float  # over the best source of dev, on test, or on dev where there is no test
    low: float  # 95 % interval
    high: float
    p: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class AtlasEntry:
    """One collection in one setting."""

    collection: str
    setting: str
    title: str
    language: str
    law: bool
    documents: int
    of_documents: int
    dev_questions: int
    test_questions: int
    of_questions: int
    measure: str  # that decides
    sources: tuple[SourceFinding, ...]
    best: str  # the best single source of dev
    unjudged: tuple[FusionFinding, ...]  # fusions that need no judged question: RRF and TM2C2 of all sources
    advised: FusionFinding  # the fusion that was chosen on dev, or the highest where none was chosen
    verdict: str
    words: tuple[str, ...]
    better: int  # configurations significantly better than their best member, on dev
    worse: int
    tried: int
    pairs: tuple[PairFinding, ...]
    needed: int | None  # judged questions that show the gain of dev four times out of five; None without a gain
    needed_usual: int  # that show a difference of .05
    detection: Mapping[str, float]  # number of questions -> share of samples of this size that show the gain on test
    bm25: Mapping[str, float]  # k1 and b
    notes: tuple[str, ...]
    seconds: Mapping[str, float]  # by step
    circumstances: Circumstances

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.collection}.{self.setting}.json"

    def save(self, folder: Path) -> None:
        """Write it as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(_rounded(asdict(self)), indent=1, ensure_ascii=False)
        (folder / self.file).write_text(text + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> AtlasEntry:
        """An entry that was saved."""
        values: dict[str, Any] = json.loads(path.read_text("utf-8"))
        values |= {
            "sources": tuple(SourceFinding(**one) for one in values["sources"]),
            "unjudged": tuple(FusionFinding(**one) for one in values["unjudged"]),
            "advised": FusionFinding(**values["advised"]),
            "pairs": tuple(PairFinding(**one) for one in values["pairs"]),
            "circumstances": Circumstances(**values["circumstances"]),
            "words": tuple(values["words"]),
            "notes": tuple(values["notes"]),
        }
        return cls(**values)


def _rounded(value: Any) -> Any:
    """Numbers with as many digits as mean something; those that JSON lacks become null."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value
