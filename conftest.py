"""What is collected, in which order, and the names that examples in docstrings share.

Where torch is not installed, nothing that imports it is collected: the tests of training, and modules with their examples.
LEXFUSE_TEST_ORDER=7 runs the tests in another order, the same one for the same number: no test may need another to come first.

An example in a docstring may use `snapshot`, an open snapshot of examples/articles.csv (French, words only), `folder`, an
empty folder (a `Path`), and without an import `np` and the names in `GIVEN`. Those of `Index` may use `index`, an index of the
same articles that they may change, and `lexfuse`; those of the service may use `registry`, an `IndexRegistry` of such an index.
"""

import ast
import gc
import importlib
import importlib.util
import os
import random
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from memory_folder import use_memory
from shared_compilation import one_compiles, share_compilation

# Hundreds of processes import the package and its tests: compiled once, they are kept for all, also where a container turns
# that off. The workers and the commands that tests start inherit it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # its pipelines would use the network
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # workers share the cores, and its threads take processor time while they wait
use_memory()

ROOT = Path(__file__).parent
SOURCE, TRAINING = ROOT / "src", ROOT / "tests" / "train" / "with_torch"
COMPILED = SOURCE / "lexfuse" / "web" / "timeline.py"  # if this module has been compiled, so have the others
NEEDED = frozenset({"torch", "transformers", "safetensors"})  # what the extra `train` installs
GIVEN = {  # what most examples are made of: names and their modules
    "Corpus": "lexfuse", "Document": "lexfuse", "Queries": "lexfuse", "Query": "lexfuse", "Qrels": "lexfuse", "Run": "lexfuse",
    "union_of": "lexfuse.fusion.run_union", "tiny_base": "lexfuse.train.models.tiny_model",
}  # fmt: skip
INDEXES = ("lexfuse.index.", "lexfuse.search.index_reader.", "lexfuse.cluster.cluster_index.")  # whose examples get an index
FRAMEWORKS = {  # which module of the bridges needs which package; the extra dev has them all
    "haystack": "haystack", "ir_datasets": "ir_datasets", "langchain": "langchain_core", "llama_index": "llama_index",
    "pyterrier": "pyterrier",
}  # fmt: skip
THERE = all(importlib.util.find_spec(name) is not None for name in NEEDED)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what cannot be imported; everything else is decided as usual."""
    if lacks_framework(collection_path):
        return True
    if THERE:
        return None
    in_training = collection_path == TRAINING or TRAINING in collection_path.parents
    return True if in_training or (collection_path.suffix == ".py" and imports_torch(collection_path)) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays until the end: the garbage collector need not look at it, neither now nor later."""
    gc.disable()
    try:
        with one_compiles(COMPILED):
            return (yield)
    finally:
        if "numba" in sys.modules:
            share_compilation()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _names_for_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give a doctest the names that it uses; other tests pay nothing."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    source = "".join(example.source for example in request.node.dtest.examples)
    names, own = request.getfixturevalue("doctest_namespace"), request.node.dtest.globs
    used = set(re.findall(r"\w+", source)) - set(own)
    own.update({name: getattr(importlib.import_module(GIVEN[name]), name) for name in sorted(used & GIVEN.keys())})
    if "np" in used:
        own["np"] = importlib.import_module("numpy")
    if "folder" in source:
        names["folder"] = request.getfixturevalue("tmp_path")
    if "snapshot" in source:
        from lexfuse.storage.folder_snapshot import open_snapshot

        names["snapshot"] = open_snapshot(request.getfixturevalue("example_index"))
    if request.node.name.startswith(INDEXES):
        import lexfuse

        names |= {"lexfuse": lexfuse, "index": lexfuse.Index(_copied(request))}
    if re.search(r"(?<!\.)\bregistry\b", source):
        from lexfuse.service.registry import IndexPlace, IndexRegistry

        names["registry"] = IndexRegistry.open([IndexPlace.of(_copied(request))])
    yield
    opened = [names.pop(name, None) for name in ("snapshot", "index", "registry")]
    for name in ("folder", "lexfuse"):
        names.pop(name, None)
    for one in opened:
        if one is not None:
            one.close()


def lacks_framework(path: Path) -> bool:
    """Whether a module of the bridges lacks its framework; never where all tests must run, so that its import fails there."""
    package = FRAMEWORKS.get(path.stem) if path.parent == SOURCE / "lexfuse" / "bridges" else None
    return package is not None and importlib.util.find_spec(package) is None and not os.environ.get("LEXFUSE_ALL_TESTS")


def _copied(request: pytest.FixtureRequest) -> Path:
    """A copy of the index of the examples, which an example may change."""
    copy = request.getfixturevalue("tmp_path_factory").mktemp("index") / "law.index"
    return Path(shutil.copytree(request.getfixturevalue("example_index"), copy))


@pytest.fixture(scope="session")
def example_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of examples/articles.csv, for examples that only read it."""
    from lexfuse.data.formats.file_format import read_corpus
    from lexfuse.storage.index_folder import IndexFolder

    folder = tmp_path_factory.mktemp("example") / "index"
    articles = [replace(document, language="fr") for document in read_corpus(ROOT / "examples" / "articles.csv")]
    IndexFolder.create(folder, documents=articles).close()
    return folder


def pytest_report_header() -> str | None:
    """The seed of the order, for whoever wants to run it again."""
    return f"order of tests: LEXFUSE_TEST_ORDER={_order()}" if _order() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the files, and the tests of each: those of one file stay together, since they share what is made for the file.

    Tests of a Ray cluster come first, so that one worker runs all of them: at the end of a run, idle workers take tests over, and
    four clusters that start at once block each other.
    """
    if _order():
        _shuffle(items)
    items.sort(key=lambda item: "ray_nodes" not in getattr(item, "fixturenames", ()))


def _shuffle(items: list[pytest.Item]) -> None:
    files = defaultdict(list)
    for item in items:
        files[item.path].append(item)
    chance = random.Random(_order())  # noqa: S311 -- repeatable, and the same in every worker
    groups = list(files.values())
    chance.shuffle(groups)
    for group in groups:
        chance.shuffle(group)
    items[:] = [item for group in groups for item in group]


def _order() -> str:
    return os.environ.get("LEXFUSE_TEST_ORDER", "")


@cache
def imports_torch(path: Path) -> bool:
    """Whether importing a module of the package imports torch, itself or by a module that it imports."""
    if SOURCE not in path.parents:
        return False
    return any(
        name.split(".")[0] in NEEDED or any(imports_torch(other) for other in files_of(name) if other != path)
        for name in imported_at_once(path)
    )


def imported_at_once(path: Path) -> set[str]:
    """The modules that are imported when a module is: not in its functions, not for the type checker alone."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def files_of(name: str) -> list[Path]:
    """The file of a module of the package; none for other modules and for what is no module."""
    stem = name.replace(".", "/")
    return [SOURCE / file for file in (f"{stem}.py", f"{stem}/__init__.py") if file in source_files()]


@cache
def source_files() -> frozenset[str]:
    """The modules of the package, by their paths below its folder."""
    return frozenset(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
