"""``lexfuse train`` through the real command, on a small random model and invented law."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from lexfuse.cli import main
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.pair_encoder import PairEncoder

SUBJECTS = ["le contrat", "le préavis", "le congé", "la loi", "l'employeur", "le salarié", "the lease", "the court"]
VERBS = ["peut rompre", "ne perd pas", "ended", "held that"]
SETTINGS = """
[training]
steps = 6
batch = 4
evaluate_every = 2
learning_rate = 1e-3
query_length = 32
passage_length = 48
dimension = 16
patience = 0
"""


@pytest.fixture(scope="module")
def base(tiny, tmp_path_factory):
    """A small model with its masked-language head."""
    return tiny.folder(tmp_path_factory.mktemp("base") / "tiny", "bert", head="mlm")


@pytest.fixture(scope="module")
def law(tmp_path_factory):
    """A collection of 32 articles, 16 questions, judgements, settings, and an index."""
    from lexfuse.data.formats.beir import read_collection
    from lexfuse.storage.index_folder import IndexFolder

    root = tmp_path_factory.mktemp("law")
    texts = [f"{subject} {verb} {other}." for subject in SUBJECTS for verb, other in zip(VERBS, SUBJECTS, strict=False)]
    records = [
        {
            "_id": f"d{at}",
            "title": f"Article {at}",
            "text": text,
            "metadata": {"language": "fr", "headings": [f"Livre {at}", text]},
        }
        for at, text in enumerate(texts)
    ]
    (root / "corpus.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    questions = [{"_id": f"q{at}", "text": f"{SUBJECTS[at % 8]} {VERBS[at % 4]} ?"} for at in range(16)]
    (root / "queries.jsonl").write_text("".join(f"{json.dumps(question)}\n" for question in questions))
    (root / "qrels").mkdir()
    for split, chosen in (("train", range(10)), ("dev", range(10, 16))):
        rows = "".join(f"q{at}\td{4 * (at % 8) + at % 4}\t1\n" for at in chosen)
        (root / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    (root / "short.toml").write_text(SETTINGS)
    IndexFolder.create(root / "i.index", documents=read_collection(root).corpus).close()
    return root


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: its exit code, and what it said."""

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["lexfuse", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return command


def told(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out), err


def asked(kind, base, law, out, *more):
    return ("train", kind, base, law, out, "--config", law / "short.toml", "--index", law / "i.index", *more)


@pytest.mark.parametrize("kind", ["dense", "two-tower", "splade", "colbert", "cross"])
def test_each_kind_becomes_a_complete_model_folder(run, base, law, tmp_path, kind):
    out = tmp_path / f"my-{kind}"
    found, said = told(run, *asked(kind, base, law, out, "--licence", "CC0", "--device", "cpu"))
    assert found["kind"] == kind
    assert set(found["measures"]) == {"dev loss", "R@10", "R@100", "nDCG@10", "RR@100"}
    assert "training on the CPU" in said
    assert "hard negatives by bm25" in said
    assert "any ranking of 100 documents or fewer" in said or kind == "cross"  # there are 32
    card = (out / "README.md").read_text()
    assert "Licence: CC0" in card
    assert "dev: 6 queries, over" in card
    kept = json.loads((out / "training.json").read_text())
    assert [record["step"] for record in kept["seeds"][0]["stages"][0]["log"]] == [0, 2, 4, 6]
    assert not (tmp_path / f"my-{kind}.training").exists()
    for folder in [out / "queries", out / "passages"] if kind == "two-tower" else [out]:
        assert (folder / "model.safetensors").is_file()
        assert (folder / "onnx" / "model.onnx").is_file()
    if kind == "dense":
        assert DenseEncoder.load(out).dimension == 32
    if kind == "cross":
        assert len(PairEncoder.load(out).scores("le congé", ["le congé", "the court"])) == 2


CLS_OF_CHUNKS = ("--pooling", "cls", "--similarity", "dot", "--chunk", "16", "--chunk-overlap", "4")


@pytest.mark.parametrize(
    ("options", "told_by"),
    [
        ((), "the mean of its tokens' vectors, compared by cosine"),
        (CLS_OF_CHUNKS, "that of the first token, averaged over chunks of 16 tokens that share 4, compared by dot product"),
    ],
)
def test_dev_figures_are_those_of_the_index(run, base, law, tmp_path, options, told_by):
    """However vectors are made and compared: the folder says it, and the index does as it says."""
    out = tmp_path / "m"
    found, _ = told(run, *asked("dense", base, law, out, "--steps", 2, *options))
    assert told_by in (out / "README.md").read_text()
    assert run("index", law / "corpus.jsonl", tmp_path / "i", "--channels", "dense", "--model", out, "--storage", "fp32")[0] == 0
    code, _, err = run(
        "run", tmp_path / "i", law, "--qrels", law / "qrels/dev.tsv", "--channels", "dense", "-o", tmp_path / "d.trec"
    )
    assert code == 0, err
    measured, _ = told(run, "evaluate", law / "qrels/dev.tsv", tmp_path / "d.trec", "-m", "R@10 nDCG@10 RR@100")
    for name, value in measured["d"].items():
        assert value == pytest.approx(found["measures"][name]["mean"], abs=1e-6)


def test_sparse_vectors_are_compared_as_they_were_trained(run, base, law, tmp_path):
    """By cosine as in FUSE, unless the training or the search says otherwise."""
    highest = {}
    for similarity in ("cosine", "dot"):
        out, index = tmp_path / similarity, tmp_path / f"{similarity}.index"
        options = () if similarity == "cosine" else ("--similarity", "dot", "--temperature", "1")
        told(run, *asked("splade", base, law, out, "--steps", 1, *options))
        assert f"compared by {'cosine' if similarity == 'cosine' else 'dot product'}" in (out / "README.md").read_text()
        assert run("index", law / "corpus.jsonl", index, "--channels", "splade", "--model", out)[0] == 0
        for asked_for in ("", "--cosine", "--dot"):
            trec = tmp_path / "s.trec"
            assert run("run", index, law, "--channels", "splade", "-o", trec, *filter(None, [asked_for]))[0] == 0
            highest[similarity, asked_for] = max(float(row.split()[4]) for row in trec.read_text().splitlines())
    assert {key: value <= 1 + 1e-6 for key, value in highest.items()} == {
        ("cosine", ""): True, ("cosine", "--cosine"): True, ("cosine", "--dot"): False,
        ("dot", ""): False, ("dot", "--cosine"): True, ("dot", "--dot"): False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "option", "said"),
    [
        ("colbert", ("--similarity", "dot"), "similarity is a setting of dense, splade, two-tower, not of colbert"),
        ("splade", ("--pooling", "cls"), "pooling is a setting of dense, two-tower, not of splade"),
        ("cross", ("--chunk", "200"), "chunk is a setting of dense, two-tower, not of cross"),
        ("dense", ("--chunk", "200"), "a chunk of 200 tokens is beyond the 128"),
    ],
)
def test_settings_that_a_kind_has_no_use_for_are_refused(run, base, law, tmp_path, kind, option, said):
    code, _, err = run(*asked(kind, base, law, tmp_path / "m", *option))
    assert (code, said in " ".join(err.split())) == (2, True), err


@pytest.fixture(scope="module")
def dated(law, tmp_path_factory):
    """The same law, an article a year from 1980 on; queries of 2000, and one of 1900. A run ranks the latest articles first."""
    from lexfuse.data.formats.beir import read_collection
    from lexfuse.storage.index_folder import IndexFolder

    root = tmp_path_factory.mktemp("dated") / "law"
    shutil.copytree(law, root, ignore=shutil.ignore_patterns("*.index"))
    records = [json.loads(line) for line in (law / "corpus.jsonl").read_text().splitlines()]
    for at, record in enumerate(records):
        record["metadata"]["date"] = f"{1980 + at}-03-01"
    (root / "corpus.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    questions = [json.loads(line) for line in (law / "queries.jsonl").read_text().splitlines()]
    for question in questions:
        question["metadata"] = {"date": "1900-01-01" if question["_id"] == "q15" else "2000-01-01"}
    (root / "queries.jsonl").write_text("".join(f"{json.dumps(question)}\n" for question in questions))
    rows = [f"q{at} Q0 d{31 - rank} {rank} {40 - rank} mine\n" for at in range(16) for rank in range(32)]
    (root / "latest.trec").write_text("".join(rows))
    IndexFolder.create(root / "i.index", documents=read_collection(root).corpus).close()
    return root


def test_only_earlier_documents_on_dev_as_in_the_index(run, base, dated, tmp_path):
    out = tmp_path / "m"
    found, said = told(run, *asked("dense", base, dated, out, "--steps", 2, "--before-query-date"))
    assert "only those dated before the query" in said
    assert "relevant documents are not dated before their query" in said
    assert found["facts"]["dev"].endswith("only those dated before the query")
    anything, _ = told(run, *asked("dense", base, dated, tmp_path / "any", "--steps", 2))
    assert anything["start"]["RR@100"]["mean"] != found["start"]["RR@100"]["mean"]
    corpus = dated / "corpus.jsonl"
    assert run("index", corpus, tmp_path / "i", "--channels", "dense", "--model", out, "--storage", "fp32")[0] == 0
    ranked = ("run", tmp_path / "i", dated, "--qrels", dated / "qrels/dev.tsv", "--channels", "dense", "-o", tmp_path / "d.trec")
    code, _, err = run(*ranked, "--before-query-date")
    assert code == 0, err
    measured, _ = told(run, "evaluate", dated / "qrels/dev.tsv", tmp_path / "d.trec", "-m", "R@10 R@100 nDCG@10 RR@100")
    for name, value in measured["d"].items():
        assert value == pytest.approx(found["measures"][name]["mean"], abs=1e-6)


@pytest.mark.parametrize("kind", ["dense", "cross"])
def test_only_earlier_documents_of_a_run(run, base, dated, tmp_path, kind):
    common = ("train", kind, base, dated, tmp_path / "m", "--config", dated / "short.toml", "--steps", 2)
    _, said = told(run, *common, "--negatives", dated / "latest.trec", "--before-query-date")
    ranked = int(re.search(r"hard negatives by latest: (\d+) for 10 queries", " ".join(said.split()))[1])
    assert ranked < 10 * 20  # 20 articles are older than 2000
    _, said = told(run, *common, "--negatives", dated / "latest.trec", "--force")
    assert int(re.search(r"hard negatives by latest: (\d+) for 10 queries", " ".join(said.split()))[1]) > ranked


@pytest.mark.parametrize("ranking", [("--index", "i.index"), ()])
def test_queries_without_a_date_cannot_have_earlier_documents(run, base, law, tmp_path, ranking):
    files = [law / one if one.endswith("index") and one[0] != "-" else one for one in ranking]
    code, _, err = run("train", "dense", base, law, tmp_path / "m", "--before-query-date", *files)
    assert (code, "have no date" in err, "'q0'" in err) == (3, True, True), err
    assert not (tmp_path / "m.training").exists()


def test_several_seeds_have_a_mean_and_a_deviation(run, base, law, tmp_path):
    found, _ = told(run, *asked("dense", base, law, tmp_path / "m", "--seeds", "1,2", "--steps", 2))
    values = [one["measures"]["dev loss"] for one in found["seeds"]]
    assert values[0] != values[1]
    assert found["measures"]["dev loss"]["mean"] == pytest.approx(sum(values) / 2)
    assert found["measures"]["dev loss"]["deviation"] == pytest.approx(abs(values[0] - values[1]) / 2**0.5)


def test_a_chain_goes_on_with_the_weights_of_the_stage_before(run, base, law, tmp_path):
    found, said = told(run, *asked("dense", base, law, tmp_path / "m", "--first", "headings", "--steps", 4))
    assert "stage 1 of 2: headings" in said
    stages = json.loads((tmp_path / "m" / "training.json").read_text())["seeds"][0]["stages"]
    assert stages[1]["start"] == pytest.approx(stages[0]["measures"])
    assert stages[0]["start"]["dev loss"] == pytest.approx(found["start"]["dev loss"]["mean"])


def test_two_towers_are_the_base_of_the_next_two(run, base, law, tmp_path):
    first, _ = told(run, *asked("two-tower", base, law, tmp_path / "general", "--steps", 4))
    second, _ = told(run, *asked("two-tower", tmp_path / "general", law, tmp_path / "own", "--steps", 2))
    assert second["base"] == "general"
    assert second["start"]["dev loss"]["mean"] == pytest.approx(first["measures"]["dev loss"]["mean"], abs=1e-5)
    code, _, err = run(*asked("dense", tmp_path / "general", law, tmp_path / "m"))
    assert (code, "name one of them" in err) == (3, True), err


def test_structure_alone_and_beside_judgements(run, base, law, tmp_path):
    found, _ = told(run, *asked("dense", base, law, tmp_path / "a", "--no-judged", "--structure", "headings", "--steps", 2))
    assert "pairs to learn from (headings)" in found["facts"]
    found, _ = told(run, *asked("dense", base, law, tmp_path / "b", "--structure", "headings", "--steps", 2))
    assert "headings" in found["facts"]["pairs to learn from (judged+headings)"]


def test_shares_make_one_table(run, base, law, tmp_path):
    arguments = asked("dense", base, law, tmp_path / "s", "--shares", "50,100", "--steps", 2)
    found, _ = told(run, *arguments)
    assert [(one["percent"], one["queries"]) for one in found["shares"]] == [(50, 5), (100, 10)]
    assert (tmp_path / "s" / "share-50" / "model.safetensors").is_file()
    (tmp_path / "s" / "study.json").unlink()
    again, said = told(run, *arguments)  # what is done is not trained again
    assert again == found
    assert "share-50 already exists" in said


def test_negatives_from_a_run_and_without(run, base, law, tmp_path):
    (tmp_path / "b.trec").write_text("".join(f"q{at} Q0 d{at + 1} 1 2.5 mine\n" for at in range(16)))
    common = ("train", "dense", base, law, tmp_path / "m", "--config", law / "short.toml", "--steps", 2)
    _, said = told(run, *common, "--negatives", tmp_path / "b.trec")
    assert "hard negatives by b:" in said
    _, said = told(run, *common, "--force")
    assert "no hard negatives" in said


def test_without_dev_the_last_weights_are_kept(run, base, law, tmp_path):
    arguments = ("train", "dense", base, law / "corpus.jsonl", tmp_path / "m", "--queries", law / "queries.jsonl")
    code, out, err = run(*arguments, "--train", law / "qrels/train.tsv", "--config", law / "short.toml")
    assert code == 0, err
    assert "nothing is measured" in err
    assert "the weights of step 6" in " ".join(out.split())
    assert "Nothing was measured" in (tmp_path / "m" / "README.md").read_text()


def test_a_killed_training_goes_on_to_the_same_weights(run, base, law, tmp_path):
    """Killed after its first checkpoint; the weights are those of a training that was let alone."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    told(run, *asked("dense", base, law, whole))
    code = (
        "import os, signal, sys\nimport torch\ntorch.set_num_threads(1)\nfrom lexfuse.train.loop.checkpoint import Checkpoints\n"
        "save = Checkpoints.save\n"
        "def killing(self, model, optimizer, state):\n"
        "    save(self, model, optimizer, state)\n"
        f"    os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
        "Checkpoints.save = killing\nfrom lexfuse.cli import main\nmain()\n"
    )
    arguments = [str(one) for one in asked("dense", base, law, killed)]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not killed.exists()
    _, said = told(run, *arguments)
    assert "resuming after step 2" in said
    assert (killed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert not (tmp_path / "killed.training").exists()


def test_an_unfinished_training_of_other_settings_is_refused(run, base, law, tmp_path):
    out = tmp_path / "m"
    (tmp_path / "m.training").mkdir()
    (tmp_path / "m.training" / "plan.json").write_text('{"kind": "splade"}')
    code, _, err = run(*asked("dense", base, law, out))
    assert code == 2
    assert "unfinished training" in err


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--structure", "titles"), 2, "no examples 'titles'"),
        (("--seeds", "a"), 2, "--seeds takes numbers"),
        (("--device", "tpu"), 2, "'tpu' is not one of"),
        (("--device", "cuda"), 2, "torch finds no GPU"),
        (("--by", "size", "--shares", "10"), 2, "'size' is not one of"),
        (("--shares", "10", "--by", "date"), 3, "have no date"),
        (("--channel", "dense"), 4, "no channel 'dense'"),
        (("--negatives", "x.trec"), 2, "not from both"),
        (("--steps", "0"), 2, "steps must be 1 or more"),
        (("--train", "no.tsv"), 4, "no file or folder"),
    ],
)
def test_bad_input(run, base, law, tmp_path, more, code, said):
    if "cuda" in more:
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is a GPU")
    found, _, err = run(*asked("dense", base, law, tmp_path / "m", *more))
    assert (found, said in err) == (code, True), err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there are no judgements in it"),
        ("q1\td1\t0\n", "none of 1 judged queries has a relevant document"),
        ("q1\tgone\t1\n", "line 1: document 'gone' is not in the corpus"),
        ("who\td1\t1\n", "line 1: query 'who' is not among the queries"),
    ],
)
def test_bad_judgements(run, base, law, tmp_path, text, said):
    (tmp_path / "train.tsv").write_text(text)
    code, _, err = run(*asked("dense", base, law, tmp_path / "m", "--train", tmp_path / "train.tsv"))
    assert (code, said in err) == (3, True), err


def test_queries_in_train_and_dev_are_told(run, base, law, tmp_path):
    _, said = told(run, *asked("dense", base, law, tmp_path / "m", "--dev", law / "qrels/train.tsv", "--steps", 1))
    assert "10 queries are both in train and in dev" in said


def test_splade_needs_the_masked_language_head(run, tiny, law, tmp_path):
    bare = tiny.folder(tmp_path / "bare", "bert")
    code, _, err = run(*asked("splade", bare, law, tmp_path / "m"))
    assert (code, "no masked-language head" in err) == (3, True), err
    assert not (tmp_path / "m.training").exists()


def test_a_cross_encoder_needs_a_ranking(run, base, law, tmp_path):
    code, _, err = run("train", "cross", base, law, tmp_path / "m", "--config", law / "short.toml")
    assert (code, "give an index or a run" in err) == (2, True), err


def test_other_files_are_never_replaced(run, base, law, tmp_path):
    out = tmp_path / "mine"
    out.mkdir()
    (out / "letter.txt").write_text("dear court")
    assert run(*asked("dense", base, law, out))[0] == 5
    code, _, err = run(*asked("dense", base, law, out, "--force"))
    assert (code, "holds other files" in err) == (5, True)
    assert (out / "letter.txt").is_file()
