"""Fusion against ranx where the definitions coincide, and where LexFuse differs on purpose (docs/fusion.md lists it)."""

import importlib
import sys
import warnings
from contextlib import contextmanager
from itertools import pairwise

import numba
import numba.typed  # before interpreted() turns its functions into plain ones
import numpy as np
import pytest

from lexfuse.data.formats.trec_run import write_run
from lexfuse.data.run import Run
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMNZ
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.union import Missing

WEIGHTS = (0.2, 0.5, 0.3)
ZERO = Missing.ZERO
SAME = {
    "rrf": (ReciprocalRank(60, missing=ZERO), {"norm": None, "method": "rrf", "params": {"k": 60}}),
    "rrf with another constant": (ReciprocalRank(5, missing=ZERO), {"norm": None, "method": "rrf", "params": {"k": 5}}),
    "wsum": (Convex(WEIGHTS, missing=ZERO), {"norm": "min-max", "method": "wsum", "params": {"weights": WEIGHTS}}),
    "mnz": (CombMNZ(), {"norm": "min-max", "method": "mnz"}),
}


@contextmanager
def interpreted():
    """Run the code of ranx in Python: compiling it takes minutes, and what numba warns of then is not our concern."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(numba.config, "DISABLE_JIT", True)
        yield


def without_ranx(patch):
    for name in [name for name in sys.modules if name.split(".")[0] == "ranx"]:
        patch.delitem(sys.modules, name)


@pytest.fixture(scope="module")
def ranx():
    """A copy of ranx for these tests alone: one that another test has imported is compiled, and cannot be interpreted."""
    with interpreted(), pytest.MonkeyPatch.context() as patch:
        without_ranx(patch)
        package = importlib.import_module("ranx")
        without_ranx(patch)
    return package


@pytest.fixture
def ranx_fused(ranx):
    """Fuse plain rankings with ranx."""

    def fuse(rankings, **arguments):
        with interpreted():
            fused = ranx.fuse([ranx.Run(ranking) for ranking in rankings], **arguments)
        return {query: dict(hits) for query, hits in fused.run.items()}

    return fuse


def fused(fusion, rankings):
    return fusion.fuse([Run.of(f"s{number}", ranking) for number, ranking in enumerate(rankings)], 1000)


def random_rankings(seed, *, sources=3, queries=8, docs=80, depth=40):
    """Lists without ties that share about half of their documents; without a depth every source lists everything."""
    generator = np.random.default_rng(seed)
    return [
        {
            f"q{query}": {
                f"d{doc}": float(score)
                for doc, score in zip(
                    generator.permutation(docs)[:depth], generator.permutation(1000)[: min(depth, docs)] / 8 - 20, strict=True
                )
            }
            for query in range(queries)
        }
        for _ in range(sources)
    ]


def agree(ours, theirs):
    assert set(ours.queries) == theirs.keys()
    for query, scores in theirs.items():
        hits = ours.hits(query)
        assert {hit.doc: hit.score for hit in hits} == pytest.approx(scores, rel=1e-6, abs=1e-6)
        apart = [scores[one.doc] - scores[other.doc] for one, other in pairwise(hits)]
        assert min(apart) > -1e-6  # the same ranking, but for what float32 holds to be a tie


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("seed", [1, 2])
def test_equals_ranx(ranx_fused, name, seed):
    fusion, arguments = SAME[name]
    rankings = random_rankings(seed)
    agree(fused(fusion, rankings), ranx_fused(rankings, **arguments))


@pytest.mark.parametrize("seed", [3, 4])
def test_borda_equals_ranx_where_every_source_lists_every_document(ranx_fused, seed):
    rankings = random_rankings(seed, docs=30)
    agree(fused(Borda(), rankings), ranx_fused(rankings, norm=None, method="bordafuse"))


def test_borda_counts_within_the_list_where_ranx_counts_within_the_union(ranx_fused):
    """FUSE eq. 17 counts |list| - rank + 1; ranx counts from the size of the union and shares out the rest of the points."""
    rankings = [{"q": {"x": 3.0, "y": 2.0}}, {"q": {"y": 2.0, "z": 1.0, "u": 0.5}}]
    assert fused(Borda(), rankings).as_dict() == {"q": {"y": 4.0, "x": 2.0, "z": 2.0, "u": 1.0}}
    # Four documents: 4 and 3 points in the first list and (4 - 2 + 1) / 2 for the two others; 4, 3, 2 in the second and 1.
    assert ranx_fused(rankings, norm=None, method="bordafuse") == {"q": {"y": 7.0, "x": 5.0, "z": 4.5, "u": 3.5}}


def test_a_document_that_a_source_does_not_list_ranks_after_its_last_where_ranx_leaves_the_source_out(ranx_fused):
    rankings = [{"q": {"x": 3.0, "y": 2.0}}, {"q": {"y": 2.0, "z": 1.0}}]
    theirs = ranx_fused(rankings, norm=None, method="rrf")["q"]
    ours = fused(ReciprocalRank(), rankings).as_dict()["q"]
    assert (theirs["x"], ours["x"]) == pytest.approx((1 / 61, 1 / 61 + 1 / 63))
    assert (theirs["y"], ours["y"]) == pytest.approx((1 / 62 + 1 / 61,) * 2)


def test_a_missing_score_is_the_lowest_of_the_list_where_ranx_takes_zero(ranx_fused):
    """By min-max the lowest is 0 as well, so both agree, unless all scores of a list are equal."""
    rankings = [{"q": {"x": 3.0, "y": 2.0}}, {"q": {"y": 2.0, "z": 2.0}}]
    halves = {"norm": "min-max", "method": "wsum", "params": {"weights": (0.5, 0.5)}}
    assert fused(Convex(), rankings).as_dict() == {"q": {"x": 0.75, "y": 0.25, "z": 0.25}}
    assert ranx_fused(rankings, **halves) == {"q": {"x": 0.5, "y": 0.0, "z": 0.0}}


def test_equal_scores_are_half_where_ranx_has_zero(ranx_fused):
    rankings = [{"q": {"x": 3.0, "y": 3.0}}, {"q": {"x": 2.0, "y": 1.0}}]
    arguments = {"norm": "min-max", "method": "wsum", "params": {"weights": (0.5, 0.5)}}
    assert fused(Convex(missing=ZERO), rankings).as_dict() == {"q": {"x": 0.75, "y": 0.25}}
    assert ranx_fused(rankings, **arguments) == {"q": {"x": 0.5, "y": 0.0}}


def test_ties_go_by_document_id_where_ranx_keeps_the_order_it_was_given(ranx_fused):
    first = [{"q": {"x": 2.0, "a": 2.0}}, {"q": {"x": 1.0, "a": 1.0}}]
    turned = [{"q": {"a": 2.0, "x": 2.0}}, {"q": {"a": 1.0, "x": 1.0}}]
    assert fused(ReciprocalRank(), first).as_dict() == fused(ReciprocalRank(), turned).as_dict()
    assert [hit.doc for hit in fused(ReciprocalRank(), first).hits("q")] == ["a", "x"]
    theirs = [ranx_fused(rankings, norm=None, method="rrf")["q"] for rankings in (first, turned)]
    assert theirs[0]["x"] > theirs[0]["a"]
    assert theirs[1]["a"] > theirs[1]["x"]


def test_runs_of_different_queries_are_fused_where_ranx_stops(ranx_fused):
    rankings = [{"q1": {"x": 1.0}, "q2": {"x": 1.0}}, {"q1": {"y": 1.0}}]
    assert set(fused(ReciprocalRank(), rankings).queries) == {"q1", "q2"}
    with pytest.raises(AssertionError, match="query ids do not match"):
        ranx_fused(rankings, norm=None, method="rrf")


def test_a_source_of_weight_zero_adds_no_candidates_where_ranx_ranks_them_last(ranx_fused):
    rankings = [{"q": {"x": 3.0, "y": 2.0}}, {"q": {"y": 2.0, "z": 1.0}}]
    arguments = {"norm": "min-max", "method": "wsum", "params": {"weights": (1.0, 0.0)}}
    assert fused(Convex((1.0, 0.0), missing=ZERO), rankings).as_dict() == {"q": {"x": 1.0, "y": 0.0}}
    assert ranx_fused(rankings, **arguments) == {"q": {"x": 1.0, "y": 0.0, "z": 0.0}}


def test_ranx_reads_ids_with_white_space(ranx, tmp_path):
    write_run(Run.of("x", {"q 1": {"d 1": 2.0}}), tmp_path / "x.trec")
    with interpreted():
        assert ranx.Run.from_file(str(tmp_path / "x.trec"), kind="trec").run["q␠1"]["d␠1"] == 2.0
