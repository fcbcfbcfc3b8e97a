"""``lexfuse index``: build an index, and change, merge or verify one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.import_ import refuse_existing
from lexfuse.cli.options.analysis_flags import AnalysisFlags
from lexfuse.cli.options.channel_flags import ChannelFlags, fill_channels
from lexfuse.cli.options.distribution_flags import DistributionFlags
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, noted_report, print_json, progress_bar, spinner
from lexfuse.cli.output.summaries import distribution_figures
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.postgres.address import refuse_address
from lexfuse.text.analysis.language_table import known_language


def index(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="[CORPUS] INDEX",
            help="The corpus to read (not for --delete, --merge, --verify, --rebuild), and the index folder.",
        ),
    ],
    channels: ChannelFlags,
    analysis: AnalysisFlags,
    estimates: DistributionFlags,
    add: Annotated[bool, typer.Option("--add", help="Add the corpus to an existing index.")] = False,
    update: Annotated[bool, typer.Option("--update", help="Add the corpus, and replace documents with the same id.")] = False,
    delete: Annotated[list[str] | None, typer.Option("--delete", help="Delete this document. May be repeated.")] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge all segments into one, and free the space of deleted documents.")
    ] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check every file of the index.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Rebuild damaged segments from the documents in the catalog.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing index.")] = False,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Drop this channel. May be repeated.")] = None,
    language: Annotated[
        str, typer.Option("--language", "-l", help="Language of every document, such as de [default: given or detected].")
    ] = "",
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Build an index of a corpus, or change one.

    Committed changes survive a crash; an interrupted build leaves no files behind.

        lexfuse index data/legi legi.index

        lexfuse index new-articles.jsonl legi.index --update

        lexfuse index legi.index --channels dense --model dense=fr-legal-dense

        lexfuse index legi.index --delete LEGIARTI000018764571 --merge

        lexfuse index legi.index --distributions
    """
    refuse_address(paths)
    estimates.check()
    tending = bool(delete or drop) or merge or verify or rebuild
    if sum((add, update, tending)) > 1:
        raise ConfigError("choose one of --add, --update, or --delete/--drop/--merge/--verify/--rebuild")
    if language and (tending or len(paths) == 1):
        raise ConfigError("--language is for a corpus that is read; name the corpus too, or leave --language out")
    if language:
        known_language(language)  # before the corpus is read
    channels.check()
    if len(paths) == 1 or add or update:
        analysis.refuse_given()
    if tending:
        folder = _only(paths)
        result = _maintain(folder, delete or [], drop or [], merge, verify, rebuild)
    elif (channels.names or estimates.distributions) and len(paths) == 1 and not (add or update):
        folder, result = paths[0], {"index": str(paths[0])}
    else:
        corpus, folder = _both(paths)
        result = _build(corpus, folder, add or update, update, analysis.settings(), force, skip_bad, language)
    if channels.names or (add or update):
        with Index.open(folder) as opened:
            result |= {"channels": fill_channels(opened, channels)}
    if estimates.distributions:
        with Index.open(folder) as opened:
            kept = opened.estimate_distributions(estimates.queries, progress=progress_bar, **estimates.search_options)
        result |= {"distributions": distribution_figures(kept)}
    if json:
        print_json(result)
    else:
        _show(result)
    if result.get("damages"):
        raise typer.Exit(3)


def _show(result: dict[str, Any]) -> None:
    for name, value in result.items():
        if name == "channels":
            for channel, figures in value.items():
                line(f"{channel}: {figures['encoded']:,} documents encoded by {figures['model']}")
        elif name == "distributions":
            for channel, figures in value.items():
                line(f"{channel}: distribution of {figures['scores']:,} scores, {figures['queries']:,} queries")
        elif value or name == "documents":
            line(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")


def _only(paths: list[Path]) -> Path:
    if len(paths) != 1:
        raise ConfigError(f"one path was expected, the index folder; got {len(paths)}")
    return paths[0]


def _both(paths: list[Path]) -> tuple[Path, Path]:
    if len(paths) != 2:
        raise ConfigError(f"two paths were expected, the corpus and the index folder; got {len(paths)}")
    return paths[0], paths[1]


def _build(
    source: Path, folder: Path, existing: bool, update: bool, settings: IndexSettings, force: bool, skip_bad: bool, language: str
) -> dict[str, Any]:
    if not existing:
        refuse_existing(folder, force)
    with noted_report(skip_bad) as report, spinner(f"reading {source}"):
        corpus = read_corpus(source, report)
    if not existing:
        Index.build(folder, corpus, settings=settings, language=language, replace=force, progress=progress_bar).close()
        return {"index": str(folder), "documents": len(corpus), "added": len(corpus), "skipped": report.skipped}
    with Index.open(folder) as index:
        changes = index.add(corpus, update=update, language=language, progress=progress_bar)
        counts = {"documents": len(index), "added": changes.added, "updated": changes.updated}
    return {"index": str(folder), **counts, "skipped": report.skipped}


def _maintain(folder: Path, delete: list[str], drop: list[str], merge: bool, verify: bool, rebuild: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"index": str(folder)}
    with Index.open(folder) as index:
        if rebuild:
            with spinner("rebuilding"):
                index.rebuild()
        if delete:
            changes = index.delete(delete)
            result |= {"deleted": changes.deleted, "missing": list(changes.missing)}
        if drop:
            index.drop_channels(drop)
        if merge:
            with spinner("merging"):
                index.merge()
        if verify:
            with spinner("verifying"):
                result["damages"] = index.verify()
            result["verified"] = not result["damages"]
            if not index.has_digests:
                note("the catalog was written by an older LexFuse, without check sums of its tables; the next change adds them")
        if result.get("damages"):
            return result  # it may not even open
        result["documents"] = len(index)
    return result
