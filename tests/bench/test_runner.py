"""All benchmarks run, whatever becomes of one: needs come first, failures are collected, and no script passes without figures."""

import ast
import doctest
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.runner import figures, needs, results
from bench.runner.figures import Figure, figures_of
from bench.runner.needs import Needs, needs_of
from bench.runner.results import Measurement, plot, read
from bench.runner.script import Script, Status, scripts
from reproduce.result import Circumstances

ROOT = Path(__file__).parents[2]
START = 'if __name__ == "__main__":\n    main()\n'
QPS = {"metric": "qps", "ours": 3, "peer": "bm25s", "theirs": 2, "ratio": 1.5}
SIZE = {"collection": "scifact", "bytes": 7}


def write_script(folder, name, body, needs=""):
    """A script whose main function has this body."""
    lines = "\n".join(f"    {line}" for line in body)
    head = f'"""About {name}."""\nimport sys\nNeeds = dict\nNEEDS = Needs({needs})\n'
    (folder / f"{name}.py").write_text(f"{head}\ndef main():\n{lines}\n\n{START}", "utf-8")


def printed(*records):
    return [f"print({json.dumps(record)!r})" for record in records]


@pytest.fixture
def folder(tmp_path):
    """Scripts that measure, fail after a figure, measure nothing, and lack something."""
    cloned = "inputs={'CLONE': 'a clone'}, arguments=('{CLONE}',)"
    write_script(tmp_path, "fine", ["print('3 documents')", *printed(QPS, SIZE)], cloned)
    write_script(tmp_path, "broken", [*printed(QPS), "sys.exit('the peer disagrees')"])
    write_script(tmp_path, "silent", ["pass"])
    write_script(tmp_path, "lacking", ["raise AssertionError('it was run')"], "packages=('nowhere',), collections=('fr-labour',)")
    (tmp_path / "shared.py").write_text("VALUE = 1\n", "utf-8")
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Runs `python -m bench` on these scripts: exit status, standard output and standard error."""
    monkeypatch.setenv("CLONE", "laws")
    monkeypatch.delenv("LEXFUSE_DATA", raising=False)

    def run(*arguments):
        status = main(["--results", str(folder / "kept" / "results.jsonl"), *arguments], scripts(folder))
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("module", [figures, needs, results], ids=lambda module: module.__name__)
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_every_script_says_what_it_needs_and_takes_the_options():
    found = scripts()
    assert {"fusion", "lexical", "serve"} <= found.keys()
    assert not {"language_texts", "__main__"} & found.keys()
    for script in found.values():
        source = script.path.read_text("utf-8")
        assert re.search(r"\bNEEDS(\.on\(.*\))?\.check\(\)", source), script.name
        words = ast.get_docstring(ast.parse(source))
        assert "[--json]" in words, script.name
        assert script.needs.quick == ("[--quick]" in words), script.name
        named = {name for argument in script.needs.arguments for name in re.findall(r"{(\w+)}", argument)}
        assert named == script.needs.inputs.keys(), script.name
        assert script.title.endswith((".", ")")), script.name


def test_a_script_stops_with_all_that_is_missing():
    surroundings = {name: value for name, value in os.environ.items() if name != "LEXFUSE_DATA"}
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "changes.py"], capture_output=True, text=True, env=surroundings, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "needs collections in LEXFUSE_DATA: fr-labour",
        "nothing was measured:",
        "LEXFUSE_DATA is not set; it names the folder of the collections fr-labour",
    ]


def test_what_is_missing(tmp_path):
    (tmp_path / "cjeu").mkdir()
    asked = Needs(collections=("cjeu", "scifact"), packages=("numpy", "nowhere"), programs=("sh", "no-program"))
    assert asked.missing({"LEXFUSE_DATA": str(tmp_path)}) == [
        f"no collection scifact in {tmp_path}, which LEXFUSE_DATA names",
        "no package nowhere; `make install` installs the packages that benchmarks compare with",
        "no program no-program on the path",
    ]
    assert Needs(collections=("cjeu",), optional={"PEER": "a peer"}).missing({"LEXFUSE_DATA": str(tmp_path)}) == []


def test_one_of_several_packages_is_enough():
    absent = Needs(one_of=("nowhere", "neither"))
    assert absent.lines() == ["needs one of the packages: nowhere, neither"]
    assert absent.missing({}) == ["none of the packages nowhere, neither is installed; install one to compare with it"]
    assert Needs(one_of=("nowhere", "numpy")).missing({}) == []


def test_a_script_without_needs_is_refused(tmp_path):
    (tmp_path / "a.py").write_text(START, "utf-8")
    with pytest.raises(ValueError, match=r"a\.py has no constant NEEDS"):
        needs_of(tmp_path / "a.py")


def test_one_that_fails_does_not_stop_the_others(run, folder):
    status, shown, said = run()
    assert status == 1
    rows = [line.split() for line in shown.splitlines()]
    assert rows == [
        ["script", "metric", "ours", "theirs", "ratio", "peer"],
        ["broken", "qps", "3", "2", "1.5", "bm25s"],
        ["fine", "qps", "3", "2", "1.5", "bm25s"],
        ["fine", "scifact", "bytes", "7"],
    ]
    assert said.index("needs CLONE: a clone") < said.index("  scifact bytes: 7")
    end = said[said.index("1 measured, 1 left out, 2 failed") :]
    assert "failed: broken: it ended with status 1:\nthe peer disagrees" in end
    assert "failed: silent: it ended with status 0 but measured nothing" in end
    assert "left out: lacking: LEXFUSE_DATA is not set" in end
    assert "no package nowhere" in end


def test_what_was_measured_is_kept_and_drawn(run, folder):
    assert run("--only", "fine")[0] == 0
    assert run("--only", "fine", "--quick")[0] == 0
    kept = folder / "kept" / "results.jsonl"
    first, second = read(kept)
    assert (first.script, first.quick, second.quick) == ("fine", False, True)
    assert first.figures == (Figure("qps", 3.0, "bm25s", 2.0, 1.5), Figure("scifact bytes", 7.0))
    assert set(json.loads(kept.read_text("utf-8").splitlines()[0])) >= {"date", "commit", "machine", "script", "figures"}
    drawn = kept.with_suffix(".svg").read_text("utf-8")
    assert "fine" in drawn
    assert drawn == plot([first, second])
    assert drawn != plot([first, replace(second, figures=(Figure("qps", 3.0, "bm25s", 1.0, 0.3),))])


def test_runs_of_single_scripts_add_up_to_one_table(run, folder):
    for script in ("fine", "other", "fine"):
        if script == "other":
            write_script(folder, "other", printed({"metric": "recall", "ours": 0.5}))
        assert run("--only", script, "--quick")[0] == 0
    lines = (folder / "kept" / "results.txt").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines]
    first, second = rows.index([]), rows.index(["script", "metric", "ours", "theirs", "ratio", "peer"])
    assert [row[0] for row in rows[:first]] == ["script", "fine", "other"]
    assert all(row[-1] == "quick" for row in rows[1:first])
    assert rows[second + 1 :] == [
        ["fine", "qps", "3", "2", "1.5", "bm25s"],
        ["fine", "scifact", "bytes", "7"],
        ["other", "recall", "0.5"],
    ]


def test_json_is_one_line_a_metric(run):
    status, shown, _ = run("--json", "--only", "fine")
    assert status == 0
    assert [json.loads(line) for line in shown.splitlines()] == [
        {"script": "fine", **QPS},
        {"script": "fine", "metric": "scifact bytes", "ours": 7.0, "peer": None, "theirs": None, "ratio": None},
    ]


def test_it_never_ends_well_without_a_figure(run, folder):
    assert run("--only", "lacking")[0] == 1
    assert run("--only", "silent")[0] == 1
    assert not (folder / "kept").exists()


def test_what_cannot_run_is_refused_before_anything_is_measured(run, folder):
    status, _, said = run("--only", "nothing")
    assert (status, said) == (2, "error: no benchmark nothing; there are broken, fine, lacking, silent\n")
    (folder / "kept").mkdir()
    (folder / "kept" / "results.jsonl").write_text("{}\n", "utf-8")
    status, shown, said = run("--only", "fine")
    assert (status, shown) == (2, "")
    assert "results.jsonl, line 1: not a measurement (KeyError('date'))" in said


def test_the_list_runs_nothing(run):
    status, shown, _ = run("--list")
    assert status == 0
    assert shown.splitlines()[:2] == ["== broken: About broken.", "  needs nothing but the package"]
    assert "  left out: LEXFUSE_DATA is not set; it names the folder of the collections fr-labour" in shown


def test_a_script_without_a_quick_form_is_left_out(folder):
    long = Script(folder / "fine.py", "About fine.", Needs(quick=False))
    outcome = long.run({}, print, quick=True)
    assert (outcome.status, outcome.reason) == (Status.LEFT_OUT, "it has no quick form")


def test_figures_of_other_lines():
    record = {"split": "dev", "alpha": None, "R@10": 0.5, "equal": True, "marks": ["b"], "means": {"cjeu": {"all": 1}}}
    assert list(figures_of(record)) == [Figure("dev R@10", 0.5), Figure("dev means cjeu all", 1.0)]
    assert list(figures_of({"metric": "m", "ours": 1, "peer": "absent", "theirs": None, "ratio": None})) == [Figure("m", 1.0)]


def test_runs_of_other_machines_are_other_series():
    here, there = (Circumstances("2026-01-02 10:00 UTC", "abc", machine) for machine in ("two cores", "<16> cores"))
    runs = [Measurement("fine", False, 1.0, (Figure("m", 1.0, "p", 2.0, 2.0),), where) for where in (here, there)]
    drawn = plot(runs)
    assert "two cores" in drawn
    assert "&lt;16&gt; cores" in drawn
    assert plot([]).startswith("<?xml")
