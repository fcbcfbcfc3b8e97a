"""A bounded run of the fuzzer over all readers: the same inputs every time, as many as a suite has time for."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lexfuse

HERE = Path(__file__).parent / "fixtures"
RUNS = 6_000  # twice as many reach 3 in 100 more branches, for 2.3 times the processor time; `make fuzz` runs for ten minutes
LONGEST = 1024  # bytes; tests/growth has long texts
SEED = 19


def test_no_reader_fails_on_what_the_fuzzer_makes(tmp_path):
    if importlib.util.find_spec("atheris") is None:
        assert not os.environ.get("LEXFUSE_ALL_TESTS"), "atheris is not installed; `make install` installs it on Linux x86_64"
        pytest.skip("atheris is not installed; it has wheels for Linux x86_64 alone")
    options = [f"-runs={RUNS}", f"-seed={SEED}", f"-max_len={LONGEST}", "-rss_limit_mb=4096", f"-artifact_prefix={tmp_path}/"]
    environment = os.environ | {"PYTHONPATH": str(Path(lexfuse.__file__).parents[1])}
    command = [sys.executable, str(HERE / "harness.py"), *options]
    done = subprocess.run(command, capture_output=True, env=environment, check=False, cwd=tmp_path)
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    kept = [f"{path.name}: {path.read_bytes()!r}" for path in tmp_path.glob("crash-*")]
    assert done.returncode == 0, "\n".join([output[-6000:], *kept])
    assert f"Done {RUNS} runs" in output
