"""``lexfuse keys``: create, list and revoke API keys of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, line, note, print_json, table
from lexfuse.service.api_keys import KeyScope, add_key, read_keys, revoke_key

KEYS_FILE = Path("keys.toml")


KeyFile = Annotated[Path, typer.Option("--file", help="The file of keys.")]


def add(
    name: Annotated[str, typer.Argument(help="The owner of the key; the log shows this name.")],
    scope: Annotated[list[KeyScope], typer.Option("--scope", help="read, or write, which includes read.")],
    file: KeyFile = KEYS_FILE,
    json: AsJson = False,
) -> None:
    """Create a key and show it once; the file keeps only its hash.

    lexfuse keys add editors --scope write --file keys.toml
    """
    token = add_key(file, name, *scope)
    if json:
        print_json({"name": name, "scopes": [one.value for one in scope], "key": token, "file": str(file)})
        return
    note(f"this is the only time the key is shown; send it as Authorization: Bearer … ({file} has its hash)")
    typer.echo(token)


def list_(file: KeyFile = KEYS_FILE, json: AsJson = False) -> None:
    """List the names, scopes and dates of the keys."""
    found = [{"name": key.name, "scopes": [str(one) for one in key.scopes], "created": key.created} for key in read_keys(file)]
    if json:
        print_json(found)
        return
    rows = [(key["name"], ", ".join(key["scopes"]), key["created"]) for key in found]
    table(str(file), ["name", "scopes", "created"], rows, numbers_from=3)


def revoke(name: Annotated[str, typer.Argument(help="The name of the key.")], file: KeyFile = KEYS_FILE) -> None:
    """Revoke a key; a running service refuses it from the next request on."""
    revoke_key(file, name)
    line(f"{name}: revoked")
