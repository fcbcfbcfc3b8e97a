"""The Wikipedia sets of SDR: a CSV table with Python lists, and labels that are never unpickled."""

import csv
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.data.sources.wikipedia_similarity import read_wikipedia_similarity
from lexfuse.errors import DataError, NotFoundError

ARTICLES = [
    ("Cava (Spanish wine)", [("", "A sparkling wine."), ("History", "It's old."), ("See also", "")]),
    ("Mo\u00ebt &amp; Chandon", [("Origin", 'The "house", founded in 1743.')]),
    ("Merlot", [("", "A grape.")]),
]
LABELS = {"Cava (Spanish wine)": {"Mo\u00ebt & Chandon": 2, "Merlot": 1, "Port": 1}, "Rioja": {"Merlot": 1}}


def written(folder, articles=ARTICLES, labels=LABELS, name="raw_data"):
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("Title", "Sections"), *((title, repr(sections)) for title, sections in articles)])
    (folder / "gt.json").write_text(json.dumps(labels), "utf-8")
    return folder


@pytest.mark.parametrize("name", ["raw_data", "wines.txt", "video_games.txt"])
def test_articles_and_similar_ones(tmp_path, name):
    folder, report = written(tmp_path / "wines", name=name), ReadReport()
    assert detect_source(tmp_path) is SourceName.WIKIPEDIA_SIMILARITY
    collection = read_source(SourceName.WIKIPEDIA_SIMILARITY, folder, report)
    assert collection.corpus.title == ("Cava (Spanish wine)", "Mo\u00ebt & Chandon", "Merlot")
    assert collection.corpus[0].text == "A sparkling wine.\nHistory\nIt's old."
    assert collection.queries.ids.names == ("0",)
    assert collection.queries[0].text.startswith("Cava (Spanish wine)\nA sparkling wine.")
    assert collection.qrels["test"].as_dict() == {"0": {"1": 2, "2": 1}}
    said = "\n".join(report.lines())
    assert "1 noted: similar article that is not in the collection" in said
    assert "1 noted: title with labels that is not in the collection" in said


class Hostile:
    """What a pickle may run when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_is_not_opened_and_the_message_converts_it(tmp_path):
    folder, touched = written(tmp_path), tmp_path / "touched"
    (folder / "gt.json").unlink()
    (folder / "gt").write_bytes(pickle.dumps({"Merlot": Hostile(touched)}))
    with pytest.raises(DataError, match="pickled labels are not read") as refused:
        read_wikipedia_similarity(folder)
    assert not touched.exists()
    (folder / "gt").write_bytes(pickle.dumps(LABELS))
    program = str(refused.value).split('-c "')[1].split('"')[0]
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    assert read_wikipedia_similarity(folder).qrels["test"].as_dict() == {"0": {"1": 2, "2": 1}}


@pytest.mark.parametrize("labels", [["Merlot"], {"Merlot": ["Cava"]}, {"Merlot": {"Cava": "often"}}])
def test_labels_of_another_form_are_refused(tmp_path, labels):
    folder = written(tmp_path, labels=labels)
    with pytest.raises(DataError, match="expected an object of titles"):
        read_wikipedia_similarity(folder)


@pytest.mark.parametrize(
    ("sections", "reason"), [("__import__('os')", "ValueError"), ("[('a',", "SyntaxError"), ("7", "TypeError")]
)
def test_sections_are_values_and_never_code(tmp_path, sections, reason):
    folder = written(tmp_path)
    with (folder / "raw_data").open("a", newline="", encoding="utf-8") as out:
        csv.writer(out).writerow(("Port", sections))
    with pytest.raises(DataError, match=rf"article 3.*the sections are no list of titles and texts \({reason}\)"):
        read_wikipedia_similarity(folder)
    report = ReadReport(skip_bad=True)
    assert len(read_wikipedia_similarity(folder, report).corpus) == 3
    assert report.skipped == 1


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"no Wikipedia set of SDR in .*; found no table of articles"):
        read_wikipedia_similarity(tmp_path)
    written(tmp_path / "a")
    written(tmp_path / "b")
    with pytest.raises(NotFoundError, match=r"found a/raw_data, b/raw_data"):
        read_wikipedia_similarity(tmp_path)
