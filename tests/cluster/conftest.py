"""A small corpus, and what tests of clusters share."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def articles():
    return EXAMPLES / "articles.csv"


@pytest.fixture
def store_folder(tmp_path):
    return tmp_path / "law.cluster"
