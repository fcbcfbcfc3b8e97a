"""The tables and figures of FUSE on a few articles, with stored scores of three models that were never trained."""

import json

import numpy as np
import pytest

from lexfuse.advice.findings import Configuration
from lexfuse.advice.grid import GridTrial
from lexfuse.channels.distribution import SHARES
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import NotFoundError
from reproduce.datasets import DataFolders
from reproduce.experiment import Experiment, Workspace
from reproduce.fuse.configurations import BETTER, WORSE, difference_marks
from reproduce.fuse.sources import asked_sources
from reproduce.paper_table import all_tables

WORDS = ("bail", "loyer", "congé", "salaire", "préavis", "contrat", "période", "essai", "durée", "repos", "prime", "grève")
QUESTIONS = 10  # of each split


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twelve articles of one word each, and questions that ask for it; the models know the answer of two questions in three."""
    folder = tmp_path_factory.mktemp("fuse")
    documents = [Document(f"d{at:02}", text=f"article sur {word}", language="fr") for at, word in enumerate(WORDS)]
    names = {split: [f"{split}{at}" for at in range(QUESTIONS)] for split in ("dev", "test")}
    queries = [Query(name, f"question de {WORDS[at]}", "fr") for of in names.values() for at, name in enumerate(of)]
    qrels = {split: Qrels.of([(name, f"d{at:02}", 1) for at, name in enumerate(of)]) for split, of in names.items()}
    write_collection(Collection(Corpus.of(documents), Queries.of(queries), qrels), folder / "data" / "fr-labour")
    scores = folder / "data" / "fr-labour-scores"
    scores.mkdir()
    for seed, setting in enumerate(("zero-shot", "in-domain")):
        for split, of in names.items():
            np.savez_compressed(scores / f"{setting}.{split}.npz", **stored(of, seed))
    seeds = [{"kind": "dense", "start": start, "test": {"R@10": value}} for start, value in
             (("backbone", 0.2), ("backbone", 0.4), ("pairs", 0.5))]  # fmt: skip
    seeds.append({"kind": "splade-cosine", "start": "pairs", "test": {"R@10": 0.6}})
    (scores / "seeds.json").write_text(json.dumps(seeds))
    return folder


def stored(names, seed):
    chance = np.random.default_rng(seed)
    size = len(names) * len(WORDS)
    found = {"queries": np.array(names), "docs": np.array([f"d{at:02}" for at in range(len(WORDS))])}
    found |= {"offsets": np.arange(0, size + 1, len(WORDS)), "doc": np.tile(np.arange(len(WORDS), dtype=np.int32), len(names))}
    for source, low, high in (("dense", -1, 1), ("splade", 0, 9), ("colbert", -20, 20), ("cross", 0, 1)):
        values = chance.uniform(low, high, size).astype(np.float32).reshape(len(names), -1)
        for at in range(len(names)):
            values[at, at] = high if at % 3 else values[at, at]
        found |= {f"scores {source}": values.ravel(), f"levels {source}": np.linspace(low, high, len(SHARES))}
    return found


@pytest.fixture
def experiment(folder, monkeypatch):
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)
    (dataset,) = DataFolders.of(folder / "data").datasets(["lleqa"])
    with Workspace(folder / "work") as workspace:
        yield Experiment(dataset, workspace)


@pytest.mark.parametrize("number", [number for number in all_tables() if number.startswith("FUSE")])
def test_every_table_and_figure_measures(experiment, number):
    measured = all_tables()[number].measure(experiment)
    assert measured.rows
    assert bool(measured.plots) == ("FIG" in number)


def test_all_configurations_of_four_sources_are_tried(experiment):
    rows = all_tables()["FUSE-3"].measure(experiment).rows
    assert sum(len(cells) for row, cells in rows.items() if "+" in row) == 88
    improving = rows["configurations that improve"]
    assert 0 <= improving["of 88, weights from dev, on test"] <= 88
    assert improving["significantly on dev"] == sum(cell.mark == BETTER for row, cells in rows.items() if "+" in row
                                                    for cell in cells.values())  # fmt: skip
    assert list(rows)[:4] == ["BM25", "SPLADE", "DPR", "ColBERT"]


def test_a_configuration_is_marked_if_it_differs_from_its_best_member():
    chance = np.random.default_rng(0)
    good, poor = chance.uniform(0.4, 0.6, 40), chance.uniform(0.0, 0.1, 40)
    single = {"a": trial(("a",), good), "b": trial(("b",), poor)}
    fused = [trial(("a", "b"), good + 0.2), trial(("a", "b"), good), trial(("a", "b"), good - 0.2), trial(("b",), good)]
    assert difference_marks(fused, single) == [BETTER, "", WORSE, BETTER]


def trial(members, values):
    return GridTrial(Configuration(members), None, (), values)


def test_seeds_are_averaged_by_where_they_start(experiment):
    measured = all_tables()["FUSE-5"].measure(experiment)
    rows = measured.rows
    assert measured.notes == ("Seeds of a row: 2; DPR, with: 1; SPLADE by cosine, with: 1.",)
    assert rows["DPR, without"]["R@10"] == pytest.approx(0.3)
    assert rows["DPR, with"]["R@10"] == pytest.approx(0.5)
    assert rows["SPLADE by cosine, with"]["R@10"] == pytest.approx(0.6)


def test_costs_of_models_are_there_once_they_were_timed(experiment, folder):
    measure = all_tables()["FUSE-2"].measure
    before = measure(experiment)
    assert before.rows["BM25"]["CPU, s"] > 0
    assert "GPU, s" not in before.rows["monoBERT"]
    assert "not timed" in before.notes[-1]
    path = folder / "data" / "fr-labour-scores" / "costs.json"
    timed = {"cross": {"seconds": 5.0, "median": 4.0, "flops": 2e13, "device": "a GPU"}}
    timed |= {kind: {"seconds": 0.2, "median": 0.1, "flops": 2e9, "device": "a busy GPU"} for kind in ("dense", "splade")}
    path.write_text(json.dumps(timed))
    after = measure(experiment)
    path.unlink()
    assert (after.rows["monoBERT"]["GPU, s"], after.rows["monoBERT"]["GFLOPs"]) == (4.0, 2e4)
    assert after.notes[-1] == "Models were timed on: a GPU (monoBERT); a busy GPU (DPR, SPLADE)."


def test_the_cross_encoder_orders_what_bm25_lists(experiment):
    asked = asked_sources(experiment, "in-domain", "dev")
    first, reranked = asked.lexical.as_dict(), asked.systems()["monoBERT"].as_dict()
    assert {query: set(docs) for query, docs in reranked.items()} == {query: set(docs) for query, docs in first.items()}


def test_scores_that_are_missing_are_an_error(experiment, folder):
    (folder / "data" / "fr-labour-scores" / "in-domain.test.npz").rename(folder / "away.npz")
    with pytest.raises(NotFoundError, match=r"in-domain.test.npz.*recipes/french_scores.py"):
        asked_sources(experiment, "in-domain", "test")
    (folder / "away.npz").rename(folder / "data" / "fr-labour-scores" / "in-domain.test.npz")
