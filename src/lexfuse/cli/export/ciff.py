"""``lexfuse export ciff``: the words of an index as a CIFF file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.bridges.ciff import write_ciff
from lexfuse.cli.output.console import AsJson, line, print_json, spinner
from lexfuse.errors import StorageError
from lexfuse.index import Index
from lexfuse.storage.postgres.address import refuse_address


def ciff(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    out: Annotated[Path, typer.Argument(help="The file to write; a name that ends with .gz is gzipped.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Write the versions in force on this day, of an index with history.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    json: AsJson = False,
) -> None:
    """Write the words of an index as a CIFF file, for search engines that read this format.

    CIFF is the Common Index File Format: terms with the documents they occur in, and how often.

        lexfuse export ciff legi.index legi.ciff.gz
    """
    refuse_address([folder])
    if out.exists() and not force:
        raise StorageError(f"{str(out)!r} already exists; choose another name, or give --force to replace it")
    with spinner(f"writing {out}"), Index.open(folder) as index:
        header = write_ciff(index, out, as_of=as_of)
    if json:
        print_json({"out": str(out), **asdict(header)})
        return
    line(f"wrote {header.lists:,} posting lists of {header.documents:,} documents to {out}")
