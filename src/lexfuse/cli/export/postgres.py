"""``lexfuse export postgres``: an index written into PostgreSQL."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.channels.lexical import bm25
from lexfuse.channels.postgres.export import ExportOptions, export_index
from lexfuse.channels.postgres.vector_tables import INDEXED_NUMBERS, INDEXED_TERMS
from lexfuse.cli.options.flag_group import names_in
from lexfuse.cli.output.console import AsJson, line, note, print_json, progress_bar
from lexfuse.errors import ConfigError
from lexfuse.search.similar import known_day
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.postgres.address import PostgresAddress, index_location, refuse_address


def postgres(
    address: Annotated[
        str, typer.Argument(metavar="DSN", help="postgresql://USER@HOST:PORT/DATABASE?schema=NAME [default schema: lexfuse].")
    ],
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    channels: Annotated[
        str, typer.Option("--channels", "-c", help="Dense and sparse channels to export: dense,splade [default: all].")
    ] = "",
    text_config: Annotated[
        str, typer.Option("--text-config", help="Text search configuration [default: that of the language of most documents].")
    ] = "",
    k1: Annotated[float, typer.Option("--k1", help="k1 of the BM25 index of pg_textsearch.")] = bm25.K1,
    b: Annotated[float, typer.Option("--b", help="b of the BM25 index of pg_textsearch.")] = bm25.B,
    hnsw: Annotated[bool, typer.Option("--hnsw", help="Make HNSW indexes, for approximate search of vectors.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Export the versions in force on this day, of an index with history.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an index that is in the schema.")] = False,
    json: AsJson = False,
) -> None:
    """Write an index into PostgreSQL, to be searched there by SQL and by LexFuse.

    The password comes from PGPASSWORD or a password file. Readers see the old index until the new one is complete.

        lexfuse export postgres postgresql://law@localhost/law legi.index

        lexfuse search postgresql://law@localhost/law "durée du préavis"
    """
    refuse_address([folder])
    place = index_location(address)
    if not isinstance(place, PostgresAddress):
        raise ConfigError("the first argument is an address like postgresql://USER@HOST:PORT/DATABASE?schema=NAME")
    day = known_day(as_of, "--as-of")
    options = ExportOptions(
        channels=tuple(names_in(channels)),
        text_config=text_config,
        k1=k1,
        b=b,
        hnsw=hnsw,
        replace=force,
        as_of=day,
    )
    with open_snapshot(folder) as snapshot, progress_bar("exporting", len(snapshot.on(day) if day else snapshot)) as progress:
        result = export_index(snapshot, folder.resolve().name, place, options, progress=progress)
    if json:
        print_json(asdict(result))
        return
    for channel in result.left_out:
        note(f"{channel} is left out: only dense and learned sparse channels have tables")
    for channel in result.without_hnsw:
        most = f"{INDEXED_NUMBERS:,} numbers or {INDEXED_TERMS:,} terms"
        note(f"{channel} has no HNSW index and is searched exactly: HNSW takes vectors of at most {most}")
    if not result.bm25_index:
        note("the server has no pg_textsearch; words are ranked from the table of lexemes")
    done = f"{result.documents:,} documents and {', '.join(('bm25', *result.channels))} in {result.place}"
    line(f"exported {done}" if result.written else f"up to date: {done}")
