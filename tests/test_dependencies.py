"""The core install works without the extras, and what needs one names it."""

import importlib
import os
import re
import shutil
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from launcher import lexfuse

from lexfuse.deadline import Deadline
from lexfuse.dependencies import BRIDGES, Extra
from lexfuse.errors import MissingDependencyError
from lexfuse.service.uploads import UploadReader

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = sorted({package for extra in Extra for package in extra.packages} | {"starlette", "multipart"})


def declared(requirements):
    """Distributions that requirements name, with those of the extras of LexFuse among them."""
    names = set()
    for requirement in requirements:
        if extras := re.match(r"lexfuse\[(.+)\]", requirement):
            for extra in extras[1].split(","):
                names |= declared(PROJECT["optional-dependencies"][extra])
        else:
            names.add(re.split(r"[^\w.-]", requirement)[0].lower())
    return names


def distribution(package):
    """The distribution that has a package; one that is not installed here has the name of its package."""
    return installed().get(package, [package])[0].lower().replace("_", "-")


@cache
def installed():
    """The distributions of every package here; reading them all takes a second."""
    return packages_distributions()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """The examples, and an index of them that was built without the extras."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "judgment.pdf").write_bytes(b"%PDF-1.7")
    (folder / "articles.parquet").write_bytes(b"PAR1")
    for arguments in ("import examples/articles.csv library", "index library library.index --channels dense,splade"):
        assert run_core(folder, arguments).returncode == 0
    return folder


def run_core(folder, arguments):
    """Run a command in a process that cannot import the packages of the extras."""
    return lexfuse(*arguments.split(), cwd=folder, without=PACKAGES)


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "search library.index prêt --explain",
        "search library.index prêt --channels bm25,dense --fusion tm2c2",
        "similar library.index lib-4",
        "run library.index examples/questions.csv -o words.trec",
        "fuse examples/words.trec examples/vectors.trec -o fused.trec",
        "evaluate examples/test.tsv examples/words.trec",
        "compare examples/test.tsv examples/words.trec examples/vectors.trec --baseline words",
        "tune runs examples/test.tsv examples/words.trec examples/vectors.trec --folds 3",
        "advise library.index examples/questions.csv examples/test.tsv --folds 3 -o advice",
        "keys add editors --scope write",
        "fetch fr-legal-dense",
    ],
)
def test_commands_of_the_core(workplace, arguments):
    done = run_core(workplace, arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        ("serve library.index", "serve"),
        ("demo", "serve"),
        ("mcp library.index", "mcp"),
        ("similar library.index judgment.pdf", "pdf"),
        ("import articles.parquet other", "parquet"),
        ("fetch organisation/model", "hub"),
        ("index library other.index --channels dense --model organisation/model", "hub"),
        ("train dense fr-legal-dense library model", "train"),
        ("train static library vectors", "static"),
        ("export postgres postgresql://localhost/law library.index", "postgres"),
        ("search postgresql://localhost/law prêt", "postgres"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_installs_it(workplace, arguments, extra):
    done = run_core(workplace, arguments)
    assert done.returncode == MissingDependencyError.exit_code, done.stderr
    assert f'pip install "lexfuse[{extra}]"' in " ".join(done.stderr.split())


@pytest.mark.parametrize("extra", Extra)
def test_the_packages_of_an_extra_are_those_of_the_project_file(extra):
    assert {distribution(package) for package in extra.packages} == declared(PROJECT["optional-dependencies"][extra.value])


def test_all_is_everything_but_training_and_bridges():
    extras = set(Extra) - {Extra.MTEB, Extra.TRAIN} - BRIDGES
    assert declared(["lexfuse[all]"]) == set().union(*(declared([f"lexfuse[{extra}]"]) for extra in extras))


def test_bridges_is_every_bridge():
    assert declared(["lexfuse[bridges]"]) == set().union(*(declared([f"lexfuse[{extra}]"]) for extra in BRIDGES))


@pytest.mark.parametrize("extra", sorted(BRIDGES))
def test_a_bridge_names_the_extra_that_it_needs(extra, monkeypatch):
    module = f"lexfuse.bridges.{extra.replace('-', '_')}"
    for name in [module, *extra.packages]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    for package in extra.packages:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf'pip install "lexfuse\[{extra}\]"'):
        importlib.import_module(module)


def test_the_core_has_no_package_of_an_extra():
    assert not declared(PROJECT["dependencies"]) & declared(["lexfuse[all,bridges,train]"])


def test_a_pdf_sent_to_a_service_without_the_extra(monkeypatch, tmp_path):
    code = f"import sys\nsys.modules |= dict.fromkeys({PACKAGES})\nfrom lexfuse.service.upload_child import main\nmain()"
    (tmp_path / "child_without_extra.py").write_text(code, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))
    monkeypatch.setattr("lexfuse.service.uploads._MODULE", "child_without_extra")
    reader = UploadReader()
    try:
        with pytest.raises(MissingDependencyError, match=r'pip install "lexfuse\[pdf\]"'):
            reader.read(b"%PDF-1.7", "judgment.pdf", Deadline(600))
        assert reader.read(b"The appeal is dismissed.", "judgment.txt", Deadline(600)).text
    finally:
        reader.close()
