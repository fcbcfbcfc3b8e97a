"""A repository of law with one commit per reform: days, forms, repeated numbers, texts that vanish and return."""

import json
import os
import subprocess
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.document_history import is_absence, versions_of
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legalize.git_snapshots import absent_blobs, file_snapshots, is_repository
from lexfuse.data.sources.legalize.law_history import read_history
from lexfuse.data.sources.legalize.law_markdown import law_articles
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.index import Index

HEAD = '---\ntitle: "Code rural"\nidentifier: "LAW1"\ncountry: "fr"\n---\n# Code rural\n\n'
WIDE = {"COLUMNS": "160"}
IDENTITY = {f"GIT_{role}_{what}": "law@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def plain(*parts):
    """The earlier form: articles and headings are lines."""
    return HEAD + "\n\n".join(parts) + "\n"


def later(*parts):
    """The later form: both begin with #, and paragraphs are indented."""
    marked = [("##### " if part.startswith("Article ") else "## " if part.startswith("Titre ") else "") + part for part in parts]
    return HEAD + "\n\n".join(part.replace("\n", "\n\n\n   ") for part in marked) + "\n"


class Repository:
    """A repository that a test writes commit by commit."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, day="2020-01-01"):
        dates = {f"GIT_{role}_DATE": f"{day}T00:00:00" for role in ("AUTHOR", "COMMITTER")}
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, env=os.environ | IDENTITY | dates)

    def commit(self, day, text, *, name="fr/LAW1.md", subject="[reform] Code rural", file_day="2020-01-01"):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        trailer = f"\n\nSource-Date: {day}" if day else ""
        self.git("commit", "-q", "--allow-empty", "-m", f"{subject}{trailer}", day=file_day)


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path / "law")
    made.commit("", "Read me.", name="README.md", subject="chore: add README")
    every = ["Article 1", "Tous les textes.", "Article 1", "Encore un texte.", "Article 2", "Le bail."]
    made.commit("1803-01-01", plain(*every), subject="[bootstrap] Code rural")
    titled = ["Titre Ier : Du bail"]
    made.commit("1803-01-01", plain(*titled, "Article 1", "Le bail dure trois ans.", "Article 2", "Le prix est libre."))
    first = ["Article 1", "Le bail dure six ans.\n\nIl est écrit.", "Titre II : Du prix", "Article 2", "Le prix est libre."]
    made.commit("1960-05-01", plain(*titled, *first))
    made.commit("1950-01-01", plain(*titled, "Article 1", "Le bail dure trois ans."))  # of an earlier day than the last commit
    second = ["Article 1", "Le bail dure **six** ans.\nIl est écrit.", "Titre II : Du prix", "Article 2", "Le prix est libre."]
    made.commit("2001-01-01", later(*titled, *second, "Article 2", "Le prix est fixé.", "Article L. 3", "Nouveau."))
    made.commit("2010-01-01", later(*titled, *second[:3], "Article 2", "Le prix est fixé.", "Article L. 3", "Nouveau."))
    return made.folder


def periods(corpus, id):
    every = versions_of(corpus.document(id))
    return [("—" if is_absence(one) else one.text, str(one.valid_from), str(one.valid_to)) for one in every]


def test_every_version_of_every_article(repository):
    report = ReadReport()
    corpus = read_history(repository, report).corpus
    assert sorted(corpus.ids) == ["LAW1-1", "LAW1-2", "LAW1-2~2", "LAW1-L._3"]
    assert periods(corpus, "LAW1-1") == [
        ("Le bail dure trois ans.", "1803-01-01", "1960-05-01"),
        ("Le bail dure **six** ans.\nIl est écrit.", "1960-05-01", "None"),  # another form is no other version
    ]
    assert periods(corpus, "LAW1-2") == [  # it vanishes and returns
        ("Le prix est libre.", "1803-01-01", "1950-01-01"),
        ("Le prix est libre.", "1960-05-01", "2010-01-01"),
    ]
    assert periods(corpus, "LAW1-2~2") == [("—", "1803-01-01", "2001-01-01"), ("Le prix est fixé.", "2001-01-01", "None")]
    assert corpus.document("LAW1-2").headings == ("Titre II : Du prix",)
    assert (corpus.document("LAW1-1").code, corpus.document("LAW1-1").title) == ("Code rural", "Code rural, art. 1")
    said = "\n".join(report.lines())
    assert "1 noted: a commit without Source-Date, not read" in said
    assert "a law without snapshots for more than ten years (fr/LAW1.md, 1803-01-01 to 1950-01-01" in said


def test_the_command_writes_a_corpus_that_becomes_an_index(repository, tmp_path):
    done = CliRunner().invoke(app, ["import", str(repository), str(tmp_path / "out"), "--history", "--law", "LAW1"], env=WIDE)
    assert done.exit_code == 0, done.output
    assert "1803-01-01 to 1950-01-01 (147 years)" in " ".join(done.output.split())
    again = ["import", str(repository), str(tmp_path / "again"), "--history", "--json"]
    [law] = json.loads(CliRunner().invoke(app, again).stdout)["laws"]
    assert (law["snapshots"], law["versions"], law["longest_gap"]) == (5, 6, ["1803-01-01", "1950-01-01"])
    with Index.build(tmp_path / "i", read_corpus(tmp_path / "out")) as index:
        assert [hit.document.text for hit in index.search("trois ans", as_of="1900-01-01")] == ["Le bail dure trois ans."]
        assert index.search("bail", as_of="1900-01-01").coverage.unknown == 0
        assert [str(one.valid_to) for one in index.history("LAW1-2")] == ["1950-01-01", "2010-01-01"]


def test_a_repository_without_a_work_tree_is_read(repository, tmp_path):
    subprocess.run(["git", "clone", "-q", "--bare", str(repository), str(tmp_path / "bare")], check=True)
    assert is_repository(tmp_path / "bare")
    assert len(read_history(tmp_path / "bare").corpus) == 4


def test_a_law_with_a_snapshot_that_is_not_there_is_left_out(repository):
    for snapshot in file_snapshots(repository, ".md", ReadReport())["fr/LAW1.md"][1:2]:
        (repository / ".git" / "objects" / snapshot.blob[:2] / snapshot.blob[2:]).unlink()
    report = ReadReport()
    with pytest.raises(DataError, match="no law with a complete history"):
        read_history(repository, report)
    assert "snapshots that this copy of the repository lacks, left out (fr/LAW1.md, 1950-01-01)" in "\n".join(report.lines())


def test_progress_counts_the_snapshots_of_all_laws(repository):
    shown = []

    @contextmanager
    def bar(what, total):
        shown.append((what, total))
        yield shown.append

    read_history(repository, progress=bar)
    assert shown == [("reading snapshots of laws", 5), 5]


def test_absent_contents_are_named_without_reading_the_others(repository):
    blobs = [one.blob for one in file_snapshots(repository, ".md", ReadReport())["fr/LAW1.md"]]
    assert absent_blobs(repository, [*blobs, "0" * 40]) == {"0" * 40}
    assert absent_blobs(repository, []) == set()


def test_wrong_sources_are_refused(repository, tmp_path):
    with pytest.raises(NotFoundError, match="is not a git repository"):
        read_history(tmp_path)
    with pytest.raises(DataError, match=r"no file CODE\.md"):
        read_history(repository, laws=["CODE"])
    for flags, said in ((["--law", "LAW1"], "give --history"), (["--history", "--from", "legi"], "reads a git repository")):
        with pytest.raises(ConfigError, match=said):
            raise CliRunner().invoke(app, ["import", str(repository), str(tmp_path / "out"), *flags]).exception


def test_what_the_configuration_of_a_repository_names_is_not_run(repository, tmp_path):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    settings = ("log.showSignature true", f"gpg.program {program}", f"diff.external {program}", f"core.fsmonitor {program}")
    for setting in (*settings, f"core.pager {program}"):
        subprocess.run(["git", "config", *setting.split(" ", 1)], cwd=repository, check=True)
    assert len(read_history(repository).corpus) == 4
    assert not (tmp_path / "ran").exists()


def test_headings_between_plain_articles_are_no_text():
    text = plain("Livre Ier", "Article 1", "Un.", "Titre Ier : A", "Dispositions générales", "Article 2", "Titre du texte.")
    articles = law_articles(text, {"Dispositions générales"})
    assert [(one.number, one.markdown.strip(), one.headings) for one in articles] == [
        ("1", "Un.", ("Livre Ier",)),
        ("2", "Titre du texte.", ("Livre Ier", "Titre Ier : A", "Dispositions générales")),
    ]


def test_only_a_line_that_begins_with_the_word_is_an_article():
    text = later("Article 1", "Voir l'\nArticle 2 bis", "Selon Article 9", "Article Article 3", "Un.")
    assert [one.number for one in law_articles(text)] == ["1", "Article 3"]
    assert [one.number for one in law_articles(plain("Article 1", "Voir\nArticle 2", "#Article 4", "x Article 5"))] == ["1", "2"]
    assert law_articles(HEAD + f"Article {'x' * 90}\n") == []
