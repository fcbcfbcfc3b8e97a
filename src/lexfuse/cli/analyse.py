"""``lexfuse analyse``: how LexFuse reads a text."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, line, note, print_json, table
from lexfuse.data.files import decode, read_bytes
from lexfuse.errors import ConfigError
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.analysis.language_table import known_language
from lexfuse.text.analysis.languages import detect_language
from lexfuse.text.citation.citation import Citation
from lexfuse.text.citation.find import find_citations
from lexfuse.text.sentences.splitter import sentence_texts


def analyse(
    text: Annotated[str | None, typer.Argument(help="The text; - reads standard input.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read the text from this file.")] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="A code like fr or de [default: detected].")] = None,
    json: AsJson = False,
) -> None:
    """Show how LexFuse reads a text: language, sentences, words and citations.

    lexfuse analyse "L'article L. 1237-19 du code du travail s'applique-t-il ?"

    lexfuse analyse --file judgment.txt --json
    """
    given = _text(text, file)
    code = detect_language(given) if language is None else known_language(language)
    analyser = Analyser(code or "en")
    tokens, citations, sentences = analyser.tokens(given), find_citations(given), sentence_texts(given, code or "en")
    if json:
        print_json(
            {
                "language": code,
                "sentences": sentences,
                "citations": [_citation(citation, given) for citation in citations],
                "tokens": [token._asdict() for token in tokens],
            }
        )
        return
    if not code:
        note("the language is not clear; reading it as English (name it with --language, such as fr or de)")
    line(f"language: {code or 'not clear'}")
    table("sentences", ["", "sentence"], enumerate(sentences, start=1), numbers_from=9)
    if citations:
        rows = [(given[c.start : c.end], c.system.value, str(c), " ".join(c.terms)) for c in citations]
        table("citations", ["as written", "system", "canonical", "index terms"], rows, numbers_from=9)
    words = [(t.text, t.exact, " ".join(t.terms) or "not indexed") for t in tokens]
    table("words", ["as written", "exact", "index terms"], words, numbers_from=9)


def _text(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        raise ConfigError("give a text, - for standard input, or --file, and only one of them")
    if file is not None:
        return decode(read_bytes(file), path=file)
    return decode(sys.stdin.buffer.read(), path="standard input") if text == "-" else text or ""


def _citation(citation: Citation, text: str) -> dict[str, object]:
    return asdict(citation) | {"text": text[citation.start : citation.end], "terms": citation.terms}
