"""``lexfuse suggest``: complete a question that is being typed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from lexfuse.cli.options.search_flags import IndexArgument
from lexfuse.cli.output.console import AsJson, note, print_json, table
from lexfuse.index import Index


def suggest(
    folder: IndexArgument,
    text: Annotated[str, typer.Argument(help="What was typed so far.")],
    k: Annotated[int, typer.Option("-k", help="The number of suggestions.")] = 8,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the text [default: detected].")] = "",
    json: AsJson = False,
) -> None:
    """Complete a question: articles, frequent questions, headings and words.

    lexfuse suggest legi.index "congé de pat"

    If words of the text are in no document, the text with similar words of the index is shown too. Frequent questions are the
    lines of questions.txt in the index folder; what users ask is neither stored nor suggested.
    """
    with Index.open(folder) as index:
        found = index.suggest(text, k)
        meant = index.did_you_mean(text, language=language) if text.strip() else None
    if json:
        corrected = {"correction": asdict(meant)} if meant else {}
        print_json({"suggestions": [asdict(one) for one in found], **corrected})
        return
    if meant:
        note(f"did you mean: {meant.question}")
    if not found:
        note("nothing in the index begins like this")
        return
    table(f"{len(found)} suggestions", ["text", "kind", "document"], [(one.text, one.kind.value, one.document) for one in found])
