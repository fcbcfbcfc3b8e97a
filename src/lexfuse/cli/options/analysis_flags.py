"""Flags that say how an index reads words. Documents and queries share it, so it is chosen once, when the index is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from lexfuse.cli.options.flag_group import FlagGroup
from lexfuse.errors import ConfigError
from lexfuse.storage.index_settings import IndexSettings


@dataclass(frozen=True, kw_only=True)
class AnalysisFlags(FlagGroup):
    """Fields, stems, stop words and citations."""

    fields: Annotated[str, typer.Option("--fields", help="Fields to search, with optional weights: title:2,headings,text.")] = (
        "title,headings,text"
    )
    stems: Annotated[bool, typer.Option("--stems/--no-stems", help="Reduce words to their stems.")] = True
    stop_words: Annotated[bool, typer.Option("--stop-words/--no-stop-words", help="Leave stop words out of the index.")] = True
    citations: Annotated[bool, typer.Option("--citations/--no-citations", help="Index citations as terms.")] = True

    def settings(self) -> IndexSettings:
        """The settings of a new index."""
        weights: dict[str, float] = {}
        for part in self.fields.split(","):
            name, _, weight = part.strip().partition(":")
            try:
                weights[name] = float(weight or 1)
            except ValueError:
                raise ConfigError(f"the weight of field {name!r} must be a number, got {weight!r}") from None
        return IndexSettings(fields=weights, stems=self.stems, stop_words=self.stop_words, citations=self.citations)

    def refuse_given(self) -> None:
        """Refuse the flags for an index that exists, which keeps the analysis it was built with."""
        if self.given:
            name = self.given[0]
            flag = f"--{'no-' if getattr(self, name) is False else ''}{name.replace('_', '-')}"
            raise ConfigError(f"{flag} is for a new index; this one keeps how it was built: build another, or leave {flag} out")
