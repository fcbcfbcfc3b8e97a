"""``lexfuse adapt``: each way lowers its loss on held-out text, goes on after an interruption, and gives a folder that loads."""

import json

import pytest
import torch
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError, DataError, MissingDependencyError, StorageError
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.loop.loop import fit
from lexfuse.train.output.training_results import TrainingResult

METHODS = ["tsdae", "sdr", "mlm", "structure"]
WHO = ["le salarié", "l'employeur", "le juge", "le bailleur", "le preneur", "la société", "un syndicat", "la caisse"]
WHAT = ["le contrat de travail", "un congé", "le préavis", "la loi", "le bail"]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Forty short articles, each about one person and one thing."""
    path = tmp_path_factory.mktemp("corpus") / "articles.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for who in WHO:
            for what in WHAT:
                text = f"Pour {what}, {who} peut agir. Pour {what}, {who} ne perd pas de droit. Ainsi {who} peut rompre {what}."
                record = {"_id": f"{who}/{what}", "text": text, "metadata": {"headings": [f"{what} et {who}"], "language": "fr"}}
                lines.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def command(bases, corpus, own_cache):
    """Run ``lexfuse adapt``; gives what it printed. Errors come through."""

    def run(method, out, *more, kind=ModelKind.SPLADE, family="bert"):
        base = bases(kind, family).folder.path
        rates = ["--learning-rate", "0.003", "--batch", "8", "--device", "cpu", "--held-out", "0.1"]
        result = CliRunner().invoke(
            app, ["adapt", method, str(base), str(corpus), str(out), *rates, *more], catch_exceptions=False
        )
        assert result.exit_code == 0, result.output
        return result

    return run


def weights(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "training.json"}


def stopped(monkeypatch, step):
    """Let the training be interrupted at a step."""

    def interrupted(*arguments, **options):
        def progress(done):
            if done == step:
                raise KeyboardInterrupt

        return fit(*arguments, **{**options, "progress": progress})

    monkeypatch.setattr("lexfuse.train.loop.loop.fit", interrupted)


@pytest.mark.parametrize("method", METHODS)
def test_each_way_lowers_the_loss_on_what_it_has_not_seen(method, command, tmp_path):
    printed = json.loads(command(method, tmp_path / "model", "--steps", "30", "--json").stdout)
    assert printed["measures"]["dev loss"] < 0.9 * printed["start"]["dev loss"]
    assert printed["best_step"] > 0
    assert not (tmp_path / "model.training").exists()
    trained = TrainingResult.read(tmp_path / "model")
    assert trained.kind == method
    assert [record["step"] for record in trained.best.stages[0].log] == list(range(0, 31, 3))
    card = (tmp_path / "model" / "README.md").read_text()
    assert f"lexfuse adapt {method}" in card
    assert f"{printed['measures']['dev loss']:.4f}" in card


@pytest.mark.parametrize("method", METHODS)
def test_interrupted_and_uninterrupted_give_the_same_bytes(method, command, tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    command(method, tmp_path / "whole" / "model", "--steps", "12")
    out = tmp_path / "model"
    for step in (1, 7):  # before the first checkpoint, and between two
        with monkeypatch.context() as patch:
            stopped(patch, step)
            with pytest.raises(AssertionError, match="resumes after the last evaluation"):
                command(method, out, "--steps", "12")
        assert not out.exists()
    result = command(method, out, "--steps", "12")
    assert "resuming after step 6" in result.stderr
    assert weights(out) == weights(tmp_path / "whole" / "model")


def test_another_seed_gives_other_bytes(command, tmp_path):
    command("mlm", tmp_path / "model", "--steps", "2")
    one = weights(tmp_path / "model")
    command("mlm", tmp_path / "model", "--steps", "2", "--force")
    assert weights(tmp_path / "model") == one
    command("mlm", tmp_path / "model", "--steps", "2", "--seed", "2", "--force")
    assert weights(tmp_path / "model")["model.safetensors"] != one["model.safetensors"]


@pytest.mark.parametrize("method", ["tsdae", "sdr", "structure"])
def test_the_result_is_a_dense_encoder(method, command, tmp_path):
    command(method, tmp_path / "model", "--steps", "2", kind=ModelKind.DENSE, family="camembert")
    vectors = DenseEncoder.load(tmp_path / "model").encode(["le salarié", "le bail"], Side.QUERY)
    assert (vectors**2).sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)


def test_a_new_head_only_if_asked_for(command, tmp_path):
    with pytest.raises(DataError, match="has no masked-language head"):
        command("mlm", tmp_path / "model", "--steps", "2", kind=ModelKind.DENSE)
    result = command("mlm", tmp_path / "model", "--steps", "2", "--new-head", kind=ModelKind.DENSE)
    assert "a new one, tied to its word embeddings, starts at random and is a part of the result" in " ".join(
        result.stderr.split()
    )
    assert SparseEncoder.load(tmp_path / "model") is not None


def test_sdr_says_that_it_throws_a_new_head_away(command, tmp_path):
    result = command("sdr", tmp_path / "model", "--steps", "2", kind=ModelKind.DENSE)
    assert "is discarded after training" in " ".join(result.stderr.split())


def test_a_work_folder_with_other_settings_is_refused(command, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stopped(patch, 5)
        with pytest.raises(AssertionError):
            command("tsdae", tmp_path / "model", "--steps", "6")
    with pytest.raises(ConfigError, match="other settings"):
        command("tsdae", tmp_path / "model", "--steps", "6", "--deleted", "0.4")
    with pytest.raises(ConfigError, match="another training"):
        command("tsdae", tmp_path / "model", "--steps", "8")
    command("tsdae", tmp_path / "model", "--steps", "6")


def test_a_folder_in_the_way_is_said_before_the_work(command, tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    for more in ((), ("--force",)):
        with pytest.raises(StorageError):
            command("tsdae", tmp_path, *more)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("more", [("--steps", "2", "--epochs", "1"), ("--sentences", "1")])
def test_options_that_cannot_be(more, command, tmp_path):
    with pytest.raises(ConfigError):
        command("tsdae", tmp_path / "model", *more)


def test_an_unknown_device_lists_those_there_are(command, tmp_path):
    with pytest.raises(AssertionError, match="'abacus' is not one of"):
        command("tsdae", tmp_path / "model", "--device", "abacus")


def test_kinds_of_structure(command, tmp_path):
    printed = json.loads(command("structure", tmp_path / "model", "--steps", "1", "--kinds", "headings", "--json").stdout)
    assert printed["facts"]["learned from"] == "36 headings"
    with pytest.raises(ConfigError, match="'poems'"):
        command("structure", tmp_path / "other", "--kinds", "poems")


def test_a_gpu_that_is_not_there(command, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="torch finds no GPU"):
        command("tsdae", tmp_path / "model", "--device", "cuda")


def test_without_torch(command, tmp_path, monkeypatch):
    monkeypatch.setattr("lexfuse.dependencies.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"lexfuse\[train\]"):
        command("tsdae", tmp_path / "model")


def test_a_loss_that_does_not_fall_keeps_the_base_and_says_so(command, tmp_path):
    result = command("mlm", tmp_path / "model", "--steps", "1", "--learning-rate", "30")
    assert "no step lowered the dev loss" in " ".join(result.stderr.split())
