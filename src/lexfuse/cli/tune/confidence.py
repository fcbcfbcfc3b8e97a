"""``lexfuse tune confidence``: when the best result is shown as an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.search_flags import IndexArgument, QueriesArgument
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, noted_report, print_json, progress_bar, table
from lexfuse.cli.tune.parameters import QrelsFile
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.optimisation.confidence import tune_confidence
from lexfuse.optimisation.confidence_examples import NO_JUDGEMENTS
from lexfuse.search.spec.spec import SearchSpec


def confidence(
    folder: IndexArgument,
    queries: QueriesArgument,
    qrels: QrelsFile,
    off_topic: Annotated[
        Path, typer.Option("--off-topic", metavar="QUERIES", help="Questions that the corpus does not answer, at least 20.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The profile (TOML) to write, with the calibration.")],
    profile: Annotated[
        str, typer.Option("--profile", help="The profile to calibrate: a name, or a TOML file [default: that of the index].")
    ] = "",
    further: Annotated[
        Path | None,
        typer.Option("--further", metavar="QRELS", help="Judgements by others, of other questions in the same file."),
    ] = None,
    test: Annotated[
        Path | None, typer.Option("--test", metavar="QRELS", help="Judgements of other questions, to measure.")
    ] = None,
    test_off_topic: Annotated[
        Path | None, typer.Option("--test-off-topic", metavar="QUERIES", help="Other off-topic questions, to measure.")
    ] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Calibrate when the best result is shown as an answer.

    lexfuse tune confidence legi.index data/legi data/legi/qrels/train.tsv --off-topic other.jsonl -o words.toml

    The profile that is written has the calibration in it. Put it into the folder profiles/ of the index, under the name of the
    profile (words.toml, hybrid.toml), and every search by that profile says how likely it is that its best result answers.
    """
    if (test is None) != (test_off_topic is None):
        raise ConfigError("--test and --test-off-topic measure together; give both or none")
    with noted_report(skip_bad) as report:
        asked, others = read_queries(queries, report), read_queries(off_topic, report)
        judged = read_qrels(qrels, report, queries=asked.ids)
        others_judged = NO_JUDGEMENTS if further is None else read_qrels(further, report, queries=asked.ids)
        held_out = None
        if test is not None and test_off_topic is not None:
            held_out = (asked, read_qrels(test, report, queries=asked.ids), read_queries(test_off_topic, report))
    with (
        Index(folder) as index,
        progress_bar("asking", len(judged.queries) + len(others_judged.queries) + len(others)) as progress,
    ):
        version = index.version
        chosen = SearchSpec.read(profile) if profile.endswith(".toml") else profile or version.default_profile
        tuned = tune_confidence(
            version, chosen, (asked, judged), others, further=others_judged, held_out=held_out, progress=progress
        )
    tuned.spec.save(out)
    if json:
        print_json(tuned.as_json())
        return
    rows = [("calibration", tuned.calibration), ("cross-validated", tuned.cross_validated)]
    rows += [("held out", tuned.held_out)] if tuned.held_out else []
    heads = [
        "",
        "judged",
        "off-topic",
        "expected calibration error",
        "by chance",
        "at most",
        "off-topic recognised",
        "judged refused",
    ]
    table(
        "Confidence that the best result answers",
        heads,
        [
            (
                name,
                one.questions,
                one.off_topic,
                one.calibration_error,
                one.chance_error,
                one.chance_limit,
                f"{one.recognised:.1%}",
                f"{one.refused:.1%}",
            )
            for name, one in rows
        ],
    )
    for name, count in tuned.skipped.items():
        if count:
            note(f"{count} questions of {name} had no results or no words and are not counted")
    line(f"written: {out}")
