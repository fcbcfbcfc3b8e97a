"""``lexfuse keys``: create, list and revoke API keys of the service."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, line, note, print_json, table

KEYS_FILE = Path("keys.toml")


class KeyScopeFlag(StrEnum):
    """What a key may do."""

    READ = "read"
    WRITE = "write"


keys = typer.Typer(help="Keys of the service: who may read, and who may write.", no_args_is_help=True)
KeyFile = Annotated[Path, typer.Option("--file", help="The file of keys.")]


@keys.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Whose key it is; the log has this name.")],
    scope: Annotated[list[KeyScopeFlag], typer.Option("--scope", help="read, or write, which allows to read too.")],
    file: KeyFile = KEYS_FILE,
    json: AsJson = False,
) -> None:
    """Make a key and show it, this one time; the file keeps only its hash.

    lexfuse keys add editors --scope write --file keys.toml
    """
    from lexfuse.service.api_keys import KeyScope, add_key

    token = add_key(file, name, *(KeyScope(one.value) for one in scope))
    if json:
        print_json({"name": name, "scopes": [one.value for one in scope], "key": token, "file": str(file)})
        return
    note(f"this is the only time the key is shown; send it as Authorization: Bearer … ({file} has its hash)")
    typer.echo(token)


@keys.command("list")
def list_(file: KeyFile = KEYS_FILE, json: AsJson = False) -> None:
    """Show the keys that there are, without the keys themselves."""
    from lexfuse.service.api_keys import read_keys

    found = [{"name": key.name, "scopes": [str(one) for one in key.scopes], "created": key.created} for key in read_keys(file)]
    if json:
        print_json(found)
        return
    rows = [(key["name"], ", ".join(key["scopes"]), key["created"]) for key in found]
    table(str(file), ["name", "scopes", "created"], rows, numbers_from=3)


@keys.command("revoke")
def revoke(name: Annotated[str, typer.Argument(help="The name of the key.")], file: KeyFile = KEYS_FILE) -> None:
    """Take a key back; a running service refuses it from its next request on."""
    from lexfuse.service.api_keys import revoke_key

    revoke_key(file, name)
    line(f"{name}: revoked")
