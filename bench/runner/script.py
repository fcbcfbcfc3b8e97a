"""The scripts of `bench/`, and what became of one that was run."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bench.runner.figures import Figure, figures_of, record_of
from bench.runner.needs import Needs, needs_of

ROOT = Path(__file__).parents[2]
_SHOWN = 6  # lines of what a script that failed wrote on standard error
_START = 'if __name__ == "__main__":'


class Status(StrEnum):
    """What became of a script."""

    MEASURED = "measured"
    LEFT_OUT = "left out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a script measured, or why it did not."""

    script: str
    status: Status
    figures: tuple[Figure, ...] = ()
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Script:
    """A benchmark: its name is that of its file."""

    path: Path
    title: str
    needs: Needs

    @classmethod
    def read(cls, path: Path) -> Script:
        """The script of a file: the first line of its docstring is the title."""
        words = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        return cls(path, words.partition("\n")[0], needs_of(path))

    @property
    def name(self) -> str:
        """The name of the file without its suffix."""
        return self.path.stem

    def hindrances(self, environment: Mapping[str, str], *, quick: bool) -> list[str]:
        """Why the script cannot run here; empty if it can."""
        brief = ["it has no quick form"] if quick and not self.needs.quick else []
        return [*brief, *self.needs.missing(environment)]

    def run(self, environment: Mapping[str, str], show: Callable[[Figure], None], *, quick: bool) -> Outcome:
        """Run the script; every figure is shown as soon as it is measured. A script without figures has failed."""
        if hindrances := self.hindrances(environment, quick=quick):
            return Outcome(self.name, Status.LEFT_OUT, reason="; ".join(hindrances))
        options = [*self.needs.command_line(environment), "--json", *(["--quick"] if quick else [])]
        found: list[Figure] = []
        started = time.perf_counter()
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            command = [sys.executable, str(self.path), *options]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(environment)) as process:
                for line in process.stdout or ():
                    record = record_of(line)
                    if record is None:
                        errors.write(line)
                    for figure in figures_of(record or {}):
                        found.append(figure)
                        show(figure)
            errors.seek(0)
            last = [line.rstrip() for line in errors if line.strip()][-_SHOWN:]
        seconds = time.perf_counter() - started
        if process.returncode:
            reason = "\n".join([f"it ended with status {process.returncode}:", *last])
            return Outcome(self.name, Status.FAILED, tuple(found), reason, seconds)
        if not found:
            return Outcome(self.name, Status.FAILED, reason="it ended with status 0 but measured nothing", seconds=seconds)
        return Outcome(self.name, Status.MEASURED, tuple(found), seconds=seconds)


def scripts(folder: Path = ROOT / "bench") -> dict[str, Script]:
    """Every script of a folder by its name; modules that cannot be run are none."""
    paths = [path for path in sorted(folder.glob("*.py")) if path.name != "__main__.py" and _START in path.read_text("utf-8")]
    return {path.stem: Script.read(path) for path in paths}
