"""The README's commands work as they stand there."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launcher import lexfuse

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[str]:
    lines = [line.split(" #")[0].strip() for block in blocks("console") for line in block.splitlines()]
    return [line for line in lines if line]


@pytest.fixture
def checkout(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_first_screen_has_the_two_commands_and_a_picture():
    first_screen = "\n".join(README.splitlines()[:25])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    picture = re.search(r"!\[.+\]\((.+?)\)", first_screen)
    assert picture
    assert (ROOT / picture[1]).exists()


def test_lexfuse_commands_run_in_order(checkout):
    lines = [line for line in commands() if line.startswith("lexfuse ")]
    assert len(lines) >= 5
    for line in lines:
        done = lexfuse(*shlex.split(line)[1:], cwd=checkout)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout.strip(), line
    asked = ["examples/declaration/judgements.tsv", "words.trec", "meaning.trec", "hybrid.trec", "-m", "nDCG@10 RR@10", "--json"]
    done = lexfuse("evaluate", *asked, cwd=checkout)
    measured = [[f"{mean:.3f}" for mean in means.values()] for means in json.loads(done.stdout).values()]
    assert re.findall(r"^\| .*\(`.*`\) \| \W*([\d.]+)\W* \| \W*([\d.]+)\W* \|$", README, re.MULTILINE) == [*map(tuple, measured)]
    assert max(measured) == measured[-1]  # the hybrid


def test_make_commands_are_targets():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    asked = [line.split()[1] for line in commands() if line.startswith("make ")]
    assert asked == ["demo", "test", "wheels"]
    assert set(asked) <= set(targets)


def test_python_example_runs(checkout):
    for code in blocks("python"):
        done = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("1 lib-3 ")


def test_links_point_at_files():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
