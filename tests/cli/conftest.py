"""A small library for tests that run every command, and the programs that run them."""

import importlib.util
from pathlib import Path

import pytest


def _module(name):
    specification = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def commands():
    """An example of every command: tests/cli/commands.py."""
    return _module("commands")


@pytest.fixture(scope="session")
def run_jobs():
    """Runs commands as processes of their own: tests/cli/launcher.py."""
    return _module("launcher").run_jobs


@pytest.fixture(scope="session")
def library(commands, tmp_path_factory):
    """A folder with files to import, ask and evaluate, and an index."""
    folder = tmp_path_factory.mktemp("bibliothèque")
    commands.write_library(folder)
    return folder
