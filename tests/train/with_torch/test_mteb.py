"""The bridge to mteb, with the real package: models are ranked and scored as LexFuse does, and nothing is downloaded."""

import datetime
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import mteb
import numpy as np
import pytest
from datasets import Dataset
from mteb.models import EncoderProtocol, SearchProtocol
from mteb.types import PromptType

import lexfuse
from lexfuse.bridges.mteb import RECORD, MtebEncoder, MtebRetriever, MtebTask
from lexfuse.data.formats.beir import write_collection
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.errors import ConfigError

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
WORDS = {"profile": "bm25"}
FUSED = {"options": {"channels": ["bm25", "dense"], "fusion": "rrf"}}


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    """Refuse every connection."""

    def refuse(*_):
        raise AssertionError("a test of the bridge to mteb used the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="module")
def collection():
    """The examples, with a provision that has a heading and an older version, and documents that tie."""
    old = lexfuse.Document("lib-9", text="Le prêt coûte dix francs.", language="fr", valid_to=datetime.date(2020, 1, 1))
    new = lexfuse.Document(
        "lib-9", text="Prêt gratuit.", language="fr", headings=("Le tarif",), valid_from=datetime.date(2020, 1, 1), history=(old,)
    )
    same = [lexfuse.Document(f"same-{letter}", text="Le wombat dort.", language="fr") for letter in "abc"]
    corpus = lexfuse.Corpus.of([*lexfuse.read_corpus(EXAMPLES / "articles.csv"), new, *same])
    queries = [*lexfuse.read_queries(EXAMPLES / "questions.csv")]
    queries += [
        lexfuse.Query("tie", "wombat", "fr"),
        lexfuse.Query("none", "xylophone", "fr"),
        lexfuse.Query("tariff", "tarif", "fr"),
    ]
    judged = lexfuse.read_qrels(EXAMPLES / "test.tsv").as_dict()
    rows = [(query, doc, grade) for query in judged for doc, grade in judged[query].items()]
    rows += [("tie", "same-a", 1), ("none", "lib-2", 1), ("tariff", "lib-9", 2)]
    qrels = {"test": lexfuse.Qrels.of(rows), "dev": lexfuse.Qrels.of(rows[:2])}
    return lexfuse.Collection(corpus, lexfuse.Queries.of(queries), qrels)


@pytest.fixture(scope="module")
def index(collection, tmp_path_factory):
    """The same corpus, indexed without mteb."""
    with lexfuse.Index.build(tmp_path_factory.mktemp("mteb") / "law.index", collection.corpus, channels=["dense"]) as built:
        yield built


def evaluated(model, task, **options):
    return mteb.evaluate(model, task, cache=None, co2_tracker=False, show_progress_bar=False, **options).task_results[0]


def judged_queries(collection, split="test"):
    return lexfuse.Queries.of(query for query in collection.queries if query.id in collection.qrels[split].queries)


@pytest.mark.parametrize("options", [WORDS, FUSED], ids=["words", "fused"])
def test_ranking_and_scores_are_those_of_the_index(collection, index, tmp_path, options):
    task = MtebTask(collection, "Library")
    with MtebRetriever(tmp_path / "indexes", channels=["dense"], **options) as model:
        assert isinstance(model, SearchProtocol)
        result = evaluated(model, task, prediction_folder=tmp_path / "predictions")
    given = {"profile": options.get("profile", ""), **options.get("options", {})}
    run = index.run(judged_queries(collection), depth=1000, **given)
    predicted = json.loads((tmp_path / "predictions" / "Library_predictions.json").read_text("utf-8"))["default"]["test"]
    for query in run.queries:
        ranking = sorted(predicted[query], key=predicted[query].get, reverse=True)
        assert ranking == [hit.doc for hit in run.hits(query)]
        searched = index.search(collection.queries.query(query).text, 1000, everyday=False, spelling="off", **given)
        assert ranking == [hit.id for hit in searched]
        np.testing.assert_allclose(
            sorted(predicted[query].values(), reverse=True), [hit.score for hit in run.hits(query)], rtol=1e-5
        )
    assert model.runs["Library.default.test"].as_dict() == run.as_dict()
    measures = {"ndcg_at_10": "nDCG@10", "recall_at_5": "R@5", "map_at_100": "AP@100", "mrr_at_10": "RR@10"}
    evaluation = lexfuse.evaluate(collection.qrels["test"], run, " ".join(measures.values()))
    assert 0 < evaluation.mean("nDCG@10") < 1
    scores = result.scores["test"][0]
    assert {name: scores[name] for name in measures} == pytest.approx(
        {name: evaluation.mean(measure) for name, measure in measures.items()}, abs=1e-5
    )


def test_equal_scores_keep_the_order_of_the_index(collection, tmp_path):
    with MtebRetriever(tmp_path, **WORDS) as model:
        evaluated(model, MtebTask(collection, "Library"), prediction_folder=tmp_path)
        assert len({hit.score for hit in model.runs["Library.default.test"].hits("tie")}) == 1
    scores = json.loads((tmp_path / "Library_predictions.json").read_text("utf-8"))["default"]["test"]["tie"]
    assert list(scores) == ["same-a", "same-b", "same-c"]
    assert np.all(np.diff(np.array(list(scores.values()), dtype=np.float32)) < 0)


def test_metadata_and_versions_reach_the_index(collection, tmp_path):
    for options, found in (({}, "Prêt gratuit."), ({"as_of": "2019-01-01"}, "Le prêt coûte dix francs.")):
        with MtebRetriever(tmp_path, **WORDS, **options) as model:
            evaluated(model, MtebTask(collection, "Library"))
        hits = [hit.doc for hit in model.runs["Library.default.test"].hits("tariff")]
        assert hits == ([] if options else ["lib-9"])  # the heading is that of the newer version
        with lexfuse.Index.open(tmp_path / "Library.default.test.index") as built:
            assert found in [hit.document.text for hit in built.search("prêt", 20, **WORDS, **options)]


def test_a_folder_is_a_task_with_its_splits(collection, tmp_path):
    write_collection(collection, tmp_path / "library")
    task, same = MtebTask(tmp_path / "library", "Library"), MtebTask(collection, "Library")
    assert task.metadata.eval_langs == ["fra-Latn"]
    assert set(task.metadata.eval_splits) == {"dev", "test"}
    with MtebRetriever(tmp_path / "indexes", **WORDS) as model:
        result, again = evaluated(model, task), evaluated(model, same)
    assert {split: scores[0]["ndcg_at_10"] for split, scores in result.scores.items()} == {
        split: scores[0]["ndcg_at_10"] for split, scores in again.scores.items()
    }
    task.load_data()
    rows = task.dataset["default"]["dev"]
    assert list(rows["queries"]["id"]) == list(collection.qrels["dev"].queries)
    assert list(rows["corpus"]["id"]) == list(collection.corpus.ids)
    task.unload_data()
    assert not task.data_loaded
    assert task.metadata.name == "Library"


def test_other_models_run_on_a_task(collection):
    """An encoder of LexFuse, by the search of mteb: exact on the vectors of titles and texts, which orders ties otherwise."""
    model, encoder = MtebEncoder("fr-legal-dense"), DenseEncoder.load("fr-legal-dense")
    assert isinstance(model, EncoderProtocol)
    judged = {query: docs for query, docs in collection.qrels["test"].as_dict().items() if query != "tie"}
    qrels = lexfuse.Qrels.of((query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items())
    untied = lexfuse.Collection(collection.corpus, collection.queries, {"test": qrels})
    result = evaluated(model, MtebTask(untied, "Library"))
    passages = encoder.encode([f"{one.title} {one.text}".strip() for one in collection.corpus], Side.PASSAGE)
    queries = judged_queries(untied)
    scores = encoder.encode(list(queries.text), Side.QUERY) @ passages.T
    run = lexfuse.Run.of("dense", {
        query: dict(zip(collection.corpus.ids, row.tolist(), strict=True)) for query, row in zip(queries.ids, scores, strict=True)
    })  # fmt: skip
    evaluation = lexfuse.evaluate(qrels, run, "nDCG@10")
    assert result.scores["test"][0]["ndcg_at_10"] == pytest.approx(evaluation.mean("nDCG@10"), abs=1e-5)
    assert 0 < evaluation.mean("nDCG@10") < 1


def test_an_encoder_has_sides(collection):
    model = MtebEncoder(DenseEncoder.load("fr-legal-dense", prompts={Side.QUERY: "question : "}))
    batches = [{"text": ["le prêt", "le retard"]}, {"text": ["la cotisation"]}]
    texts = [text for batch in batches for text in batch["text"]]
    for kind, side in ((PromptType.document, Side.PASSAGE), (PromptType.query, Side.QUERY), (None, Side.QUERY)):
        assert np.array_equal(model.encode(batches, prompt_type=kind), model.model.encode(texts, side))
    assert not np.allclose(model.encode(batches, prompt_type=PromptType.document), model.encode(batches))


def test_rows_of_other_tasks(collection, tmp_path):
    """A task of mteb has ids, titles, texts and instructions; one that reranks has candidates."""
    task = MtebTask(collection, "Other/task").metadata
    place = {"task_metadata": task, "hf_split": "test", "hf_subset": "default", "encode_kwargs": {}, "num_proc": None}
    model = MtebRetriever(tmp_path, language="fr", **WORDS)
    with pytest.raises(ConfigError, match="call index before search"):
        model.search(Dataset.from_list([{"id": "q", "text": "prêt"}]), top_k=5, **place)
    texts = {"a": ("Prêt", "Le délai."), "b": ("", "Le prêt court."), "c": ("", "La cotisation.")}
    rows = [{"id": id, "title": title, "text": text, "url": None} for id, (title, text) in texts.items()]
    model.index(Dataset.from_list(rows), **place)
    ask = Dataset.from_list([{"id": "q", "text": "prêt", "instruction": "cotisation"}])
    assert set(model.search(ask, top_k=5, **place)["q"]) == {"a", "b", "c"}
    assert list(model.search(ask.remove_columns("instruction"), top_k=5, top_ranked={"q": ["b", "c"]}, **place)["q"]) == ["b"]
    with pytest.raises(ConfigError, match="is a conversation"):
        model.search(Dataset.from_list([{"id": "q", "text": ["prêt", "retard"]}]), top_k=5, **place)
    model.close()
    assert (tmp_path / "Other_task.default.test.index").is_dir()


def test_results_name_the_state_of_the_collection_and_the_options(collection, tmp_path):
    changed = lexfuse.Collection(collection.corpus, collection.queries, {"test": lexfuse.Qrels.of([("tie", "same-b", 1)])})
    revisions = {MtebTask(one, "Library").metadata.revision for one in (collection, changed)}
    assert len(revisions) == 2
    names = {MtebRetriever(tmp_path, **options).mteb_model_meta.experiment_name for options in ({}, WORDS, FUSED)}
    assert len(names) == 3


def test_what_cannot_be_evaluated_is_refused(collection, tmp_path):
    with pytest.raises(ConfigError, match="has no judgements"):
        MtebTask(lexfuse.Collection(collection.corpus, collection.queries), "Library")
    with pytest.raises(ConfigError, match="has no queries"):
        MtebTask(lexfuse.Collection(collection.corpus, None, collection.qrels), "Library")
    with pytest.raises(ConfigError, match="filters must be a list"):
        MtebRetriever(tmp_path, filters="code=Code civil")
    with pytest.raises(ConfigError, match="options must not have depth"):
        MtebRetriever(tmp_path, options={"depth": 3})


def test_other_columns_are_text(collection):
    task = MtebTask(collection, "Library", languages=["fra-Latn", "eng-Latn"])
    task.load_data()
    assert set(task.dataset["default"]["test"]["corpus"].column_names) == {"id", "title", "text", RECORD}
    assert task.metadata.eval_langs == ["fra-Latn", "eng-Latn"]


def test_the_program_of_the_documentation(tmp_path):
    """The block of docs/bridges.md, which the tests of the other pages cannot run: they have no torch."""
    [program] = re.findall(r"```python no-run\n(.*?)```", (ROOT / "docs" / "bridges.md").read_text("utf-8"), re.DOTALL)
    assert len(program.splitlines()) <= 15
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    made = lexfuse.Collection(
        lexfuse.read_corpus(EXAMPLES / "articles.csv"),
        lexfuse.read_queries(EXAMPLES / "questions.csv"),
        {"test": lexfuse.read_qrels(EXAMPLES / "test.tsv")},
    )
    write_collection(made, tmp_path / "library")
    lexfuse.Index.build(tmp_path / "library.index", made.corpus, channels=["dense", "splade"]).close()
    runner = ROOT / "tests" / "docs" / "page_runner.py"
    request = json.dumps([program, "<docs/bridges.md>"]) + "\n"
    streams = {"input": request, "capture_output": True, "text": True, "encoding": "utf-8"}
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-W", "error", runner], cwd=tmp_path, env=environment, check=True, **streams)
    assert json.loads(done.stdout) == "", json.loads(done.stdout)
    assert "# True" in program
