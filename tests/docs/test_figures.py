"""The figures that the first pages state are those that their commands give."""

import re
from pathlib import Path

import pytest

import lexfuse as lf
from lexfuse.evaluation.significance_options import PairedTest

ROOT = Path(__file__).parents[2]
DECLARATION = ROOT / "examples" / "declaration"


def words_of(page):
    """A page without line breaks."""
    return " ".join((ROOT / "docs" / page).read_text("utf-8").split())


@pytest.fixture(scope="module")
def declaration(tmp_path_factory):
    """The index, the questions and the judgements of docs/tutorial.md."""
    folder = tmp_path_factory.mktemp("declaration") / "declaration.index"
    with lf.Index.build(folder, lf.read_corpus(DECLARATION / "articles.csv"), channels=["dense"]) as index:
        yield index, lf.read_queries(DECLARATION / "questions.csv"), lf.read_qrels(DECLARATION / "judgements.tsv")


@pytest.fixture(scope="module")
def runs(declaration):
    index, queries, _ = declaration
    searches = {"words": ["bm25"], "meaning": ["dense"], "hybrid": ["bm25", "dense"]}
    return [index.run(queries, channels=channels, name=name) for name, channels in searches.items()]


@pytest.fixture(scope="module")
def advice(declaration):
    index, queries, qrels = declaration
    return lf.advise(index, queries, qrels, folds=4)


def signed(number):
    return f"{number:.3f}".replace("-", "−")


def test_what_the_tutorial_measures(declaration, runs):
    text = words_of("tutorial.md")
    table = re.findall(r"\| (\w+) \| ([\d.]+) \| ([\d.]+) \|", text)
    evaluated = [lf.evaluate(declaration[2], run, "nDCG@10 RR@10") for run in runs]
    assert table == [
        (run.name, *(f"{one.mean(measure):.3f}" for measure in ("nDCG@10", "RR@10")))
        for run, one in zip(runs, evaluated, strict=True)
    ]
    words, _, hybrid = lf.compare(declaration[2], runs, "nDCG@10", baseline="meaning").rows
    interval = hybrid.paired.interval
    assert f"gains {hybrid.difference:.3f} over vectors alone" in text
    assert f"with a 95 % interval from {signed(interval.low)} to {signed(interval.high)}" in text
    assert words.paired.significant
    assert not hybrid.paired.significant


def test_the_advice_of_the_tutorial(advice):
    text, said = words_of("tutorial.md"), " ".join(advice.words)
    assert "Too few questions to tell" in text
    judged, needed = re.search(r"(\d+) are judged, and it takes about (\d+) to show a difference of 0.05", said).groups()
    assert f"{judged} are judged, and it takes about {needed} to show a difference of 0.05" in text
    gain, p = re.search(r"fuse bm25 and dense by z-score with weights .50/.50 \(\+([\d.]+) .*? p = ([\d.]+)", said).groups()
    assert "words and vectors with equal weights" in text
    assert f"gain {gain} over vectors alone" in text
    assert f"p is {p}" in text
    assert "the gain is 0.000" in text
    assert "on that fold, gives nDCG@10 0.777: +0.000 nDCG@10 over dense alone" in said
    assert f"about {needed} for the example above" in words_of("ten-judgements.md")


def test_the_weight_tuned_with_ten_judgements(declaration):
    index, queries, qrels = declaration
    tuned = str(lf.tune(index, queries, qrels, "nDCG@10", channels=["bm25", "dense"], folds=4))
    found = re.search(
        r"dense ([\d.]+): nDCG@10 ([\d.]+) on .*?, ([\d.]+) on queries .*not distinguishable .* \(([\d.]+)\)", tuned
    )
    weight, own, others, equal = map(float, found.groups())
    text = words_of("ten-judgements.md")
    assert f"the best weight gives {own:.3f} nDCG@10 on its own questions and {others:.3f} on others" in text
    assert f"equal weights give {equal:.3f}" in text
    assert f"--alpha {weight:.2f}" in text


def test_three_questions_prove_nothing(tmp_path):
    examples = ROOT / "examples"
    queries, qrels = lf.read_queries(examples / "questions.csv"), lf.read_qrels(examples / "test.tsv")
    with lf.Index.build(tmp_path / "library.index", lf.read_corpus(examples / "articles.csv"), channels=["dense"]) as index:
        runs = [index.run(queries, channels=channels, name=channels[-1]) for channels in (["bm25"], ["bm25", "dense"])]
    t, randomised = (lf.compare(qrels, runs, "nDCG@10", test=test).rows[1] for test in (PairedTest.T, PairedTest.RANDOMISATION))
    text = words_of("getting-started.md")
    assert t.paired.significant
    assert f"the gain of {t.difference:.3f} as significant" in text
    assert f"`--test randomisation`, which assumes nothing about the values, gives p = {randomised.paired.p:.2f}" in text
