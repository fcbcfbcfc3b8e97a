"""``lexfuse train dense --teacher --parallel``: vectors of another model through parallel text, from the command to the card."""

import json
import sys

import numpy as np
import pytest

from lexfuse.cli import main
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.train import trainer
from lexfuse.train.output.training_results import TrainingResult

PAIRS = [
    ("the court held", "la loi du travail"), ("the lease ended", "un contrat de travail"), ("a judgment", "un congé"),
    ("the judgment of the court", "le préavis du salarié"), ("article", "un article"), ("that lease", "l'employeur peut"),
]  # fmt: skip
SHORT = 'seeds = [1]\n[training]\nsteps = 40\nbatch = 6\nlearning_rate = 3e-3\nevaluate_every = 20\nprecision = "fp32"\n'


@pytest.fixture(scope="module")
def place(tiny, tmp_path_factory):
    """A base, a teacher with other weights, parallel text, and a corpus with judged questions."""
    root = tmp_path_factory.mktemp("teaching")
    tiny.folder(root / "base", "bert")
    tiny.folder(root / "teacher", "roberta", pooling=["mean"])
    rows = "".join(json.dumps({"id": str(at), "en": one, "fr": other}) + "\n" for at, (one, other) in enumerate(PAIRS))
    (root / "pairs.jsonl").write_text(rows + json.dumps({"id": "7", "en": "repealed", "fr": ""}) + "\n")
    law = root / "law"
    (law / "qrels").mkdir(parents=True)
    (law / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": f"d{at}", "text": fr}) + "\n" for at, (_, fr) in enumerate(PAIRS))
    )
    (law / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": f"q{at}", "text": en}) + "\n" for at, (en, _) in enumerate(PAIRS))
    )
    for split, places in (("train", (0, 1, 2)), ("dev", (3, 4, 5))):
        (law / "qrels" / f"{split}.tsv").write_text(
            "query-id\tcorpus-id\tscore\n" + "".join(f"q{at}\td{at}\t1\n" for at in places)
        )
    (root / "short.toml").write_text(SHORT)
    return root


@pytest.fixture
def train(place, monkeypatch, capsys):
    """The command in this process: its exit code, and what it said on one line."""

    def command(kind, out, *more, config="short.toml"):
        arguments = ["train", kind, place / "base", place / "law", out, "--config", place / config, "--device", "cpu", *more]
        monkeypatch.setattr(sys, "argv", ["lexfuse", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, " ".join(capsys.readouterr().err.split())

    return command


@pytest.fixture
def taught(place):
    """The flags of teaching."""
    return "--teacher", place / "teacher", "--parallel", place / "pairs.jsonl", "--parallel-columns", "en:fr"


def test_a_student_learns_the_teachers_vectors_in_both_languages(train, taught, place, tmp_path):
    code, said = train("dense", tmp_path / "m", *taught, "--no-judged")
    assert code == 0, said
    assert "1 noted: no text in 'en' or 'fr', left out" in said
    assert "teacher encodes 6 of 6 texts" in said
    english, french = zip(*PAIRS, strict=True)
    aims = DenseEncoder.load(place / "teacher").encode(english, Side.PASSAGE)
    aims = aims / np.linalg.norm(aims, axis=1, keepdims=True)
    for texts in (english, french):
        vectors = DenseEncoder.load(tmp_path / "m").encode(texts, Side.PASSAGE)
        assert (np.argmax(vectors @ aims.T, axis=1) == np.arange(6)).all()
    trained = TrainingResult.read(tmp_path / "m")
    assert (trained.facts["teacher"], trained.facts["parallel text"]) == ("teacher", "pairs.jsonl, columns en:fr")
    assert trained.plan["parallel"]["columns"] == ["en:fr"]
    assert trained.best.stages[0].best_step == 40
    card = (tmp_path / "m" / "README.md").read_text()
    for line in (
        "- teacher: teacher",
        "- parallel text: pairs.jsonl, columns en:fr",
        "Stage 1, on parallel",
        "last step are kept",
    ):
        assert line in card
    assert not (tmp_path / "m.training").exists()


def test_an_interrupted_training_resumes_with_the_same_vectors(train, taught, place, tmp_path, monkeypatch):
    """Judged pairs come after; nothing is encoded twice, another teacher is refused, and the weights are those of one run."""
    flags = (*taught, "--steps", "4")
    assert train("dense", tmp_path / "whole", *flags)[0] == 0
    with monkeypatch.context() as broken:
        broken.setattr(trainer, "_trained_seed", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert train("dense", tmp_path / "m", *flags)[0] != 0
    assert (tmp_path / "m.training" / "teacher.db").is_file()
    code, said = train("dense", tmp_path / "m", *flags[2:], "--teacher", place / "base")
    assert (code, "another settings and another teacher" in said) == (2, True), said
    monkeypatch.setattr(DenseEncoder, "encode", None)
    code, said = train("dense", tmp_path / "m", *flags)
    assert code == 0, said
    assert "teacher encodes 0 of 6 texts; 6 were encoded before" in said
    assert [stage.name for stage in TrainingResult.read(tmp_path / "m").best.stages] == ["parallel", "judged"]
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "m"))
    assert one == other


def test_a_toml_file_names_the_teacher_and_the_stages(train, place, tmp_path):
    """Without names of columns, the two that have text are taken."""
    table = '[parallel]\nteacher = "{0}/teacher"\npairs = "{0}/pairs.jsonl"\n[[stage]]\nexamples = ["parallel"]\n'
    (place / "taught.toml").write_text(SHORT + table.format(place))
    code, said = train("dense", tmp_path / "m", "--steps", "2", config="taught.toml")
    assert code == 0, said
    trained = TrainingResult.read(tmp_path / "m")
    assert trained.facts["parallel text"] == "pairs.jsonl, columns en:fr"
    assert [stage.name for stage in trained.best.stages] == ["parallel"]


@pytest.mark.parametrize(
    ("kind", "leave", "more", "said"),
    [
        ("dense", "--parallel", (), "pairs is missing: give --parallel PAIRS"),
        ("dense", "--teacher", (), "teacher is missing: give --teacher MODEL"),
        ("splade", "", (), "only a dense model learns from a teacher through parallel text, not splade"),
        ("dense", "", ("--similarity", "dot"), "a parallel stage takes similarity = cosine"),
        ("dense", "", ("--parallel-columns", "en:fra"), "column 'fra' not found; did you mean 'fr'?"),
        ("dense", "", ("--teacher", "wide"), "the teacher 'wide' has vectors of 16 numbers, the model to train has 32"),
        ("dense", "--teacher --parallel --parallel-columns", ("--no-judged",), "--no-judged leaves nothing to learn from"),
    ],
)
def test_what_cannot_be_taught_is_refused_before_the_work(kind, leave, more, said, train, taught, place, tmp_path):
    if "wide" in more:
        from lexfuse.train.models.tiny_model import tiny_base

        tiny_base(place / "wide")
        more = ("--teacher", place / "wide")
    pairs = zip(taught[::2], taught[1::2], strict=True)
    flags = [part for flag, value in pairs if flag not in leave.split() for part in (flag, value)]
    code, err = train(kind, tmp_path / "m", *flags, *more)
    assert (code, said in err) == (3 if "column" in said else 2, True), err
    assert not (tmp_path / "m.training").exists()
