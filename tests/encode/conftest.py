"""Small random-weight models for the tests of encoders, and a cache folder of each test's own."""

import importlib.util
from pathlib import Path

import pytest

_FILE = Path(__file__).parent.parent / "references" / "tiny.py"


@pytest.fixture(scope="session")
def tiny():
    """The maker of small models: tests/references/tiny.py."""
    specification = importlib.util.spec_from_file_location("tiny", _FILE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache folder that starts empty."""
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
