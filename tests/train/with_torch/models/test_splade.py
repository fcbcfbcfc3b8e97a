"""SPLADE with a query table: what the table starts as, what is learned and saved, and the whole command."""

import json
import sys

import numpy as np
import pytest
import torch

from lexfuse.encode.encoder import Side
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.sparse_encoder import SparseEncoder, activated
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.batches import Batches
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.loop.loop import fit
from lexfuse.train.models.base_model import StartingModel
from lexfuse.train.plan import TrainingPlan


@pytest.fixture
def learned(learner_of, short, small, tmp_path, own_cache):
    """A learner with a table after some steps, and its settings."""

    def made(**changes):
        training = short(ModelKind.SPLADE, query_table=True, query_length=80, passage_length=80, start_active=0, **changes)
        learner = learner_of(ModelKind.SPLADE, training)
        fit(learner, small.examples, training, tmp_path / f"run{changes}", dev=small.dev)
        return learner.eval(), training

    return made


def idf_of(learner, texts):
    held = [set(learner.base.rows([text], 80)[0].tolist()) for text in texts]
    counts = np.array([sum(token in row for row in held) for token in range(len(learner.table))])
    return np.log1p((len(texts) - counts + 0.5) / (counts + 0.5))


def test_the_table_starts_as_idf_with_a_mean_of_one_over_the_questions(learner_of, short, small):
    learner = learner_of(ModelKind.SPLADE, short(ModelKind.SPLADE, query_table=True, start_active=10))
    texts = learner.texts(small.examples.queries, small.examples.passages)
    assert "starts as the idf" in learner.begin(texts)
    table, idf = learner.table.detach().numpy(), idf_of(learner, small.examples.passages)
    np.testing.assert_allclose(table / table[10], idf / idf[10], rtol=1e-4)
    asked = np.concatenate([row[1:-1] for row in texts.queries])
    assert table[asked].mean() == pytest.approx(1, rel=1e-4)
    learner.table.data *= 2
    kept = learner.table.detach().clone()
    assert "query table" not in learner.begin(texts)  # a later stage goes on with the table of the one before
    assert torch.equal(learner.table, kept)


def mean_weights(encoder, questions):
    """The mean weight of each token in the questions with it; for a token of no question, its weight as a question."""
    held = [set(encoder.tokens.inner_ids(question).tolist()) for question in questions]
    vectors = [dict(zip(*(part.tolist() for part in row), strict=True)) for row in encoder.encode(questions, Side.QUERY)]
    weights = []
    for token in range(len(encoder.terms)):
        own = [vector.get(token, 0.0) for tokens, vector in zip(held, vectors, strict=True) if token in tokens]
        weights.append(np.mean(own) if own else alone(encoder, token))
    return weights


def alone(encoder, token):
    row = encoder.tokens.wrapped(np.array([token], dtype=np.int32))
    ((_, logits),) = encoder.transformer.outputs(encoder.tokens, [row], lambda _: None, most_tokens=512)
    terms, weights = activated(logits, encoder.logarithms)
    return weights[terms == token].sum()


def test_the_table_of_a_sparse_base_starts_as_its_weights(learner_of, short, small, tmp_path, own_cache):
    learner = learner_of(ModelKind.SPLADE, short(ModelKind.SPLADE, query_table=True, start_active=0))
    texts = learner.texts(small.examples.queries, small.examples.passages)
    assert "starts as the weights that the base gives" in learner.begin(texts)
    learner.save(tmp_path / "model")
    encoder = SparseEncoder.load(tmp_path / "model" / "passages", threads=1)
    expected = mean_weights(encoder, small.examples.queries)
    np.testing.assert_allclose(learner.table.detach().numpy(), expected, atol=1e-4)


def test_the_table_is_learned_at_its_own_rate_and_passages_too(learned, learner_of, short, small):
    slow, _ = learned(table_learning_rate=1e-9, learning_rate=1e-3)
    fast, _ = learned(table_learning_rate=1e-1, learning_rate=1e-9)
    start = learner_of(ModelKind.SPLADE, short(ModelKind.SPLADE, query_table=True, start_active=0))
    start.begin(start.texts(small.examples.queries, small.examples.passages))

    def moved(learner, name):
        before, after = start.state_dict()[name], learner.state_dict()[name]
        return (after - before).abs().max().item()

    head = "model.cls.predictions.bias"
    assert moved(slow, "table") < 1e-6 < moved(slow, head)
    assert moved(fast, head) < 1e-6 < moved(fast, "table")


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_saved_folders_score_as_the_learner_did(learned, small, tmp_path, similarity):
    learner, _ = learned(table_learning_rate=1e-1, similarity=similarity)
    learner.save(tmp_path / "model")
    queries = QueryTable.load(tmp_path / "model" / "queries")
    passages = SparseEncoder.load(tmp_path / "model" / "passages", threads=1)
    assert queries.cosine == passages.cosine == (similarity == "cosine")
    found = []
    for rows in (queries.encode(small.questions, Side.QUERY), passages.encode(small.answers, Side.PASSAGE)):
        matrix = np.zeros((len(rows), len(learner.table)))
        for row, (terms, weights) in zip(matrix, rows, strict=True):
            row[terms] = weights
        found.append(matrix / np.linalg.norm(matrix, axis=1, keepdims=True) if similarity == "cosine" else matrix)
    expected = learner.score(learner.texts(small.questions, small.answers)).numpy()
    np.testing.assert_allclose(found[0] @ found[1].T, expected, atol=1e-4, rtol=1e-4)


def test_sentence_transformers_reads_the_table(learned, small, tmp_path):
    from sentence_transformers import SparseEncoder as Theirs

    learner, _ = learned()
    learner.save(tmp_path / "model")
    theirs = Theirs(str(tmp_path / "model" / "queries"), device="cpu").encode(small.questions, convert_to_sparse_tensor=False)
    for row, (terms, weights) in zip(
        theirs.numpy(), QueryTable.load(tmp_path / "model" / "queries").encode(small.questions, Side.QUERY), strict=True
    ):
        ours = np.zeros(len(row), dtype=np.float32)
        ours[terms] = weights
        assert ours.tolist() == row.tolist()


def test_a_query_adds_no_flops(learned, small):
    learner, _ = learned()
    batch = next(Batches(small.examples, 2, 1).from_start())
    losses = learner(batch, learner.texts(small.examples.queries, small.examples.passages), 3)
    assert sorted(losses) == ["flops of passages", "loss", "ranking"]


def test_tables_are_of_splade_alone_and_of_all_stages():
    with pytest.raises(ConfigError, match="query_table is a setting of splade, not of dense"):
        TrainingPlan.usual(ModelKind.DENSE, {"training": {"query_table": True}})
    stages = [{"examples": ["headings"], "query_table": True}, {"examples": ["judged"]}]
    with pytest.raises(ConfigError, match="all stages must have the same query_table"):
        TrainingPlan.usual(ModelKind.SPLADE, {"stage": stages})
    with pytest.raises(ConfigError, match="table_learning_rate"):
        Hyperparameters(table_learning_rate=0.0)


def test_a_training_goes_on_from_the_passages_alone(learned, tmp_path):
    learner, _ = learned()
    learner.save(tmp_path / "model")
    with pytest.raises(DataError, match=r"cannot continue a query table; start from its passages: '.*passages'"):
        StartingModel.read(tmp_path / "model")
    assert StartingModel.read(tmp_path / "model" / "passages").has_head


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: its exit code, and what it said."""
    from lexfuse.cli import main

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["lexfuse", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return command


def test_the_command_makes_a_table_that_a_channel_searches_with(run, tiny, tmp_path, own_cache):
    base, law = tiny.folder(tmp_path / "base", "bert", head="mlm"), tmp_path / "law"
    (law / "qrels").mkdir(parents=True)
    texts = ["le congé du salarié", "la loi du travail", "the lease ended", "the court held"]
    (law / "corpus.jsonl").write_text(
        "".join(f"{json.dumps({'_id': f'd{at}', 'text': text})}\n" for at, text in enumerate(texts))
    )
    asked = [{"_id": f"q{at}", "text": text.split()[1]} for at, text in enumerate(texts)]
    (law / "queries.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    for split, some in (("train", (0, 1, 2)), ("dev", (3,))):
        rows = "".join(f"q{at}\td{at}\t1\n" for at in some)
        (law / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    (law / "short.toml").write_text("[training]\nsteps = 2\nbatch = 2\nnegatives = 0\n")
    code, _, err = run("train", "splade", base, law, tmp_path / "mine", "--query-table", "--config", law / "short.toml")
    assert code == 0, err
    assert "the query table starts as" in err
    card = (tmp_path / "mine" / "README.md").read_text()
    assert "--channels splade --model splade=mine/passages --query-model splade=mine/queries" in card
    models = ("--model", tmp_path / "mine" / "passages", "--query-model", tmp_path / "mine" / "queries")
    code, _, err = run("index", law, tmp_path / "i", "--channels", "splade", *models)
    assert code == 0, err
    code, out, err = run("search", tmp_path / "i", "congé", "--channels", "splade", "--json")
    assert code == 0, err
    assert json.loads(out)
    code, _, err = run("index", law, tmp_path / "j", "--channels", "splade", "--model", tmp_path / "mine" / "queries")
    assert code != 0
    assert "is a query table, which encodes no documents" in " ".join(err.split())
