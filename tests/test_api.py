"""The public names of the package: what a program imports, completes and reads help on."""

import ast
import pydoc
import shutil
import subprocess
import sys
from pathlib import Path

import lexfuse

SOURCE = Path(lexfuse.__file__)
EXAMPLES = Path(__file__).parents[1] / "examples"


def names_for_type_checkers():
    """The names that the block for type checkers imports, with their homes."""
    block = next(node for node in ast.parse(SOURCE.read_text("utf-8")).body if isinstance(node, ast.If))
    return {alias.asname: f"{node.module}.{alias.name}" for node in block.body for alias in node.names}


def test_type_checkers_and_the_interpreter_see_the_same_names():
    typed = names_for_type_checkers()
    assert sorted(typed) == sorted(lexfuse.__all__) == dir(lexfuse)
    for name, home in typed.items():
        value = getattr(lexfuse, name)
        assert f"{value.__module__}.{value.__name__}" == home


def test_every_public_name_has_a_docstring():
    assert [name for name in lexfuse.__all__ if not getattr(lexfuse, name).__doc__] == []


def test_help_shows_the_program():
    shown = pydoc.render_doc(lexfuse, renderer=pydoc.plaintext)
    assert "lf.Index.build" in shown


def test_an_unknown_name_is_an_attribute_error():
    done = subprocess.run([sys.executable, "-c", "import lexfuse; lexfuse.Indx"], capture_output=True, text=True, check=False)
    assert "module 'lexfuse' has no attribute 'Indx'" in done.stderr


def test_the_package_is_typed():
    assert SOURCE.with_name("py.typed").is_file()


PROGRAM = """
import lexfuse as lf

index = lf.Index.build("law.index", lf.read_corpus("library"), channels=["dense", "splade"])
for hit in index.search("rendre un livre trop tard", channels=["bm25", "dense"], fusion=lf.TM2C2(alpha=0.8), k=10):
    print(hit.rank, hit.title, hit.score, hit.snippet, hit.explain())
print(index.similar(lf.read_text("judgment.txt"), k=10).hits[0].title)
queries, dev = lf.read_queries("library"), lf.read_qrels("examples/test.tsv")
run = index.run(queries, profile="hybrid", depth=1000)
print(lf.evaluate(dev, run, "nDCG@10 R@100"))
fused = lf.fuse([run, lf.read_run("examples/words.trec")], lf.RRF(60))
print(lf.compare(dev, [run, fused], "nDCG@10", baseline=run.name))
advice = lf.advise(index, queries, dev, folds=3)
advice.spec.save("profile.toml")
advice.write_report("report")
print(index.search("rendre un livre trop tard", profile=lf.SearchSpec.read("profile.toml"))[0].title)
index.close()
"""


def test_the_program_of_the_documentation_runs(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    articles = [f"{EXAMPLES / name}" for name in ("articles.csv", "questions.csv", "test.tsv")]
    command = [Path(sys.executable).parent / "lexfuse", "import", articles[0], "library"]
    subprocess.run([*command, "--queries", articles[1], "--qrels", articles[2]], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "judgment.txt").write_text("Le lecteur qui rend un livre en retard est suspendu de prêt.", "utf-8")
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Code des bibliothèques, art. L. 4" in done.stdout
    assert {path.name for path in (tmp_path / "report").iterdir()} == {"report.html", "advice.json", "profile.toml"}
