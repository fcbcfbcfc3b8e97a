"""The real command, as a user types it: what it prints, where, and with which exit code."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from launcher import lexfuse

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = Path(sys.executable).parent / "lexfuse"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imported") / "library"
    done = lexfuse(
        "import", EXAMPLES / "articles.csv", folder, "--queries", EXAMPLES / "questions.csv", "--qrels", EXAMPLES / "test.tsv"
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_help_lists_every_command_and_version_is_shown():
    shown = lexfuse("--help").stdout
    for command in ("import", "info", "analyse", "evaluate", "compare", "demo"):
        assert command in shown
    assert lexfuse("--version").stdout.startswith("lexfuse 0.")


@pytest.mark.parametrize("command", ["import", "info", "analyse", "evaluate", "compare", "demo"])
def test_help_of_a_command_has_an_example(command):
    assert f"lexfuse {command}" in lexfuse(command, "--help").stdout.split("Options")[0].partition("Usage")[2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_there(shell, monkeypatch):
    monkeypatch.setenv("_LEXFUSE_COMPLETE", f"source_{shell}")  # not the shell that started the tests, which may be any
    assert "_LEXFUSE_COMPLETE=complete" in lexfuse().stdout


def test_import_detects_language_resolves_citations_and_keeps_headings(library):
    rows = [json.loads(row) for row in gzip.decompress((library / "corpus.jsonl.gz").read_bytes()).splitlines()]
    fourth = next(row for row in rows if row["_id"] == "lib-4")
    assert fourth["metadata"]["language"] == "fr"
    assert fourth["metadata"]["headings"] == ["Partie législative", "Titre II : Prêt"]
    assert fourth["metadata"]["citations"] == ["lib-3", "lib-1", "lib-2"]
    assert (library / "qrels" / "test.tsv").read_bytes() == (EXAMPLES / "test.tsv").read_bytes()


def test_import_twice_gives_the_same_bytes(library, tmp_path):
    again = tmp_path / "again"
    assert lexfuse("import", library, again).returncode == 0
    for file in ("corpus.jsonl.gz", "queries.jsonl.gz", "qrels/test.tsv"):
        assert (again / file).read_bytes() == (library / file).read_bytes()


def test_import_json_tells_counts(tmp_path):
    shown = json.loads(lexfuse("import", EXAMPLES / "articles.csv", tmp_path / "out", "--json").stdout)
    assert shown["documents"] == 6
    assert shown["languages"] == {"fr": 6}
    assert shown["citations"] == 5
    assert shown["skipped"] == 0


def test_import_refuses_an_existing_folder_and_force_replaces_it(library, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "corpus.jsonl").write_text('{"_id": "old", "text": "old"}\n')
    refused = lexfuse("import", library, tmp_path / "out")
    assert refused.returncode == 5
    assert "--force" in refused.stderr
    assert "old" in (tmp_path / "out" / "corpus.jsonl").read_text()
    assert lexfuse("import", library, tmp_path / "out", "--force").returncode == 0
    assert not (tmp_path / "out" / "corpus.jsonl").exists()


def test_import_never_replaces_what_is_no_collection(library, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("ten years")
    assert lexfuse("import", library, tmp_path / "precious", "--force").returncode == 5
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "ten years"


def test_malformed_line_names_file_line_and_reason(tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"_id": "a", "text": "un"}\n{"_id": "b", "text": \n{"_id": "c", "text": "trois"}\n')
    strict = lexfuse("import", bad, tmp_path / "out")
    assert strict.returncode == 3
    assert "bad.jsonl, line 2" in strict.stderr
    assert not (tmp_path / "out").exists()
    lenient = lexfuse("import", bad, tmp_path / "out", "--skip-bad", "--json")
    assert lenient.returncode == 0
    assert json.loads(lenient.stdout)["skipped"] == 1
    assert json.loads(lenient.stdout)["documents"] == 2


def test_the_rule_on_citations_inside_the_test_period(tmp_path):
    folder = tmp_path / "preprocessed"
    folder.mkdir()
    (folder / "unique_pars.csv").write_text(
        "PAR_ID,DATE,TEXT\n0,2012-01-01,It must be held.\n1,2019-01-01,As held.\n2,2020-01-01,As is settled.\n"
    )
    (folder / "citations_cleaned.csv").write_text("PAR_ID_FROM,PAR_ID_TO\n1,0\n2,1\n2,0\n")
    for rule, queries in (([], 2), (["--within-test", "remove-queries"], 1), (["--within-test", "keep"], 2)):
        shown = lexfuse("import", folder, tmp_path / "out", "--force", "--json", *rule)
        assert json.loads(shown.stdout)["queries"] == queries, shown.stderr
    refused = lexfuse("import", EXAMPLES / "articles.csv", tmp_path / "other", "--within-test", "keep")
    assert (refused.returncode, "--within-test is for the cjeu collection" in refused.stderr) == (2, True)


def test_a_collection_is_split_again_by_the_dates_of_its_queries(tmp_path):
    folder = tmp_path / "preprocessed"
    folder.mkdir()
    rows = [f"{at},{year}-01-01,As held in {year}." for at, year in enumerate((2000, 2010, 2013, 2016, 2018, 2020))]
    (folder / "unique_pars.csv").write_text("\n".join(["PAR_ID,DATE,TEXT", *rows]) + "\n")
    (folder / "citations_cleaned.csv").write_text("PAR_ID_FROM,PAR_ID_TO\n1,0\n2,0\n3,0\n4,1\n5,3\n5,0\n")
    broader = ["--dev-from", "2012-01-01", "--test-from", "2015-01-01"]
    made = lexfuse("import", folder, tmp_path / "out", *broader)
    assert made.returncode == 0, made.stderr
    judged = {split: (tmp_path / "out" / "qrels" / f"{split}.tsv").read_text().split()[3:] for split in ("train", "dev", "test")}
    assert judged["train"] == ["1", "0", "1"]
    assert judged["dev"] == ["2", "0", "1"]
    assert judged["test"] == ["3", "0", "1", "4", "1", "1", "5", "0", "1"], "the citation inside the test period is removed"
    again = lexfuse("import", tmp_path / "out", tmp_path / "later", "--dev-from", "2016-01-01", "--test-from", "2018-01-01")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "later" / "qrels" / "dev.tsv").read_text().split()[3:] == ["3", "0", "1"]
    for wrong in (
        broader[:2],
        ["--dev-from", "2015-01-01", "--test-from", "2012-01-01"],
        ["--dev-from", "x", "--test-from", "2015"],
    ):
        refused = lexfuse("import", folder, tmp_path / "none", *wrong)
        assert refused.returncode in (2, 3)
        assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("option", ["--queries", "--qrels"])
def test_an_empty_file_of_queries_or_judgements_is_refused(tmp_path, option):
    empty = tmp_path / ("empty.tsv" if option == "--qrels" else "empty.csv")
    empty.write_text("query-id\tcorpus-id\tscore\n" if option == "--qrels" else "id,text\n")
    refused = lexfuse("import", EXAMPLES / "articles.csv", tmp_path / "out", option, empty)
    assert (refused.returncode, "has no readable row" in refused.stderr) == (3, True), refused.stderr


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("empty.jsonl", b"", 3, "no documents"),
        ("latin.jsonl", '{"_id": "a", "text": "é"}'.encode("latin-1"), 3, "UTF-8"),
        ("cut.jsonl.gz", gzip.compress(b'{"_id": "a", "text": "x"}\n' * 2000, mtime=0)[:40], 3, "truncated"),
        ("twice.jsonl", b'{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n', 3, "'a'"),
        ("columns.csv", b"nom,contenu\na,b\n", 3, "nom"),
        ("types.parquet", b"not parquet at all", 3, "arquet"),
        ("unknown.xyz", b"\0\1\2", 3, "expected text, HTML, XML, PDF, DOCX or ODT"),
    ],
)
def test_bad_files_end_in_clear_errors(tmp_path, name, content, code, words):
    (tmp_path / name).write_bytes(content)
    done = lexfuse("import", tmp_path / name, tmp_path / "out")
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_missing_file_and_wrong_option(tmp_path):
    assert lexfuse("import", tmp_path / "nothing", tmp_path / "out").returncode == 4
    assert lexfuse("evaluate", EXAMPLES / "test.tsv", EXAMPLES / "words.trec", "-m", "nDGC@10").returncode == 2
    assert lexfuse("import", "--from", "nonsense", "a", "b").returncode == 2
    assert lexfuse("no-such-command").returncode == 2


def test_unknown_ids_in_qrels(tmp_path):
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tlib-99\t1\nq1\tlib-3\t1\n")
    arguments = ["import", EXAMPLES / "articles.csv", tmp_path / "out", "--queries", EXAMPLES / "questions.csv"]
    strict = lexfuse(*arguments, "--qrels", tmp_path / "test.tsv")
    assert strict.returncode == 3
    assert "lib-99" in strict.stderr
    lenient = lexfuse(*arguments, "--qrels", tmp_path / "test.tsv", "--skip-bad", "--json")
    assert json.loads(lenient.stdout)["qrels"]["test"]["judgements"] == 1


def test_full_disk_leaves_nothing_behind(tmp_path):
    corpus = tmp_path / "big.jsonl"
    corpus.write_text("".join(json.dumps({"_id": str(n), "text": os.urandom(200).hex()}) + "\n" for n in range(500)))

    def small_files_only():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = subprocess.run(
        [str(COMMAND), "import", str(corpus), str(tmp_path / "out")],
        capture_output=True, text=True, check=False, preexec_fn=small_files_only,
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    assert "nothing was changed" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["big.jsonl"]


def test_interrupted_import_leaves_nothing_behind(tmp_path):
    """The corpus comes through a pipe that is never closed, so the import is surely in the middle of reading."""
    pipe = tmp_path / "corpus.jsonl"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [str(COMMAND), "import", str(pipe), str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with pipe.open("w") as writer:  # opens only when the reader is there
        writer.write('{"_id": "a", "text": "un"}\n')
        writer.flush()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_info_of_collection_document_run_and_judgements(library):
    assert "Code des bibliothèques" in lexfuse("info", library).stdout
    assert json.loads(lexfuse("info", library, "--json").stdout)["citations"] == 5
    shown = lexfuse("info", library, "--document", "lib-4").stdout
    assert "Titre II : Prêt" in shown
    assert "from 2021-09-01" in shown
    assert json.loads(lexfuse("info", EXAMPLES / "words.trec", "--json").stdout)["hits"] == 6
    assert json.loads(lexfuse("info", EXAMPLES / "test.tsv", "--json").stdout)["grade_2"] == 4
    missing = lexfuse("info", library, "--document", "lib-77")
    assert missing.returncode == 4
    assert "lib-77" in missing.stderr


def test_analyse_shows_citations_as_one_term():
    shown = json.loads(lexfuse("analyse", "l'article L. 1234‑5 du code du travail", "--json").stdout)
    assert shown["language"] == "fr"
    assert shown["citations"][0]["key"] == "L1234-5"
    assert shown["citations"][0]["code"] == "code du travail"
    assert "l1234_5" in [term for token in shown["tokens"] for term in token["terms"]]


def test_analyse_reads_standard_input_and_files_and_escapes_markup(tmp_path):
    assert json.loads(lexfuse("analyse", "-", "--json", stdin="The court held.").stdout)["language"] == "en"
    (tmp_path / "note.txt").write_text("Voir [bold]C-60/22[/bold].", encoding="utf-8")
    assert "[bold]" in lexfuse("analyse", "--file", tmp_path / "note.txt").stdout
    assert lexfuse("analyse").returncode == 2
    assert lexfuse("analyse", "").returncode == 0


def test_evaluate_prints_the_promised_json():
    done = lexfuse(
        "evaluate", EXAMPLES / "test.tsv", EXAMPLES / "words.trec", EXAMPLES / "vectors.trec", "-m", "R@5 P@1", "--json"
    )
    assert json.loads(done.stdout) == {
        "words": {"R@5": pytest.approx(2 / 3), "P@1": pytest.approx(2 / 3)},
        "vectors": {"R@5": 1.0, "P@1": 1.0},
    }


def test_evaluate_reports_missing_queries_and_counts_them_as_zero(tmp_path):
    (tmp_path / "half.trec").write_text("q1 Q0 lib-3 1 1.0 half\n")
    done = lexfuse("evaluate", EXAMPLES / "test.tsv", tmp_path / "half.trec", "-m", "RR@10", "--json")
    assert json.loads(done.stdout)["half"]["RR@10"] == pytest.approx(1 / 3)
    assert "2 of 3 queries missing" in done.stderr


def test_evaluate_per_query(tmp_path):
    shown = json.loads(
        lexfuse("evaluate", EXAMPLES / "test.tsv", EXAMPLES / "words.trec", "-m", "RR", "--per-query", "--json").stdout
    )
    assert shown["words"]["RR"] == {"q1": 1.0, "q2": 0.5, "q3": 1.0}
    assert "q2" in lexfuse("evaluate", EXAMPLES / "test.tsv", EXAMPLES / "words.trec", "--per-query").stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [("q1 Q0 lib-3 1 nan t\n", "nan"), ("q1 Q0 lib-3 1 2 t\nq1 Q0 lib-3 2 1 t\n", "already"), ("q1 lib-3\n", "columns")],
)
def test_bad_runs_name_file_line_and_reason(tmp_path, content, words):
    (tmp_path / "bad.trec").write_text(content)
    done = lexfuse("evaluate", EXAMPLES / "test.tsv", tmp_path / "bad.trec")
    assert done.returncode == 3
    assert "bad.trec, line" in done.stderr
    assert words in done.stderr


def test_unordered_scores_are_sorted_and_told(tmp_path):
    (tmp_path / "mixed.trec").write_text("q1 Q0 lib-1 1 0.1 t\nq1 Q0 lib-3 2 0.9 t\n")
    done = lexfuse("evaluate", EXAMPLES / "test.tsv", tmp_path / "mixed.trec", "-m", "RR", "--json")
    assert json.loads(done.stdout)["mixed"]["RR"] == pytest.approx(1 / 3)
    assert "out of order" in done.stderr


def test_compare_shows_tests_and_json():
    runs = [EXAMPLES / "words.trec", EXAMPLES / "vectors.trec"]
    shown = json.loads(
        lexfuse("compare", EXAMPLES / "test.tsv", *runs, "-m", "nDCG@10", "--test", "randomisation", "--json").stdout
    )
    assert shown["baseline"] == "words"
    assert 0 < shown["runs"]["vectors"]["nDCG@10"]["p"] <= 1
    table = lexfuse("compare", EXAMPLES / "test.tsv", *runs, "--baseline", "vectors").stdout
    assert "holm" in table
    wrong = lexfuse("compare", EXAMPLES / "test.tsv", *runs, "--baseline", "nobody")
    assert wrong.returncode in (2, 4)
    assert "nobody" in wrong.stderr


def test_two_runs_of_one_name_are_refused(tmp_path):
    (tmp_path / "words.trec").write_bytes((EXAMPLES / "words.trec").read_bytes())
    done = lexfuse("evaluate", EXAMPLES / "test.tsv", EXAMPLES / "words.trec", tmp_path / "words.trec")
    assert done.returncode == 2
    assert "words" in done.stderr


def test_closed_pipe_is_no_crash(library):
    with subprocess.Popen(
        [str(COMMAND), "info", str(library)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
