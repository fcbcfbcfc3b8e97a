"""What a benchmark needs: collections, packages, programs, namespaces, and inputs that are not in the repository.

Every script has a constant `NEEDS` and calls `NEEDS.check()` first: it prints what the script needs and stops with all that is
missing. `python -m bench` reads the constant without importing the script, so the values are literals.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

DATA = "LEXFUSE_DATA"
ENCLOSED = "LEXFUSE_BENCH_ENCLOSED"  # set in the namespaces, where a script starts again: all was checked before


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a script needs, and how it is called when all scripts run.

    `inputs` and `optional` map environment variables to what they name. A script takes an input as an argument: `arguments` has
    its variable in braces. What is optional adds figures. Of the packages in `one_of`, one is enough. Models are downloaded if
    they are not on this machine. A script that is not `quick` has no shorter form.

    >>> Needs(collections=("fr-labour",), packages=("ranx",)).lines()
    ['needs collections in LEXFUSE_DATA: fr-labour', 'needs packages: ranx']
    """

    collections: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    namespaces: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    quick: bool = True

    def lines(self) -> list[str]:
        """What is needed, a line a kind.

        >>> Needs().lines()
        ['needs nothing but the package']
        """
        found = [
            self.collections and f"collections in {DATA}: {', '.join(self.collections)}",
            self.packages and f"packages: {', '.join(self.packages)}",
            self.one_of and f"one of the packages: {', '.join(self.one_of)}",
            self.programs and f"programs: {', '.join(self.programs)}",
            self.models and f"models, downloaded if they are not on this machine: {', '.join(self.models)}",
            self.namespaces and "permission to create namespaces: root, or unprivileged user namespaces",
            *(f"{variable}: {what}" for variable, what in self.inputs.items()),
        ]
        required = [line for line in found if line] or ["nothing but the package"]
        optional = [f"also uses {variable}, if it is set: {what}" for variable, what in self.optional.items()]
        return [*(f"needs {line}" for line in required), *optional]

    def missing(self, environment: Mapping[str, str]) -> list[str]:
        """What is not there, and what to do.

        >>> Needs(inputs={"LEXFUSE_BENCH_INDEX": "an index with a dense channel"}).missing({})
        ['LEXFUSE_BENCH_INDEX is not set; it names an index with a dense channel']
        """
        unset = {variable: what for variable, what in self.inputs.items() if not environment.get(variable)}
        return [*(f"{one} is not set; it names {what}" for one, what in unset.items()), *self._missing_here(environment)]

    def command_line(self, environment: Mapping[str, str]) -> list[str]:
        """The arguments of the script when all scripts run.

        >>> Needs(inputs={"CLONE": "a clone"}, arguments=("--law", "{CLONE}")).command_line({"CLONE": "laws"})
        ['--law', 'laws']
        """
        values = {variable: environment[variable] for variable in self.inputs}
        return [argument.format_map(values) for argument in self.arguments]

    def on(self, collections: Sequence[str] | None) -> Needs:
        """The same script on the collections that its arguments name; on its usual ones if they name none.

        >>> Needs(collections=("fr-labour", "cjeu")).on(["cjeu"]).collections
        ('cjeu',)
        """
        return replace(self, collections=tuple(collections)) if collections else self

    def check(self) -> None:
        """Print what the script needs; stop with all that is missing. Inputs are arguments, which the script checks itself."""
        if os.environ.get(ENCLOSED):
            return
        print("\n".join(self.lines()), file=sys.stderr)
        if missing := self._missing_here(os.environ):
            raise SystemExit("\n".join(["nothing was measured:", *missing]))

    def _missing_here(self, environment: Mapping[str, str]) -> list[str]:
        found = []
        if self.collections:
            found += missing_collections(environment.get(DATA), self.collections)
        if absent := [name for name in self.packages if importlib.util.find_spec(name) is None]:
            found.append(f"no package {', '.join(absent)}; `make install` installs the packages that benchmarks compare with")
        if self.one_of and all(importlib.util.find_spec(name) is None for name in self.one_of):
            found.append(f"none of the packages {', '.join(self.one_of)} is installed; install one to compare with it")
        if absent := [name for name in self.programs if shutil.which(name) is None]:
            found.append(f"no program {', '.join(absent)} on the path")
        if self.namespaces and (reason := namespace_problem()):
            found.append(reason)
        return found


def missing_collections(folder: str | None, names: tuple[str, ...]) -> list[str]:
    """Why collections cannot be read from a folder.

    >>> missing_collections(None, ("scifact",))
    ['LEXFUSE_DATA is not set; it names the folder of the collections scifact']
    """
    if not folder:
        return [f"{DATA} is not set; it names the folder of the collections {', '.join(names)}"]
    absent = [name for name in names if not Path(folder, name).is_dir()]
    return [f"no collection {', '.join(absent)} in {folder}, which {DATA} names"] if absent else []


def namespace_problem() -> str:
    """Why a script cannot run in separate namespaces; empty if it can."""
    if absent := [name for name in ("unshare", "nsenter", "ip") if shutil.which(name) is None]:
        return f"no program {', '.join(absent)}; install util-linux and iproute2"
    if any(not subprocess.run(["unshare", *more, "-n", "true"], stderr=subprocess.DEVNULL).returncode for more in ([], ["-r"])):
        return ""
    return "no permission to create namespaces; run as root, or allow unprivileged user namespaces"


def needs_of(script: Path) -> Needs:
    """The constant `NEEDS` of a script, which is not imported: its peers may be missing."""
    for node in ast.parse(script.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NEEDS" and isinstance(node.value, ast.Call):
            return Needs(**{str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.value.keywords})
    raise ValueError(f"{script.name} has no constant NEEDS = Needs(...); see bench/runner/needs.py")
