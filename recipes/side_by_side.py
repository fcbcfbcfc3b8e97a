"""All stages of the French models, the seeds of FUSE and the rankings at once on one GPU, each as soon as its input is there.

    python recipes/side_by_side.py material citizen work data bm25.trec --teacher MINILM

The arguments are those of ``french_citizen.py``, ``french_seeds.py``, ``french_scores.py`` and ``citizen_rankings.py``;
``data`` holds the collections fr-labour, fr-citizen and fr-public. Every branch is a process with its log in ``work/logs``; the
materials are read once. ``work/scores`` gets what ``french_scores.py`` writes, and for each kind the measures of its seeds as
soon as they are known. ``work/rankings`` gets the rankings of the models. ``work/fr-legal-dense`` and ``work/fr-legal-splade``
are what ships. A branch that fails ends those that wait for what it makes, and no others. The same command resumes.
"""

from __future__ import annotations

import argparse
import json
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

FAILED = ".failed"  # ending of a file in the folder of logs
MEASURED = "measured"  # file in the folder of a kind's scores: all of its seeds are measured
COLLECTIONS = ("fr-labour", "fr-citizen", "fr-public:fr-labour")
RANKED = ("dense", "splade", "colbert")
MAKERS = {
    **dict.fromkeys(("backbone", "taught", "paired", "dense-first", "dense", "dense/dev.json"), "models"),
    **dict.fromkeys(("splade-paired", "splade", "splade/dev.json"), "splade"),
    **dict.fromkeys(("colbert-paired", "colbert"), "colbert"),
    "cross-paired": "cross",
    **{f"scores/{kind}/{MEASURED}": f"seeds-{kind}" for kind in french_scores.SOURCES},
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


def write_json(path: Path, values: object) -> None:
    """Write a file that is whole at every moment."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(values, indent=1) + "\n", "utf-8")
    partial.replace(path)


def measure_seeds(kind: str, seeds: french_seeds.Seeds, scorer: french_scores.Scorer) -> None:
    """Train the seeds of a kind, and write what they reach after each."""
    found = []
    for start, seed in seeds.trained(kind):
        found.append(scorer.reached(kind, start, seed))
        write_json(scorer.out / french_scores.SEEDS_FILE, found)
    (scorer.out / MEASURED).touch()


def join_seeds(folder: Path) -> None:
    """One file of the measures of all kinds."""
    each = [json.loads((folder / kind / french_scores.SEEDS_FILE).read_text("utf-8")) for kind in french_scores.SOURCES]
    write_json(folder / french_scores.SEEDS_FILE, [one for some in each for one in some])


def plan(
    branches: Branches,
    recipe: french_citizen.Recipe,
    seeds: french_seeds.Seeds,
    scorer_of: Callable[[Path], french_scores.Scorer],
    data: Path,
    teacher: Path,
) -> dict[str, Callable[[], None]]:
    """What each branch does; ``scorer_of`` measures models and writes into a folder."""
    work, until, after = branches.work, branches.until, branches.after

    def models() -> None:
        recipe.backbone()
        recipe.teach(teacher)
        recipe.pairs()
        recipe.dense()

    def seeded(kind: str) -> Callable[[], None]:
        needed = ("paired", french_seeds.kinds()[kind].paired)
        return after(needed, lambda: measure_seeds(kind, seeds, scorer_of(work / "scores" / kind)))

    def said() -> None:
        join_seeds(work / "scores")
        scorer = scorer_of(work / "scores")
        scorer.scores()
        scorer.costs()

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
        "splade-table": after(("splade",), recipe.splade_table),
        "colbert": after(("paired",), recipe.colbert),
        "cross": after(("paired",), recipe.cross_pairs, lambda: until("dense"), recipe.cross),
        **{f"seeds-{kind}": seeded(kind) for kind in french_scores.SOURCES},
        "scores": after(tuple(f"scores/{kind}/{MEASURED}" for kind in french_scores.SOURCES), said),
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
    collection, first = read_collection(options.data / "fr-labour"), read_run(options.first)

    def scorer_of(out: Path) -> french_scores.Scorer:
        out.mkdir(parents=True, exist_ok=True)
        return french_scores.Scorer(collection, first, options.work, out)

    scorer_of(options.work / "scores")  # refuses a run that lacks questions before anything is trained
    labour, branches = Material.read(options.material), Branches(options.work, MAKERS)
    recipe = french_citizen.Recipe(labour, CitizenMaterial.read(options.citizen), options.work)
    seeds = french_seeds.Seeds(labour, options.work)
    sys.exit(min(1, branches.run(plan(branches, recipe, seeds, scorer_of, options.data, options.teacher))))


if __name__ == "__main__":
    main()
