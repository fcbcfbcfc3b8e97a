"""``lexfuse advise``: whether to fuse, what, and how; with the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.advice.advice import Advice
from lexfuse.advice.advisor import MEASURES, advise_runs
from lexfuse.advice.advisor import advise as advise_index
from lexfuse.advice.findings import Contrast, Reranking, ScoreScope
from lexfuse.advice.inputs import judged_questions
from lexfuse.advice.report.report_folder import advice_json
from lexfuse.advice.rerankers.reranked_run import read_reranker_files
from lexfuse.channels.lexical import bm25
from lexfuse.cli.options.flag_group import names_in
from lexfuse.cli.options.run_files import BoundOptions, LexicalRuns, bounds_by_run, lexical_runs, read_runs
from lexfuse.cli.options.search_flags import K1, B, QueryFilterFlags
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar, spinner, table
from lexfuse.cli.output.coverage import note_unknown
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.ids import Ids
from lexfuse.data.judgements import judge_name
from lexfuse.data.qrels import Qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.storage.feedback import FeedbackStore
from lexfuse.storage.postgres.address import index_location

SHOWN = 10  # configurations on the screen


def advise(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[INDEX] [QUERIES] [QRELS]",
            help="The index, the queries, and judgements to choose on (train or dev); the index alone with --judgements, "
            "the judgements alone with --run.",
        ),
    ],
    filters: QueryFilterFlags,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", help="A TREC run of any system, instead of INDEX and QUERIES. May be repeated."),
    ] = None,
    judgements: Annotated[
        bool, typer.Option("--judgements", help="Choose on the questions that were judged on the page of the index.")
    ] = False,
    judge: Annotated[
        str, typer.Option("--judge", help="With --judgements, only those of one judge [default: all, merged].")
    ] = "",
    test_qrels: Annotated[
        Path | None, typer.Option("--test-qrels", help="Judgements of a test split, used once to confirm the choice.")
    ] = None,
    channels: Annotated[
        str, typer.Option("--channels", help="Sources to compare: bm25,tfidf,dense [default: all of the index].")
    ] = "",
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="Measures to report; the first decides: 'R@100 nDCG@10'")
    ] = MEASURES,
    rerank: Annotated[
        list[Path] | None,
        typer.Option(
            "--rerank",
            metavar="FILE",
            help="A TOML file whose [[rerank]] tables, written as in a profile, are tried on top of the choice. May be repeated.",
        ),
    ] = None,
    depth: Annotated[int, typer.Option(help="Documents that each source ranks per query.")] = 1000,
    k1: K1 = bm25.K1,
    b: B = bm25.B,
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
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for report.html, advice.json and profile.toml.")] = Path(
        "advice"
    ),
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Compare every subset of sources with every fusion, and recommend one with evidence.

    lexfuse advise legi.index data/legi data/legi/qrels/dev.tsv --test-qrels data/legi/qrels/test.tsv -m R@100 -o advice

    lexfuse advise dev.tsv --run bm25.trec --run dense.trec --bound bm25=0 --bound dense=-1 -m nDCG@10

    lexfuse advise cases.index data/cases dev.tsv --rerank rprs.toml --rerank cross-encoder.toml

    lexfuse advise legi.index --judgements -o legi.index/advice/judgements

    A reranker that is significantly better on QRELS enters the profile; of each the advice says whether it helps.
    """
    report = ReadReport(skip_bad=skip_bad)
    if runs and rerank:
        raise ConfigError("rerankers read the documents; with --rerank give INDEX, QUERIES and QRELS instead of --run")
    if judge and not judgements:
        raise ConfigError("--judge chooses among the judgements of the index; give --judgements too")
    if judgements and (runs or test_qrels):
        raise ConfigError("--judgements are of the questions of an index; leave --run and --test-qrels out")
    if runs:
        if len(paths) != 1:
            given = ", ".join(str(index_location(path)) for path in paths)
            raise ConfigError(f"with --run give the judgements alone, got {len(paths)} paths: {given}")
        if scores_of is ScoreScope.CORPUS:
            raise ConfigError(
                "runs from files hold no scores of other documents; leave --scores-of out, or give INDEX and QUERIES"
            )
        stated, words = bounds_by_run(bounds, runs), lexical_runs(lexical, runs)
        with spinner("reading"):
            read = read_runs(runs, report)
            dev, test = _judgements(Path(paths[0]), test_qrels, report)
        found = advise_runs(
            read, dev, test, measures=measure, bounds=stated, lexical=words, folds=folds, smallest=smallest, progress=progress_bar
        )
    elif len(paths) != (1 if judgements else 3):
        raise ConfigError(
            "give INDEX, QUERIES and QRELS, or INDEX with --judgements, or one QRELS with --run for each TREC run; "
            f"got {len(paths)} paths"
        )
    else:
        if bounds or lexical:
            raise ConfigError("--bound and --lexical are for --run; the channels of an index know both")
        files, names = read_reranker_files(rerank or []), names_in(channels)
        options: dict[str, Any] = {"k1": k1, "b": b} if not names or "bm25" in names else {}
        with Index(paths[0]) as index:
            if judgements:
                (queries, dev), test = judged_questions(FeedbackStore(index.folder).kept(), judge_name(judge)), None
            else:
                queries = read_queries(Path(paths[1]), report)
                dev, test = _judgements(Path(paths[2]), test_qrels, report, queries.ids)
            found = advise_index(
                index,
                queries,
                dev,
                test,
                channels=names,
                measures=measure,
                rerankers=files,
                depth=depth,
                filters=filters.filters or (),
                as_of=filters.day(),
                before_query_date=filters.before_query_date,
                folds=folds,
                smallest=smallest,
                scores_of=scores_of or ScoreScope.CORPUS,
                contrast=overlap_groups,
                progress=progress_bar,
                **options,
            )
            note_unknown(index.version.coverage(filters.day()))
    found.write_report(out)
    if json:
        print_json(advice_json(found))
    else:
        _show(found, out)


def _judgements(dev: Path, test: Path | None, report: ReadReport, queries: Ids | None = None) -> tuple[Qrels, Qrels | None]:
    """The judgements to choose on and to test on, and the remarks of their readers."""
    found = read_qrels(dev, report, queries=queries), read_qrels(test, report, queries=queries) if test else None
    for remark in report.lines():
        note(remark)
    return found


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
    """Every reranker compared with the choice without it, in its place and fused with it."""
    rows: list[tuple[object, ...]] = [("none", reranking.dev[measure], None, None, None)]
    for each in reranking.findings:
        for name, effect in ((each.name, each.dev), (f"{each.name}, fused with the choice", each.fused_dev)):
            time = f"{each.milliseconds:,.1f}"
            rows.append((name, effect.means[measure], effect.versus.mean, effect.versus.adjusted_p, time))
    columns = ["reranker", measure, "over the choice", "adj. p", "ms"]
    table("on top of the choice", columns, rows)
