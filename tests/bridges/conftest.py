"""An index that the bridges search, and the frameworks that they are tested with."""

import datetime
import importlib
import importlib.util
import os
from pathlib import Path

import pytest

import lexfuse

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = ("retard de prêt", "combien coûte la cotisation", "article L. 4", "horaires")


@pytest.fixture(scope="session")
def questions():
    return QUESTIONS


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """The example articles with words, vectors, versions in time, and a field that only they have."""
    corpus = [
        lexfuse.Document("lib-0", text="Le prêt coûte dix francs.", language="fr", valid_to=datetime.date(2020, 1, 1)),
        *lexfuse.read_corpus(EXAMPLES / "articles.csv"),
        lexfuse.Document("lib-9", text="Prêt entre bibliothèques.", language="fr", extra={"fee": 3, "rank": "first"}),
    ]
    folder = tmp_path_factory.mktemp("bridges") / "law.index"
    with lexfuse.Index.build(folder, corpus, channels=["dense"]) as built:
        yield built


@pytest.fixture(scope="session")
def bridge():
    """Imports a module of the bridges; where its framework is missing the test is skipped, but not where all tests must run."""

    def load(name, package):
        if importlib.util.find_spec(package) is None:
            if os.environ.get("LEXFUSE_ALL_TESTS"):
                pytest.fail(f"{package} is not installed, and all tests must run; `make install` installs it")
            pytest.skip(f"{package} is not installed; the extra dev has it")
        return importlib.import_module(f"lexfuse.bridges.{name}")

    return load
