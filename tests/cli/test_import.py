"""``lexfuse import`` of files, tables and standard input: the account, the columns, and flags that do not fit."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.errors import ConfigError, DataError, LexFuseError

EXAMPLES = Path(__file__).parents[2] / "examples"
CASES = ["--id", "nr", "--text", "body", "--date", "decided", "--field", "court=chamber", "--date-format", "%d.%m.%Y"]


def run(*words, content=None):
    done = CliRunner().invoke(app, ["import", *map(str, words)], input=content)
    if isinstance(done.exception, LexFuseError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_folder_accounts_for_every_file(tmp_path):
    found = json.loads(run(EXAMPLES / "files", tmp_path / "out", "--json"))
    assert found["files"] == {
        "files": 3,
        "imported": 2,
        "skipped": 1,
        "skipped_files": [
            {
                "file": "orders/unfinished.txt",
                "code": "empty-file",
                "reason": "the file is empty; give one that holds text",
            }
        ],
    }
    corpus = read_corpus(tmp_path / "out")
    assert "lending.md#3" in corpus.ids
    assert corpus.document("orders/order-7.html#5").text == "The demand is reduced to two euros and ten cents."
    assert len(corpus) == found["documents"] == 9


@pytest.mark.parametrize("source", ["files", "cases.csv"])
def test_a_forced_language(tmp_path, source):
    run(EXAMPLES / source, tmp_path / "out", "--force-language", "de", *(CASES if source == "cases.csv" else ()))
    assert set(read_corpus(tmp_path / "out").language) == {"de"}


def test_whole_files(tmp_path):
    run(EXAMPLES / "files", tmp_path / "out", "--whole-files")
    assert set(read_corpus(tmp_path / "out").ids) == {"lending.md", "orders/order-7.html"}


def test_a_table_with_other_columns(tmp_path):
    run(EXAMPLES / "cases.csv", tmp_path / "out", *CASES)
    case = read_corpus(tmp_path / "out").document("C-2")
    assert (case.court, case.date.isoformat(), case.extra) == ("Second", "2020-06-14", {"judge": "Moreau", "fee": 25})


@pytest.mark.parametrize("words", [[], ["--format", "csv"]])
def test_standard_input(tmp_path, words):
    run("-", tmp_path / "out", *words, content="id,text\na,law\n")
    assert read_corpus(tmp_path / "out").text == ("law",)


@pytest.mark.parametrize("content", ["nr;body\na;law\n", "nr\tbody\na\tlaw\n"])
def test_flags_of_columns_make_standard_input_a_table(tmp_path, content):
    run("-", tmp_path / "out", "--id", "nr", "--text", "body", content=content)
    assert read_corpus(tmp_path / "out").text == ("law",)


def test_a_text_on_standard_input_is_a_file(tmp_path):
    run("-", tmp_path / "out", content="The lease ends.")
    assert read_corpus(tmp_path / "out").ids.names == ("standard-input.txt",)


@pytest.mark.parametrize(
    ("words", "error", "reason"),
    [
        ([EXAMPLES / "files", "--id", "nr"], ConfigError, "--id is for a table"),
        ([EXAMPLES / "files", "--language", "fr"], ConfigError, "; --force-language states the language of all files"),
        ([EXAMPLES / "cases.csv", "--language", "fr"], DataError, "of every document, give --force-language"),
        ([EXAMPLES / "cases.csv", "--force-language", "french"], ConfigError, r"did you mean 'fr' \(French\)\?"),
        ([EXAMPLES / "files", "--queries", EXAMPLES / "questions.csv"], ConfigError, "are for a table or a collection"),
        ([EXAMPLES / "cases.csv", "--whole-files"], ConfigError, "--whole-files is for files of text"),
        ([EXAMPLES / "cases.csv", "--format", "csv"], ConfigError, "--format is for standard input"),
        ([EXAMPLES / "cases.csv"], DataError, "perhaps --id 'nr' and --text 'body'"),
        (
            [EXAMPLES / "cases.csv", "--id", "nr", "--text", "boddy"],
            DataError,
            r"column 'boddy' not found; did you mean 'body'\?",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, words, error, reason):
    with pytest.raises(error, match=reason):
        run(words[0], tmp_path / "out", *words[1:])
    assert not (tmp_path / "out").exists()
