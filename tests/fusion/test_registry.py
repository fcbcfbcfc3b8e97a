"""Fusions by name: each takes its own options and refuses the others."""

import pytest

from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import MinMax, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.registry import METHODS, FusionOptions, make_fusion, normalisers_of
from lexfuse.fusion.tm2c2 import TM2C2
from lexfuse.fusion.union import Missing


def test_every_name_makes_the_fusion_that_is_called_so():
    for name in METHODS:
        assert make_fusion(name).name == name


def test_options_reach_their_fields():
    assert make_fusion("tm2c2", FusionOptions(alpha=0.6)) == TM2C2(0.6)
    assert make_fusion("rrf", FusionOptions(eta=(5.0,))) == ReciprocalRank(5.0)
    assert make_fusion("rrf", FusionOptions(eta=(10.0, 4.0), weights=(0.3, 0.7))) == ReciprocalRank((10.0, 4.0), (0.3, 0.7))
    assert make_fusion("srrf", FusionOptions(eta=(5.0,), beta=100.0)) == SmoothReciprocalRank(5.0, 100.0)
    convex = make_fusion("convex", FusionOptions((0.2, 0.8), normalisers=("z-score", "min-max"), missing=Missing.ZERO))
    assert convex == Convex((0.2, 0.8), [ZScore(), MinMax()], Missing.ZERO)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("rrf", FusionOptions(alpha=0.5), "the fusion rrf has no alpha; it takes eta, weights"),
        ("borda", FusionOptions(eta=(1.0,), beta=2.0), "no beta and no eta; it takes nothing"),
        ("convex", FusionOptions(normalisers=("mean",)), "no normaliser 'mean'; there are min-max, theoretical-min-max"),
        ("mean", FusionOptions(), "no fusion 'mean'; there are tm2c2"),
    ],
)
def test_what_a_fusion_does_not_take_is_refused(name, options, words):
    with pytest.raises(ConfigError, match=words):
        make_fusion(name, options)


def test_one_normaliser_or_one_each():
    assert normalisers_of(["theoretical-min-max"]) == TheoreticalMinMax()
    assert normalisers_of(["min-max", "z-score"]) == [MinMax(), ZScore()]
