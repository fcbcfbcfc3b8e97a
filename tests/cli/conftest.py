"""A small library for tests that run every command, and the programs that run them."""

import importlib.util
from pathlib import Path

import launcher
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def module_at():
    """Imports a file that is no test."""

    def imported(path):
        specification = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module

    return imported


@pytest.fixture(scope="session")
def commands(module_at):
    """An example of every command: tests/cli/commands.py."""
    return module_at(HERE / "commands.py")


@pytest.fixture(scope="session")
def run_jobs():
    """Runs commands as processes of their own: tests/processes/launcher.py."""
    return launcher.run_jobs


@pytest.fixture(scope="session")
def tiny(module_at):
    """The maker of small models: tests/references/tiny.py."""
    return module_at(HERE.parent / "references" / "tiny.py")


@pytest.fixture(scope="session")
def library(commands, tiny, tmp_path_factory):
    """A folder with files to import, ask and evaluate, an index, and a small SPLADE model."""
    folder = tmp_path_factory.mktemp("bibliothèque")
    commands.write_library(folder)
    tiny.folder(folder / "splade", "bert", head="mlm")
    return folder
