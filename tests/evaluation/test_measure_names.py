import pytest

from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import CollectionMeasure, QueryMeasure
from lexfuse.evaluation.measure_names import MEASURES, known_measures, parse_measure, parse_measures

CANONICAL = (
    "nDCG@10 nDCG R@100 P@5 F1@5 AP@100 AP RR@10 RR Rprec Success@5 MPR macroMPR microF1@5 microP@5 microR microF1 "
    "P(rel=2)@10 R(rel=2)@100 Rprec(rel=3) MPR(rel=2) macroMPR(rel=2) microF1(rel=2)@5"
)


@pytest.mark.parametrize("text", CANONICAL.split())
def test_canonical_spelling_is_kept(text):
    assert str(parse_measure(text)) == repr(parse_measure(text)) == text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("MRR@10", "RR@10"),
        ("mrr", "RR"),
        ("MAP", "AP"),
        ("map@100", "AP@100"),
        ("Recall@100", "R@100"),
        ("recall(rel=2)@5", "R(rel=2)@5"),
        ("Precision@5", "P@5"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("Hit@5", "Success@5"),
        ("Hits@5", "Success@5"),
        ("HitRate@5", "Success@5"),
        ("success@5", "Success@5"),
        ("R-Precision", "Rprec"),
        ("RPrec", "Rprec"),
        ("rprecision", "Rprec"),
        ("f1@5", "F1@5"),
        ("mpr", "MPR"),
        ("MacroMPR", "macroMPR"),
        ("MicroF1@5", "microF1@5"),
        ("microPrecision@5", "microP@5"),
        ("microRecall@5", "microR@5"),
        ("P(rel=1)@5", "P@5"),
        (" nDCG@10 ", "nDCG@10"),
    ],
)
def test_other_names_are_understood(written, meant):
    assert str(parse_measure(written)) == meant
    assert parse_measure(written) == parse_measure(meant)


@pytest.mark.parametrize("text", ["BLEU", "nDCG@ten", "nDCG@-1", "P(rel=x)@5", "P(foo=2)@5", "", "@1", "P@5@6", "P@٥", "P @5"])
def test_an_unknown_measure_lists_the_known_ones(text):
    with pytest.raises(ConfigError, match="known are nDCG") as error:
        parse_measure(text)
    assert known_measures() in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("P", "needs a cutoff; write for example P@10"),
        ("R", "needs a cutoff"),
        ("F1", "needs a cutoff"),
        ("Success", "needs a cutoff"),
        ("Rprec@5", "takes no cutoff"),
        ("MPR@5", "takes no cutoff"),
        ("macroMPR@5", "takes no cutoff"),
        ("P@0", "at least 1, got 0"),
        ("P(rel=0)@5", "at least 1, got 0"),
        ("nDCG(rel=2)@5", "takes no rel"),
    ],
)
def test_parameters_that_cannot_be(text, says):
    with pytest.raises(ConfigError, match=says):
        parse_measure(text)


def test_several_measures_in_order_once_each():
    assert [str(m) for m in parse_measures("nDCG@10, R@100 ,P(rel=2)@5\nndcg@10")] == ["nDCG@10", "R@100", "P(rel=2)@5"]


@pytest.mark.parametrize("text", ["", " , "])
def test_no_measure_at_all(text):
    with pytest.raises(ConfigError, match="no measure given"):
        parse_measures(text)


def test_every_measure_is_of_exactly_one_kind():
    for measure in MEASURES:
        assert issubclass(measure, QueryMeasure) != issubclass(measure, CollectionMeasure)


def test_measures_differ_by_kind_cutoff_and_grade():
    assert len({parse_measure(text) for text in ["P@5", "P@10", "P(rel=2)@5", "R@5", "F1@5", "microF1@5"]}) == 6
