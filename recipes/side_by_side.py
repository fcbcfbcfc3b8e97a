"""All stages of the French models and their rankings at once on one GPU, each as soon as its input is there.

    python recipes/side_by_side.py material citizen work data

The first arguments are those of ``french_citizen.py``; ``data`` holds the collections fr-labour, fr-citizen and fr-public. Every
branch is a process with its log in ``work/logs``; the materials are read once. ``work/rankings`` gets the rankings of the models.
``work/fr-legal-dense`` and ``work/fr-legal-splade`` are what ships. A branch that fails ends those that wait for what it makes,
and no others. The same command resumes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import citizen_rankings
import french_citizen
from citizen_material import CitizenMaterial
from french_material import Material

FAILED = ".failed"  # ending of a file in the folder of logs
COLLECTIONS = ("fr-labour", "fr-citizen", "fr-public:fr-labour")
RANKED = {"dense": "dense", "splade": "splade", "teacher": "dense", "colbert": "colbert"}  # models and their kinds
MAKERS = {
    **dict.fromkeys(("paired", "teacher", "dense"), "models"),
    "splade": "splade",
    "colbert": "others",
}  # the branch of each file that others wait for
WAIT = 0.3  # seconds between two looks for a file


class Branches:
    """Processes that wait for the files of each other."""

    def __init__(self, work: Path, makers: Mapping[str, str]) -> None:
        """Keep the logs in ``work``; ``makers`` names the branch that makes a file which others wait for."""
        self.work, self.makers, self.logs = work, makers, work / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        for failed in self.logs.glob(f"*{FAILED}"):
            failed.unlink()

    def until(self, *names: str) -> None:
        """Wait for files of ``work``; give up if the branch that makes one has failed."""
        for name in names:
            maker = self.makers[name]
            while not (self.work / name).exists():
                if (self.logs / f"{maker}{FAILED}").exists():
                    raise SystemExit(f"{maker!r} has failed before there was {name!r}")
                time.sleep(WAIT)

    def after(self, needed: tuple[str, ...], *steps: Callable[[], object]) -> Callable[[], None]:
        """Steps that begin when files of ``work`` are there."""

        def run() -> None:
            self.until(*needed)
            for step in steps:
                step()

        return run

    def run(self, branches: Mapping[str, Callable[[], None]]) -> int:
        """The number of branches that failed."""
        children = {self._started(name, run): name for name, run in branches.items()}
        failed = 0
        while children:
            child, status = os.wait()
            name = children.pop(child)
            failed += status != 0
            print(f"{name}: {'failed, see its log' if status else 'done'}", flush=True)
        return failed

    def _started(self, name: str, run: Callable[[], None]) -> int:
        sys.stdout.flush()
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            with (self.logs / f"{name}.log").open("a", encoding="utf-8") as log:
                os.dup2(log.fileno(), sys.stdout.fileno())
                os.dup2(log.fileno(), sys.stderr.fileno())
            run()
            status = 0
        except BaseException:
            traceback.print_exc()
            (self.logs / f"{name}{FAILED}").touch()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)


def plan(branches: Branches, recipe: french_citizen.Recipe, data: Path) -> dict[str, Callable[[], None]]:
    """What each branch does. The dense models come first, the others share the GPU as it becomes free."""
    work, until, after = branches.work, branches.until, branches.after

    def models() -> None:
        recipe.pairs()
        recipe.teacher()
        recipe.dense()

    def ranked() -> None:
        out = work / "rankings"
        out.mkdir(exist_ok=True)
        for name, kind in RANKED.items():
            until(name)
            for given in COLLECTIONS:
                own, _, other = given.partition(":")
                collection = citizen_rankings.read(f"{data / own}:{data / other}" if other else str(data / own))
                citizen_rankings.rank(collection, kind, work / name, out / f"{own}.{name}.npz")

    def shipped() -> None:
        if not (work / "fr-legal-splade").exists():
            recipe.ship()

    return {
        "models": models,
        "splade": after(("teacher",), recipe.splade),
        "others": after(("splade", "dense"), recipe.transfer, recipe.cross, recipe.colbert),
        "rankings": ranked,
        "ship": after(("dense", "splade"), shipped),
    }


def main() -> None:
    """Run all branches."""
    parser = argparse.ArgumentParser(description="All stages of the French models at once on one GPU")
    for name in ("material", "citizen", "work", "data"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    starts = (options.work / name for name in ("start", "dense-start", "splade-start"))
    for given in (options.material, options.citizen, *starts, options.data / "fr-labour"):
        if not given.exists():
            parser.error(f"there is no {str(given)!r}")
    branches = Branches(options.work, MAKERS)
    recipe = french_citizen.Recipe(Material.read(options.material), CitizenMaterial.read(options.citizen), options.work)
    sys.exit(min(1, branches.run(plan(branches, recipe, options.data))))


if __name__ == "__main__":
    main()
