"""``lexfuse advise``: whether to fuse, what, and how; with the evidence."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from lexfuse.advice.advice import Advice, ConfigurationResult, Reranking
from lexfuse.advice.advisor import CollectionFacts
from lexfuse.advice.advisor import advise as advised
from lexfuse.advice.contrast import Contrast, ScoreScope
from lexfuse.advice.evidence.corpus_scores import corpus_union
from lexfuse.advice.grid import RECIPES, configurations, contributing_sources
from lexfuse.advice.inputs import facts_of, judged_by, judged_runs, sources_of, usable_recipes
from lexfuse.advice.judged_sources import JudgedSources
from lexfuse.advice.report.json_report import advice_json
from lexfuse.advice.report.page import report_of
from lexfuse.advice.rerankers.reranker_effect import evaluate_rerankers
from lexfuse.advice.rerankers.reranker_files import RerankerFile, read_reranker_files
from lexfuse.cli.options.run_files import BoundOptions, LexicalRuns, lexical_first, read_runs
from lexfuse.cli.options.search_flags import K1, B, masked
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar, spinner, table
from lexfuse.cli.search import AsOf, Filters
from lexfuse.data.files import written_file
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.qrels import Qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import BoundWarning, ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.reranker_specs import RerankerChoice
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.query_class import QueryClass

SHOWN = 10  # configurations on the screen


def advise(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="[INDEX QUERIES] QRELS", help="The index, the queries, and judgements to choose on (train or dev)."
        ),
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", help="A TREC run of any system in the place of INDEX and QUERIES. May be repeated."),
    ] = None,
    test_qrels: Annotated[
        Path | None, typer.Option("--test-qrels", help="Judgements of a test split, looked at once, to confirm the choice.")
    ] = None,
    channels: Annotated[
        str, typer.Option("--channels", help="Sources to try: bm25,tfidf,dense. All that the index has if not given.")
    ] = "",
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="Measures to report; the first decides: 'R@100 nDCG@10'")
    ] = "nDCG@10 R@100",
    rerank: Annotated[
        list[Path] | None,
        typer.Option(
            "--rerank",
            metavar="FILE",
            help="A TOML file whose [[rerank]] tables, written as in a profile, are tried on top of the choice. May be repeated.",
        ),
    ] = None,
    depth: Annotated[int, typer.Option(help="How many documents each source gives a query.")] = 1000,
    k1: K1 = 1.2,
    b: B = 0.75,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = 5,
    scores_of: Annotated[
        ScoreScope | None,
        typer.Option(
            help="Whose scores the distributions and the complementarity show: of all documents, or of the candidates alone, "
            "which is faster [default: corpus; candidates with --run]."
        ),
    ] = None,
    overlap_groups: Annotated[
        Contrast,
        typer.Option(
            help="Queries compared by their words in common: one source reaches 1 and the other 0, or one merely reaches more."
        ),
    ] = Contrast.EXTREMES,
    smallest: Annotated[
        float,
        typer.Option("--smallest", help="The smallest difference that matters; the verdict says where queries are too few."),
    ] = 0.05,
    bounds: BoundOptions = None,
    lexical: LexicalRuns = None,
    filters: Filters = None,
    as_of: AsOf = None,
    before_query_date: Annotated[
        bool, typer.Option("--before-query-date", help="Only documents dated before the query.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for report.html, advice.json and profile.toml.")] = Path(
        "advice"
    ),
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Try every subset of the sources by every fusion, and say whether to fuse, with evidence.

    lexfuse advise legi.index data/legi data/legi/qrels/dev.tsv --test-qrels data/legi/qrels/test.tsv -m R@100 -o advice

    lexfuse advise dev.tsv --run bm25.trec --run dense.trec --bound bm25=0 --bound dense=-1 -m nDCG@10

    lexfuse advise cases.index data/cases dev.tsv --rerank rprs.toml --rerank cross-encoder.toml

    A reranker that is significantly better on QRELS enters the profile; of each the advice says whether it helps.
    """
    report = ReadReport(skip_bad=skip_bad)
    asked = None
    if runs and rerank:
        raise ConfigError("rerankers read the documents; with --rerank give INDEX, QUERIES and QRELS in the place of --run")
    if runs:
        if len(paths) != 1:
            raise ConfigError(f"with --run give the judgements alone, got {len(paths)} paths: {', '.join(map(str, paths))}")
        if scores_of is ScoreScope.CORPUS:
            raise ConfigError(
                "runs from files hold no scores of other documents; leave --scores-of out, or give INDEX and QUERIES"
            )
        files = _Runs(runs, bounds, lexical, paths[0], test_qrels)
        found = _of_runs(files, measure.split(), folds, smallest, report)
    elif len(paths) != 3:
        raise ConfigError(f"give INDEX, QUERIES and QRELS, or one QRELS with --run for each TREC run; got {len(paths)} paths")
    else:
        reranks = tuple(read_reranker_files(rerank or []))
        if bounds or lexical:
            raise ConfigError("--bound and --lexical are for --run; the channels of an index know both")
        scope = scores_of or ScoreScope.CORPUS
        asked = _AdviseOptions(
            paths[1], paths[2], test_qrels, filters, as_of, before_query_date, depth, k1, b, reranks, scope, overlap_groups
        )
        found = _of_index(paths[0], asked, channels, measure.split(), (folds, smallest), report)
    _written(found, out, asked)
    if json:
        print_json(advice_json(found))
    else:
        _show(found, out)


@dataclass(frozen=True)
class _AdviseOptions:
    """What was asked of an index."""

    queries: Path
    qrels: Path
    test_qrels: Path | None
    filters: list[str] | None
    as_of: str | None
    before_query_date: bool
    depth: int
    k1: float
    b: float
    reranks: tuple[RerankerFile, ...]
    scope: ScoreScope
    contrast: Contrast


@dataclass(frozen=True)
class _Runs:
    """What was asked of runs."""

    paths: list[Path]
    bounds: list[str] | None
    lexical: list[str] | None
    qrels: Path
    test_qrels: Path | None


def _of_index(
    folder: Path, asked: _AdviseOptions, channels: str, measures: list[str], how: tuple[int, float], report: ReadReport
) -> Advice:
    queries = read_queries(asked.queries, report)
    qrels = read_qrels(asked.qrels, report, queries=queries.ids)
    test_qrels = read_qrels(asked.test_qrels, report, queries=queries.ids) if asked.test_qrels else None
    _tell(report)
    _apart(qrels, test_qrels)
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        within = masked(snapshot, asked.filters, asked.as_of)
        rerankers = [file.open(snapshot) for file in asked.reranks]  # what cannot be opened is told before the long work
        with spinner("asking every source"):
            sources = sources_of(snapshot, [one.strip() for one in channels.split(",") if one.strip()], k1=asked.k1, b=asked.b)

            def judged(some: Qrels) -> JudgedSources:
                return judged_by(sources, queries, some, asked.depth, within=within, before_query_date=asked.before_query_date)

            dev = judged(qrels)
            test = judged(test_qrels) if test_qrels is not None else None
            facts = facts_of(snapshot, sources, queries, folder.name)
        recipes, left_out = usable_recipes(dev.union)
        facts = replace(facts, notes=(*facts.notes, *left_out))
        if asked.scope is ScoreScope.CORPUS:
            with spinner("scoring all documents"):
                every = corpus_union(sources, dev, within=within, before_query_date=asked.before_query_date)
            facts = replace(facts, every=every)
        with progress_bar("trying", configurations(len(contributing_sources(dev.union)), len(recipes))) as progress:
            found = advised(
                dev,
                test,
                facts,
                measures,
                recipes=recipes,
                folds=how[0],
                smallest=how[1],
                contrast=asked.contrast,
                progress=progress,
            )
        if not rerankers:
            return found
        queries_each = len(dev.union.queries) + (len(test.union.queries) if test is not None else 0)
        with progress_bar("reranking", len(rerankers) * queries_each) as progress:
            return evaluate_rerankers(found, dev, test, rerankers, lexical=facts.lexical, progress=progress)


def _of_runs(files: _Runs, measures: list[str], folds: int, smallest: float, report: ReadReport) -> Advice:
    with spinner("reading"):
        read = read_runs(files.paths, files.bounds, report)
        judgements = read_qrels(files.qrels, report)
        test = read_qrels(files.test_qrels, report) if files.test_qrels else None
    _tell(report)
    _apart(judgements, test)
    read, count, words = lexical_first(read, files.paths, files.lexical)
    dev = judged_runs(read, judgements)
    recipes, left_out = usable_recipes(dev.union)
    notes = ["scores that a run does not hold count as the lowest of its list", words]
    notes += [dev.union.assumption(at) for at, stated in enumerate(dev.union.stated) if not stated]
    lexical = frozenset(run.name for run in read[:count])
    facts = CollectionFacts(" + ".join(dev.union.names), len(dev.union.docs), lexical, notes=(*notes, *left_out))
    with (
        progress_bar("trying", configurations(len(contributing_sources(dev.union)), len(recipes))) as progress,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", BoundWarning)  # the notes tell it
        confirming = judged_runs(read, test) if test else None
        return advised(dev, confirming, facts, measures, recipes=recipes, folds=folds, smallest=smallest, progress=progress)


def _tell(report: ReadReport) -> None:
    for remark in report.lines():
        note(remark)


def _apart(dev: Qrels, test: Qrels | None) -> None:
    """Refuse test queries that were chosen on."""
    both = sorted(set(dev.queries) & set(test.queries)) if test is not None else []
    if both:
        raise ConfigError(
            f"{len(both)} queries are judged both to choose on and to test, first {both[0]!r}; give a test split of its own"
        )


def _show(advice: Advice, out: Path) -> None:
    """The verdict, the best configurations, and where the rest is."""
    for words in advice.words:
        line(words, style="bold" if words is advice.words[0] else "")
    line()
    best = sorted(advice.tried, key=lambda each: -each.value)[:SHOWN]
    rows = [
        (
            each.configuration.name, each.value, each.versus_member.mean if each.versus_member else None,
            each.versus_member.adjusted_p if each.versus_member else None,
            f"{each.milliseconds:.1f}" if each.milliseconds is not None else None,
            f"{each.bytes / 1e6:.1f}" if each.bytes is not None else None,
        )
        for each in best
    ]  # fmt: skip
    columns = ["configuration", advice.measure, "over its best member", "adj. p", "ms", "MB"]
    table(f"the best {len(rows)} of {len(advice.tried)} on {advice.queries:,} dev queries", columns, rows)
    if advice.reranking is not None:
        _show_reranking(advice.reranking, advice.measure)
    if advice.score_basis is not None:
        line(f"Score distributions and complementarity: {advice.score_basis.words}.")
    for remark in advice.notes:
        note(remark)
    line(f"{out}: report.html, advice.json" + (", profile.toml" if (out / "profile.toml").exists() else ""))


def _show_reranking(reranking: Reranking, measure: str) -> None:
    """Every reranker beside the choice without it, in its place and fused with it."""
    rows: list[tuple[object, ...]] = [("none", reranking.dev[measure], None, None, None)]
    for each in reranking.findings:
        for name, effect in ((each.name, each.dev), (f"{each.name}, fused with the choice", each.fused_dev)):
            time = f"{each.milliseconds:,.1f}"
            rows.append((name, effect.means[measure], effect.versus.mean, effect.versus.adjusted_p, time))
    columns = ["reranker", measure, "over the choice", "adj. p", "ms"]
    table("on top of the choice", columns, rows)


def _written(advice: Advice, out: Path, searched: _AdviseOptions | None) -> None:
    """The report, the figures and, for an index, the profile."""
    out.mkdir(parents=True, exist_ok=True)
    with written_file(out / "report.html") as file:
        file.write(report_of(advice).encode())
    with written_file(out / "advice.json") as file:
        file.write(orjson.dumps(advice_json(advice), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    if searched is not None:
        _profile(advice, searched).save(out / "profile.toml")


def _profile(advice: Advice, searched: _AdviseOptions) -> SearchSpec:
    """The chosen configuration, and those of query classes that have one of their own, with what speaks for them."""
    rerank: tuple[RerankerChoice, ...] = ()
    evidence: dict[str, str | int | float] = {
        "verdict": advice.verdict.value,
        "measure": advice.measure,
        "dev": round(advice.chosen.value, 4),
        "dev_queries": advice.queries,
        "words": " ".join(advice.words),
    }
    if advice.confirmation is not None:
        test = advice.confirmation.means[advice.measure][advice.chosen.configuration.name]
        evidence |= {"test": round(test, 4), "test_queries": advice.confirmation.queries}
    if advice.reranking is not None and advice.reranking.taken:
        taken = next(each for each in advice.reranking.findings if each.name == advice.reranking.taken)
        rerank = next(each.choices for each in searched.reranks if each.name == taken.name)
        evidence |= {"reranked_by": taken.name, "reranked_dev": round(taken.dev.means[advice.measure], 4)}
        if taken.test is not None:
            evidence["reranked_test"] = round(taken.test.means[advice.measure], 4)
    off: dict[str, Any] = {"rerank": ()} if rerank else {}  # the reranker is advised for the general pipeline alone
    classes = {
        QueryClass(each.name): ClassSpec(**_pipeline(each.own, searched), **off)
        for each in advice.classes
        if each.own is not None
    }
    return SearchSpec(
        name=f"advised for {advice.collection}",
        depth=searched.depth,
        rerank=rerank,
        classes=classes,
        evidence=evidence,
        **_pipeline(advice.chosen, searched),
    )


def _pipeline(tried: ConfigurationResult, searched: _AdviseOptions) -> dict[str, Any]:
    """The channels and the fusion of a configuration."""
    configuration = tried.configuration
    channels = tuple(
        ChannelSpec.of(name, k1=searched.k1, b=searched.b) if name == "bm25" else ChannelSpec.of(name)
        for name in configuration.members
    )
    if not configuration.method:
        return {"channels": channels}
    recipe = RECIPES[configuration.method]
    fusion = (
        replace(recipe.fusion, weights=tried.weights) if isinstance(recipe.fusion, Convex) and recipe.tuned else recipe.fusion
    )
    return {"channels": channels, "fusion": fusion}
