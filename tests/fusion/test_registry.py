"""Fusions by name: each takes its own options and refuses the others."""

import json

import pytest

from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import MinMax, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.registry import FUSIONS, fusion_of, fusion_values, normalisers_of
from lexfuse.fusion.union import Missing


def test_every_name_makes_the_fusion_that_is_called_so():
    for name in FUSIONS:
        assert fusion_of(name).name == name


def test_options_reach_their_fields():
    assert fusion_of({"method": "tm2c2", "alpha": 0.6}) == TM2C2(0.6)
    assert fusion_of({"method": "rrf", "eta": 5}) == fusion_of({"method": "rrf", "eta": [5]}) == ReciprocalRank(5.0)
    both = fusion_of({"method": "rrf", "eta": [10, 4], "weights": (0.3, 0.7)})
    assert both == ReciprocalRank((10.0, 4.0), (0.3, 0.7))
    assert fusion_of({"method": "srrf", "eta": 5.0, "beta": 100}) == SmoothReciprocalRank(5.0, 100.0)
    convex = fusion_of({"method": "convex", "weights": [0.2, 0.8], "normalisers": ["z-score", "min-max"], "missing": "zero"})
    assert convex == Convex((0.2, 0.8), (ZScore(), MinMax()), Missing.ZERO)


@pytest.mark.parametrize(
    "fusion",
    [
        *(kind() for kind in FUSIONS.values()),
        Convex([0.2, 0.8], [ZScore(), MinMax()], Missing.ZERO),
        ReciprocalRank((10.0, 4.0), 2.0),
        SmoothReciprocalRank(5.0, 100.0, [0.3, 0.7], Missing.MIN),
        TM2C2(0.25),
    ],
)
def test_the_values_of_a_fusion_are_read_back(fusion):
    found = fusion_of(json.loads(json.dumps(fusion_values(fusion))))
    assert found == fusion
    assert hash(found) == hash(fusion)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("rrf", {"alpha": 0.5}, "the fusion rrf has no alpha; it takes eta, weights"),
        ("borda", {"eta": 1.0, "beta": 2.0}, "no beta and no eta; it takes nothing"),
        ("convex", {"normalisers": "mean"}, "no normaliser 'mean'; there are min-max, theoretical-min-max"),
        ("mean", {}, "method must be one of tm2c2"),
        ("tm2c2", {"lexical": 2}, "the fusion tm2c2 has no lexical; it takes alpha"),
    ],
)
def test_what_a_fusion_does_not_take_is_refused(name, options, words):
    with pytest.raises(ConfigError, match=words):
        fusion_of({"method": name} | options)


def test_one_normaliser_or_one_each():
    assert normalisers_of(["theoretical-min-max"]) == TheoreticalMinMax()
    assert normalisers_of(["min-max", "z-score"]) == (MinMax(), ZScore())
