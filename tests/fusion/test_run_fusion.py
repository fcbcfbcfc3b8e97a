"""Runs fused from Python: stated bounds, which runs match words, how deep, and what is said about it."""

import warnings

import pytest

from lexfuse.data.run import Run
from lexfuse.errors import BoundWarning, ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.run_fusion import fuse, fuse_runs
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing

WORDS = Run.of("words", {"p": {"a": 9.0, "b": 4.0, "c": 1.0}, "q": {"b": 3.0}})
DENSE = Run.of("dense", {"p": {"c": 0.9, "d": 0.2}, "q": {"a": 0.1, "b": -0.3}})
BOUNDS = {"words": 0.0, "dense": -1.0}


def test_all_candidates_are_kept_unless_k_is_given():
    fused = fuse([WORDS, DENSE], ReciprocalRank(60))
    assert fused.as_dict() == ReciprocalRank(60).fused(union_of([WORDS, DENSE]), 100).as_dict()
    assert len(fused.hits("p")) == 4
    assert [hit.doc for hit in fuse([WORDS, DENSE], ReciprocalRank(60), k=1).hits("p")] == [fused.hits("p")[0].doc]


@pytest.mark.parametrize("runs", [[WORDS, DENSE], [DENSE, WORDS]])
def test_with_bounds_the_order_of_the_runs_does_not_matter(runs):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BoundWarning)
        made = fuse_runs(runs, TM2C2(alpha=0.7), bounds=BOUNDS, name="mine")
    expected = TM2C2(alpha=0.7).fused(union_of([WORDS.bounded(0.0), DENSE.bounded(-1.0)]), 100)
    assert made.run.as_dict() == expected.as_dict()
    assert made.run.name == "mine"
    assert made.assumed_bounds == ()
    assert made.notes[0] == "tm2c2 counts as lexical: words, whose scores are never negative (--lexical RUN names others)"


def test_without_bounds_the_first_run_is_lexical_and_the_assumption_is_warned_of():
    with pytest.warns(BoundWarning):
        made = fuse_runs([DENSE, WORDS], TM2C2())
    assert made.assumed_bounds == ("dense", "words")
    assert "dense, the first of the runs" in made.notes[0]


def test_named_runs_are_lexical_and_share_the_rest_of_alpha():
    third = Run.of("third", {"p": {"a": 1.0}, "q": {"b": 1.0}}).bounded(0.0)
    made = fuse([DENSE, third, WORDS], TM2C2(alpha=0.6), bounds=BOUNDS, lexical=["words", "third"])
    runs = [third, WORDS.bounded(0.0), DENSE.bounded(-1.0)]
    assert made.as_dict() == TM2C2(alpha=0.6, lexical=2).fused(union_of(runs), 100).as_dict()


def test_a_stated_number_of_lexical_runs_keeps_their_order():
    third = Run.of("third", {"p": {"a": 1.0}, "q": {"b": 1.0}})
    runs = [DENSE.bounded(-1.0), WORDS.bounded(0.0), third.bounded(0.0)]
    assert fuse(runs, TM2C2(lexical=2)).as_dict() == TM2C2(lexical=2).fused(union_of(runs), 100).as_dict()


def test_imputed_scores_are_counted():
    made = fuse_runs([WORDS, DENSE], ReciprocalRank(60))
    assert made.imputed == pytest.approx(4 / 12)
    assert made.notes[0].startswith("33% of the scores are not in the runs")
    assert fuse_runs([WORDS, DENSE], ReciprocalRank(60, missing=Missing.ZERO)).notes == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fusion": TM2C2(), "bounds": {"bm25": 0.0}}, "a bound names no run: 'bm25'; there are words, dense"),
        ({"fusion": TM2C2(), "lexical": ["bm25"]}, "no run is called 'bm25'; there are words, dense"),
        ({"fusion": ReciprocalRank(60), "lexical": ["words"]}, "lexical is for tm2c2; the fusion is rrf"),
    ],
)
def test_names_that_no_run_has_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        fuse([WORDS, DENSE], **options)
