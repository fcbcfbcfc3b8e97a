"""The card says what was measured, before and after, on what; results are kept and read again."""

import json

import pytest

from lexfuse.errors import DataError
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.output.model_card import model_card
from lexfuse.train.output.training_results import RESULTS, SeedResult, StageResult, TrainingResult
from lexfuse.train.plan import TrainingPlan

FACTS = {"corpus": "labour", "documents": 29104, "dev": "153 queries, over 1,500 of 29,104 documents"}


def seed(number, value, *, start=0.3, loss=1.0):
    stage = StageResult(
        "judged", 20, 10, {"dev loss": 2.0, "R@100": start}, {"dev loss": loss, "R@100": value}, 61.7, True, ({"step": 0},)
    )
    return SeedResult(number, (stage,))


def trained(kind=ModelKind.DENSE, *seeds, licence="CC0", values=None):
    plan = TrainingPlan.usual(kind, values)
    return TrainingResult(str(kind), "fr-legal-mlm", licence, plan.plain(), FACTS, seeds or (seed(1, 0.5),))


def test_one_seed():
    text = model_card(trained(), "my-dense")
    assert text.startswith("# my-dense\n")
    assert "- Trained from: fr-legal-mlm\n- Licence: CC0" in text
    assert "- documents: 29,104" in text
    assert "over 1,500 of 29,104 documents" in text
    assert "| R@100 | 0.3000 | 0.5000 |" in text
    assert "The weights of step 10 are kept" in text
    assert "seed 1: 20 steps in 62 s, best at 10, stopped early" in text
    assert "| learning_rate | 2e-05 | 2e-05 |" in text
    assert "flops" not in text
    assert "lexfuse index INDEX --channels dense --model dense=my-dense" in text


def test_several_seeds_have_a_deviation_and_the_best_is_kept():
    several = trained(ModelKind.DENSE, seed(1, 0.5), seed(2, 0.6), seed(3, 0.4))
    assert several.best.seed == 2
    text = model_card(several, "m")
    assert "| R@100 | 0.3000 ± 0.0000 | 0.5000 ± 0.1000 | 0.6000 |" in text
    assert "over the seeds 1, 2, 3; the weights of seed 2 are kept" in text


def test_of_equal_seeds_the_lower_loss_is_better_then_the_first():
    assert trained(ModelKind.DENSE, seed(1, 0.5, loss=1.0), seed(2, 0.5, loss=0.9)).best.seed == 2
    assert trained(ModelKind.DENSE, seed(1, 0.5), seed(2, 0.5)).best.seed == 1


def test_nothing_measured():
    nothing = SeedResult(1, (StageResult("judged", 20, 20, {}, {}, 3.0, False),))
    assert "Nothing was measured" in model_card(trained(ModelKind.DENSE, nothing), "m")


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        (ModelKind.TWO_TOWER, "--model dense=m/passages --query-model dense=m/queries"),
        (ModelKind.SPLADE, "--model splade=m"),
        (ModelKind.COLBERT, "--model colbert=m"),
        (ModelKind.CROSS, 'method = "cross-encoder"\nmodel = "m"'),
    ],
)
def test_how_each_kind_is_used(kind, use):
    assert use in model_card(trained(kind), "m")


def test_the_profile_of_a_cross_encoder_is_one():
    from lexfuse.search.spec.spec import SearchSpec

    text = model_card(trained(ModelKind.CROSS), "m")
    profile = text.split("<<END\n")[1].split("END\n")[0]
    assert SearchSpec.parse(profile)


def test_stages_one_after_the_other():
    values = {"stage": [{"examples": ["headings"], "steps": 9}, {"examples": ["judged"]}]}
    one = SeedResult(
        1, (StageResult("headings", 9, 9, {"R@100": 0.1}, {"R@100": 0.2}, 1.0, False), seed(1, 0.5, start=0.2).stages[0])
    )
    chain = trained(ModelKind.DENSE, one, values=values)
    text = model_card(chain, "m")
    assert "Stage 1, on headings; seed 1: 9 steps" in text
    assert "Stage 2, on judged" in text
    assert "| R@100 | 0.1000 | 0.5000 |" in text  # from the base to the end of the chain


def test_results_are_read_again(tmp_path):
    before = trained(ModelKind.SPLADE, seed(1, 0.5), seed(2, 0.6))
    (tmp_path / RESULTS).write_text(json.dumps(before.plain()))
    assert TrainingResult.read(tmp_path).plain() == before.plain()


def test_results_that_are_none(tmp_path):
    (tmp_path / RESULTS).write_text('{"kind": "dense"}')
    with pytest.raises(DataError, match="not the results of a training"):
        TrainingResult.read(tmp_path)
