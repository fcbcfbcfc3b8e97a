"""RPRS tuned on judged whole-document queries: the first stage is ranked once, every point of the grid is measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.data.files import write_json
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.index import Index
from lexfuse.optimisation.cross_validation import FOLDS, CrossValidated
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint, RprsSurface, cross_validated_rprs
from lexfuse.rerank.rprs import Rprs
from lexfuse.search.similar import SENTENCES
from lexfuse.search.spec.reranker_specs import RprsSpec, open_sentence_retriever
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.text.kli import TermChoice


@dataclass(frozen=True, slots=True, eq=False)
class TunedRprsSearch:
    """The best parameters of RPRS, what they reach, and the search that uses them; `print` shows it in words."""

    surface: RprsSurface
    point: RprsPoint
    first: float  # what the first stage reaches
    held_out: CrossValidated
    spec: SearchSpec

    @property
    def value(self) -> float:
        """What the best point reaches on the queries that it was chosen on."""
        return self.surface.mean(self.point)

    @property
    def at_edge(self) -> tuple[str, ...]:
        """Parameters that a wider grid may improve."""
        return self.surface.at_edge(self.point)

    @property
    def curves(self) -> dict[str, dict[float, float]]:
        """The measure along each parameter, the others at their best (RPRS, Figure 5)."""
        grid, place = self.surface.grid, self.surface.grid.place(self.point)
        axes = ("depth", "n", "k1", "b")
        found = {}
        for axis, name in enumerate(axes):
            where: tuple[int | slice, ...] = tuple(slice(None) if at == axis else place[at] for at in range(len(axes)))
            found[name] = dict(zip(map(float, getattr(grid, name)), self.surface.means[where].tolist(), strict=True))
        return found

    def __str__(self) -> str:
        """What was found, in plain words."""
        frequencies = f"k1 {self.point.k1:g}, b {self.point.b:g}" if self.point.frequency else "without frequencies"
        return "\n".join(
            [
                f"best of {self.surface.grid.points:,}: n {self.point.n}, depth {self.point.depth}, {frequencies}",
                f"{self.surface.measure} {self.value:.4f} on {len(self.surface.queries):,} queries; "
                f"{self.held_out.mean:.4f} held out ({self.held_out.folds} folds); first stage {self.first:.4f}",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return self.point.as_json() | {
            "measure": self.surface.measure,
            "value": self.value,
            "first": self.first,
            "held_out": self.held_out.as_json(),
            "at_edge": list(self.at_edge),
            "curves": {name: {f"{at:g}": value for at, value in curve.items()} for name, curve in self.curves.items()},
        }

    def save(self, path: str | Path) -> None:
        """Write everything as JSON, complete or not at all."""
        write_json(path, self.as_json())


def tune_rprs(
    index: Index,
    queries: Queries,
    qrels: Qrels,
    measure: str = "AP",
    *,
    first: SearchSpec | None = None,
    channel: str = SENTENCES,
    grid: RprsGrid = RprsGrid(),  # noqa: B008 — frozen
    frequency: bool = True,
    before_query_date: bool = False,
    folds: int = FOLDS,
    progress: ProgressBar = no_progress_bar,
) -> TunedRprsSearch:
    """The n, k1, b and depth of RPRS that are best on judged queries, over the ranking of a first stage.

    `first` is a search without rerankers; without it, BM25 on the most informative terms, as `Index.similar` takes it.
    ``frequency=False`` chooses among points without frequencies.

    >>> import lexfuse as lf
    >>> queries, qrels = lf.read_queries("examples/questions.csv"), lf.read_qrels("examples/test.tsv")
    >>> corpus = lf.read_corpus("examples/articles.csv")
    >>> with lf.Index.build(folder / "law.index", corpus, channels=["sentences"]) as index:
    ...     tuned = tune_rprs(index, queries, qrels, "RR", grid=RprsGrid(n=(1, 2), depth=(5,)), folds=2)
    >>> tuned.spec.rerank[0].n == tuned.point.n
    True
    """
    stage = first or SearchSpec.of("bm25", k1=2.8, b=1.0, terms=TermChoice())
    if stage.rerank:
        raise ConfigError("the first stage has rerankers already; RPRS is tuned on a search without them")
    rprs = Rprs(open_sentence_retriever(index.snapshot, channel))
    run = index.run(queries, depth=max(stage.depth, grid.depth[-1]), profile=stage, before_query_date=before_query_date)
    with progress("comparing", len(qrels.queries)) as done:
        surface = rprs_surface(rprs, queries, run, qrels, measure, grid, progress=done)
    point = surface.best if frequency else surface.best_without_frequency
    reranker = RprsSpec(channel=channel, **point.as_json())
    return TunedRprsSearch(
        surface,
        point,
        evaluate(qrels, run, measure).mean(surface.measure),
        cross_validated_rprs(surface, folds, frequency=frequency),
        stage.model_copy(update={"rerank": (reranker,)}),
    )
