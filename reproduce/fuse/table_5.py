"""FUSE, table 5: means over seeds, trained from the backbone alone and from a model that has learned from pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from statistics import fmean

from lexfuse.errors import NotFoundError
from reproduce.experiment import Experiment
from reproduce.fuse.sources import COSINE, NAMES, score_folder
from reproduce.result import Measured

STARTS = {"backbone": "without"}  # where a seed starts from; anything else is a first training


def measure(experiment: Experiment) -> Measured:
    """One row for each kind of model and start; seeds.json has what each seed reached."""
    path = score_folder(experiment) / "seeds.json"
    if not path.is_file():
        raise NotFoundError(f"no file {str(path)!r}; recipes/french_scores.py makes it with: seeds")
    reached: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in json.loads(path.read_text("utf-8")):
        name = f"{(NAMES | COSINE)[one['kind']]}, {STARTS.get(one['start'], 'with')}"
        for measure, value in one["test"].items():
            reached[name][measure].append(value)
    rows = {name: {measure: fmean(found) for measure, found in values.items()} for name, values in reached.items()}
    counts = {name: len(next(iter(values.values()))) for name, values in reached.items()}
    most = max(counts.values(), default=0)
    fewer = "".join(f"; {name}: {count}" for name, count in counts.items() if count < most)
    return Measured(rows, notes=(f"Seeds of a row: {most}{fewer}.",))
