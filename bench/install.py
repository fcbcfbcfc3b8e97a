"""What an installation takes: wheels, dependencies, bytes on disk, times of import and help, and the way to the first search.

    python bench/install.py [--quick] [--json] [--before FOLDER]

Builds the wheels of this checkout and installs them into a new environment, with the dependencies at the versions of its lock
file: first the engine with its dependencies, then the models. "import" and "help" are processor seconds of `import lexfuse` and
`lexfuse --help` there, the median of seven runs (--quick: three) after one that compiles the bytecode. "first search" is wall
clock from the start of `pip install` of the two wheels to the end of a search that fuses words and vectors on
examples/articles.csv: the steps of README.md. It depends on the network and on pip's cache.

--before FOLDER is another checkout of LexFuse, whose wheel is built and measured in the same way, with its dependencies; `theirs`
are then its figures, and a ratio above 1 means that this checkout is smaller or faster. LEXFUSE_BENCH_BEFORE names it for all
benchmarks. Bytes are MB of 1,000,000 bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

from runner.needs import Needs

NEEDS = Needs(
    packages=("hatchling", "packaging"),
    optional={"LEXFUSE_BENCH_BEFORE": "another checkout of LexFuse, to compare with"},
)

ROOT = Path(__file__).parents[1]
MB = 1_000_000
QUESTION = "rendre un livre trop tard"


def call(*command: object, cwd: Path = ROOT) -> float:
    """Run a command that must succeed; its processor seconds."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, env=kept, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wheel_of(project: Path, out: Path) -> Path:
    """The wheel of a project."""
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=project)
    [wheel] = out.glob("*.whl")
    return wheel


def size(folder: Path) -> float:
    """Megabytes of the files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) / MB


class Environment:
    """A new virtual environment, which the pip of this one fills."""

    def __init__(self, folder: Path) -> None:
        """Make it without pip, so that it has what is installed and nothing else."""
        venv.create(folder)
        self.bin = folder / "bin"
        [self.packages] = folder.glob("lib/python*/site-packages")

    def install(self, *arguments: object) -> float:
        """Install with pip; the megabytes that this adds."""
        before = size(self.packages)
        call(sys.executable, "-m", "pip", "--python", self.bin / "python", "install", "--quiet", *arguments)
        return size(self.packages) - before

    def seconds(self, command: Sequence[object], repeats: int) -> float:
        """The median of the processor seconds of a command, after one run that does not count."""
        return statistics.median([call(self.bin / command[0], *command[1:]) for _ in range(repeats + 1)][1:])


def measured(checkout: Path, home: Path, repeats: int) -> dict[str, float]:
    """The figures of a checkout."""
    home.mkdir()
    wheels = [wheel_of(checkout, home / "engine")]
    models = checkout / "packages" / "lexfuse-models-fr"
    if models.is_dir():
        wheels.append(wheel_of(models, home / "models"))
    script = ROOT / "scripts" / "locked_requirements.py"
    locked = subprocess.run([sys.executable, script, "--of", checkout], capture_output=True, text=True, check=True).stdout
    (home / "requirements.txt").write_text(locked, "utf-8")
    found = {"wheel of the engine, MB": wheels[0].stat().st_size / MB}
    if models.is_dir():
        found["wheel of the models, MB"] = wheels[1].stat().st_size / MB
    found["dependencies of the engine"] = float(
        len({line.partition("==")[0] for line in locked.splitlines() if "==" in line and line[0] != " "})
    )
    start = time.perf_counter()
    environment = Environment(home / "environment")
    found["dependencies installed, MB"] = environment.install("--require-hashes", "--no-deps", "-r", home / "requirements.txt")
    found["engine installed, MB"] = environment.install("--no-deps", wheels[0])
    if models.is_dir():
        found["models installed, MB"] = environment.install("--no-deps", wheels[1])
    law = home / "law.index"
    call(environment.bin / "lexfuse", "index", ROOT / "examples" / "articles.csv", law, "--channels", "dense")
    call(environment.bin / "lexfuse", "search", law, QUESTION, "--channels", "bm25,dense")
    found["first search, s"] = time.perf_counter() - start
    found["import lexfuse, processor s"] = environment.seconds(["python", "-c", "import lexfuse"], repeats)
    found["lexfuse --help, processor s"] = environment.seconds(["lexfuse", "--help"], repeats)
    return found


def main() -> None:
    """Measure and print."""
    NEEDS.check()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions of what is timed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--before", type=Path, default=os.environ.get("LEXFUSE_BENCH_BEFORE"), help="another checkout")
    arguments = parser.parse_args()
    repeats = 3 if arguments.quick else 7
    with tempfile.TemporaryDirectory() as folder:
        ours = measured(ROOT, Path(folder, "now"), repeats)
        theirs = measured(Path(arguments.before), Path(folder, "before"), repeats) if arguments.before else {}
    for metric, value in ours.items():
        other = theirs.get(metric)
        figure = {
            "metric": metric,
            "ours": round(value, 3),
            "peer": "before" if other is not None else None,
            "theirs": None if other is None else round(other, 3),
            "ratio": None if other is None else round(other / value, 3),
        }
        before = "" if other is None else f"{other:>10.3f}"
        print(json.dumps(figure) if arguments.json else f"{metric:<32} {value:>10.3f} {before}")


if __name__ == "__main__":
    main()
