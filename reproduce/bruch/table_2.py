"""BRUCH, table 2: reciprocal ranks with one constant for each source, against TM2C2.

The paper tunes the constants on its in-domain datasets and applies them to the others. Here every collection at hand chooses
constants of RRF, and alpha of TM2C2, on its tuning split; each choice is measured on the test split of every collection.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.optimisation.fusion_transfer import FusionTransfer, SplitCollection, transfer_fusion, tuned_etas, tuned_weights
from reproduce.bruch.candidates import candidates, left_out, marked
from reproduce.bruch.figure_7 import ETAS
from reproduce.experiment import Experiment
from reproduce.result import Measured

FUSIONS = {
    "TM2C2": TM2C2(0.8),
    "RRF(60,60)": ReciprocalRank(60.0),
    "RRF(5,5)": ReciprocalRank(5.0),
    "RRF(10,4)": ReciprocalRank((10.0, 4.0)),
}
TUNED = {"RRF": tuned_etas(ETAS), "TM2C2": tuned_weights(TM2C2())}


def measure(experiment: Experiment) -> Measured:
    """The nDCG on the test queries; marks: ‡ differs from TM2C2, * from RRF(60,60), † from what this collection chose."""
    if reason := left_out(experiment):
        return Measured({}, notes=(f"Not measured: {reason}.",))
    found = candidates(experiment, experiment.dataset.test)
    values = {name: found.values(found.fused(fusion)) for name, fusion in FUSIONS.items()}
    versus = {"‡": values["TM2C2"], "*": values["RRF(60,60)"]}
    rows = {name: {found.ndcg: marked(one, versus if name != "TM2C2" else {})} for name, one in values.items()}
    transfers = {family: transferred(experiment, family) for family in TUNED}
    here = experiment.dataset.name
    for family, transfer in transfers.items():
        reached = transfer.values[here]
        own = reached[transfer.names.index(here)]
        for name, fusion, one in zip(transfer.names, transfer.fusions, reached, strict=True):
            rows[f"{family}({_constants(fusion)}), tuned on {name}"] = {found.ndcg: marked(one, versus | {"†": own})}
    return Measured(rows, notes=tuple(_losses(here, transfers)))


def transferred(experiment: Experiment, family: str) -> FusionTransfer:
    """What every collection chooses and reaches, measured once for all of them."""
    each = {name: one for name, one in experiment.each().items() if not left_out(one)}
    key = ("BRUCH-2", family, *each)
    return experiment.workspace.once(
        key, lambda: transfer_fusion({name: _splits(one) for name, one in each.items()}, TUNED[family])
    )


def _splits(experiment: Experiment) -> SplitCollection:
    tuning, test = (candidates(experiment, split) for split in (experiment.dataset.tuning, experiment.dataset.test))
    return SplitCollection((tuning.union, tuning.qrels), (test.union, test.qrels), test.ndcg)


def _constants(fusion: Fusion) -> str:
    """The constants of each source, or the weight of the second."""
    if isinstance(fusion, ReciprocalRank):
        return ",".join(f"{eta:g}" for eta in np.broadcast_to(fusion.eta, 2))
    return f"{fusion.source_weights(2)[1]:.3g}"


def _losses(here: str, transfers: dict[str, FusionTransfer]) -> Iterator[str]:
    """How a collection fares with the choices of the others, against its own."""
    for family, transfer in transfers.items():
        losses = dict(zip(transfer.names, transfer.losses[:, transfer.names.index(here)].tolist(), strict=True))
        del losses[here]
        if losses:
            said = ", ".join(f"{-lost:+.4f} (tuned on {name})" for name, lost in losses.items())
            yield f"{family} with constants of another collection, against what {here} chose: {said}."
