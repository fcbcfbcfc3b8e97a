"""Rankings that the recipe stores are those of an index with the same model."""

import datetime
import sys

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_folder import IndexFolder
from reproduce.stored_ranking import StoredRanking

WORDS = ("bail", "loi", "contrat", "préavis", "congé", "loyer")


@pytest.fixture(scope="module")
def recipe(recipe_named):
    return recipe_named("rankings")


@pytest.fixture
def collection(tmp_path):
    documents = [
        Document(
            f"d{at}", text=f"le {word} prend fin " * (40 if at == 2 else 1), language="fr", date=datetime.date(2000 + at, 1, 1)
        )
        for at, word in enumerate(WORDS)
    ]
    queries = [Query(f"q{at}", f"fin du {word}", "fr", datetime.date(2004 + at, 1, 1)) for at, word in enumerate(WORDS[:3])]
    made = Collection(Corpus.of(documents), Queries.of(queries), {"test": Qrels.of((one.id, "d0", 1) for one in queries)})
    write_collection(made, tmp_path / "data")
    return made


@pytest.mark.parametrize(
    ("options", "build", "search"),
    [
        ([], {}, {}),
        (["--windows", "20,4", "--pool", "all"], {"passages": "windows", "size": 20, "overlap": 4}, {"pool": "all"}),
    ],
)
def test_rankings_are_those_of_an_index(recipe, tiny, collection, tmp_path, monkeypatch, options, build, search):
    model = tiny.folder(tmp_path / "model", "bert")
    words = [
        "rankings.py",
        tmp_path / "data",
        tmp_path / "out",
        f"mine={model}",
        "--before-query-date",
        "--masked",
        "--timed",
        "2",
    ]
    monkeypatch.setattr(sys, "argv", [str(word) for word in [*words, *options]])
    recipe.main()
    stored = StoredRanking.read(tmp_path / "out" / "mine.npz")
    assert stored.milliseconds > 0
    assert (tmp_path / "out" / "mine-masked.npz").is_file()
    with IndexFolder.create(tmp_path / "index", documents=collection.corpus) as index:
        index.channels.make("dense-mine", plan_channel("dense-mine", ChannelPlan(str(model), storage="fp32", **build)))
        fill_channel(index, "dense-mine")
        with index.snapshot() as snapshot:
            expected = retrieve_before(open_retriever(snapshot, "dense-mine", **search), collection.queries, 1000)
    for query in collection.queries.ids:
        ours, theirs = ({hit.doc: hit.score for hit in run.hits(query)} for run in (stored.run, expected))
        assert ours.keys() == theirs.keys()
        np.testing.assert_allclose([ours[doc] for doc in theirs], list(theirs.values()), atol=1e-5)


def test_a_split_that_is_not_there_is_refused(recipe, tiny, collection, tmp_path, monkeypatch, capsys):
    words = ["rankings.py", tmp_path / "data", tmp_path / "out", "mine=model", "--splits", "dev"]
    monkeypatch.setattr(sys, "argv", [str(word) for word in words])
    with pytest.raises(SystemExit):
        recipe.main()
    assert "has no split 'dev'; it has test" in capsys.readouterr().err
