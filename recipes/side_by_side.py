"""All stages of the French models, the seeds of FUSE and the rankings at once on one GPU, each as soon as its input is there.

    python recipes/side_by_side.py material citizen work data bm25.trec --teacher MINILM

The arguments are those of ``french_citizen.py``, ``french_seeds.py``, ``french_scores.py`` and ``citizen_rankings.py``;
``data`` holds the collections fr-labour, fr-citizen and fr-public. Every branch is a process with its log in ``work/logs``; the
materials are read once. ``work/scores`` gets the measures of the seeds, ``work/rankings`` the rankings of the models,
``work/fr-legal-dense`` and ``work/fr-legal-splade`` are what ships. A branch that fails ends those that wait for it. The same
command resumes.
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
import french_scores
import french_seeds
from citizen_material import CitizenMaterial
from french_material import Material

from lexfuse.data.formats.beir import read_collection
from lexfuse.data.formats.trec_run import read_run

FAILED = "failed"  # file in the folder of logs
COLLECTIONS = ("fr-labour", "fr-citizen", "fr-public:fr-labour")
RANKED = ("dense", "splade", "colbert")
WAIT = 0.3  # seconds between two looks for a file


class Branches:
    """Processes that wait for the files of each other."""

    def __init__(self, work: Path) -> None:
        """Keep the logs in ``work``."""
        self.work, self.logs = work, work / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        (self.logs / FAILED).unlink(missing_ok=True)

    def until(self, *names: str) -> None:
        """Wait for files of ``work``; give up if a branch has failed."""
        for name in names:
            while not (self.work / name).exists():
                if (self.logs / FAILED).exists():
                    raise SystemExit(f"another branch has failed before there was {name!r}")
                time.sleep(WAIT)

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
            (self.logs / FAILED).touch()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)


def plan(
    branches: Branches, recipe: french_citizen.Recipe, seeds: french_seeds.Seeds, data: Path, first: Path, teacher: Path
) -> dict[str, Callable[[], None]]:
    """What each branch does."""
    work, until = branches.work, branches.until

    def models() -> None:
        recipe.backbone()
        recipe.teach(teacher)
        recipe.pairs()
        recipe.dense()

    def after(needed: tuple[str, ...], *steps: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            until(*needed)
            for step in steps:
                step()

        return run

    def seeded(kind: str) -> Callable[[], None]:
        def run() -> None:
            until("paired", french_seeds.kinds()[kind].paired)
            seeds.train([kind])
            out = work / "scores" / kind
            out.mkdir(parents=True, exist_ok=True)
            french_scores.Scorer(read_collection(data / "fr-labour"), read_run(first), work, out).seeds([kind])

        return run

    def ranked() -> None:
        out = work / "rankings"
        out.mkdir(exist_ok=True)
        for kind in RANKED:
            until(kind)
            for given in COLLECTIONS:
                own, _, other = given.partition(":")
                collection = citizen_rankings.read(f"{data / own}:{data / other}" if other else str(data / own))
                citizen_rankings.rank(collection, kind, work / kind, out / f"{own}.{kind}.npz")

    def shipped() -> None:
        if not (work / "fr-legal-splade").exists():
            recipe.ship()

    questions = recipe.hard_questions
    recipe.hard_questions = lambda: (until("dense-first"), questions())[1]
    return {
        "models": models,
        "splade": after(("backbone",), recipe.splade),
        "splade-table": after(("splade-paired", "dense-first"), recipe.splade_table),
        "colbert": after(("paired",), recipe.colbert),
        "cross": after(("paired",), recipe.cross_pairs, lambda: until("dense"), recipe.cross),
        **{f"seeds-{kind}": seeded(kind) for kind in french_scores.SOURCES},
        "rankings": ranked,
        "ship": after(("dense/dev.json", "splade/dev.json"), shipped),
    }


def main() -> None:
    """Run all branches."""
    parser = argparse.ArgumentParser(description="All stages of the French models at once on one GPU")
    for name in ("material", "citizen", "work", "data", "first"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    options = parser.parse_args()
    for given in (options.material, options.citizen, options.work / "start", options.data / "fr-labour", options.teacher):
        if not given.exists():
            parser.error(f"there is no {str(given)!r}")
    (options.work / french_seeds.FOLDER).mkdir(parents=True, exist_ok=True)
    labour, branches = Material.read(options.material), Branches(options.work)
    recipe = french_citizen.Recipe(labour, CitizenMaterial.read(options.citizen), options.work)
    seeds = french_seeds.Seeds(labour, options.work)
    sys.exit(min(1, branches.run(plan(branches, recipe, seeds, options.data, options.first, options.teacher))))


if __name__ == "__main__":
    main()
