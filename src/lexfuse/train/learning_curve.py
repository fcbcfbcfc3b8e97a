"""How much data a model needs: the same training on growing shares of the judgements, by date (CJEU Table 6) or at random."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from lexfuse.data.files import written_file
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.train.examples.splits import chronological_share, random_share
from lexfuse.train.loop.progress import ProgressListener
from lexfuse.train.material import TrainingMaterial
from lexfuse.train.output.training_results import RESULTS, TrainingResult
from lexfuse.train.plan import Device, TrainingPlan
from lexfuse.train.trainer import train_model

STUDY = "study.json"


class ShareOrder(StrEnum):
    """How a share of the judgements is selected."""

    DATE = "date"  # the earliest
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class ShareResult:
    """The result of training on a share of the data."""

    percent: float
    queries: int
    judgements: int
    trained: TrainingResult

    def plain(self) -> dict[str, Any]:
        """The share and its measures as JSON values."""
        measures = {name: {"mean": one.mean, "deviation": one.deviation} for name, one in self.trained.measures.items()}
        return {"percent": self.percent, "queries": self.queries, "judgements": self.judgements, "measures": measures}


def share_of(material: TrainingMaterial, percent: float, by: ShareOrder) -> Qrels:
    """A share of the train judgements.

    >>> queries = Queries.of(Query(str(n), "…") for n in range(10))
    >>> material = TrainingMaterial("mine", Corpus.of([Document("d")]), queries, Qrels.of((str(n), "d", 1) for n in range(10)))
    >>> len(share_of(material, 20, ShareOrder.RANDOM))
    2
    """
    if not 0 < percent <= 100:
        raise ConfigError(f"shares are percentages above 0 and at most 100, got {percent:g}; 10,20,50,100 is usual")
    if material.queries is None or material.train is None:
        raise ConfigError("a study of shares needs queries and train judgements; give both")
    if by is ShareOrder.RANDOM:
        return random_share(material.queries, material.train, percent / 100)
    return chronological_share(material.queries, material.train, percent / 100, dev=0).train


def learning_curve(
    plan: TrainingPlan,
    base: str | Path,
    out: str | Path,
    material: TrainingMaterial,
    shares: Sequence[float],
    by: ShareOrder,
    *,
    device: Device = Device.AUTO,
    licence: str = "not stated",
    telling: ProgressListener | None = None,
) -> list[ShareResult]:
    """Train once per share, all measured on the same dev queries; the models are in ``out``, with a JSON table.

    Shares that were finished before an interruption are not trained again.

    >>> learning_curve(TrainingPlan.usual(Kind.DENSE), "fr-legal-mlm", "shares", material, [10, 50, 100],
    ...     ShareOrder.DATE)  # doctest: +SKIP
    """
    out, telling = Path(out), telling or ProgressListener()
    parts = [(percent, share_of(material, percent, by)) for percent in sorted(set(shares))]  # all of them before the work
    results = []
    for percent, qrels in parts:
        folder = out / f"share-{percent:g}"
        some = replace(material, train=qrels)
        telling.say(f"{percent:g} % of the judgements: {len(qrels):,} of {len(qrels.queries):,} queries")
        if (folder / RESULTS).is_file():
            trained = _done(folder, plan)
            telling.say(f"{folder.name} already exists")
        else:
            trained = train_model(plan, base, folder, some, device=device, licence=licence, telling=telling)
        results.append(ShareResult(percent, len(qrels.queries), len(qrels), trained))
    with written_file(out / STUDY) as stream:
        stream.write(json.dumps({"by": str(by), "shares": [one.plain() for one in results]}, indent=1).encode())
    return results


def _done(folder: Path, plan: TrainingPlan) -> TrainingResult:
    """A share that was trained before, by the same plan."""
    trained = TrainingResult.read(folder)
    if trained.kind != plan.kind or trained.plan != plan.plain():
        raise ConfigError(f"{str(folder)!r} holds a model of other settings; choose another output")
    return trained
