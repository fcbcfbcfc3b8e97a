"""The languages with stems, and what the analysis of each needs (``languages.tsv``).

``folding`` says when accents are removed. Most stemmers give the same groups of words without accents, so the accents go first
and a word typed without them is always found. Others need accents to recognise endings: there the stem is folded. Marks of Indian
scripts are vowels, not accents, and stay. ``bench/stems.py`` measures the loss on both sides.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from lexfuse.errors import ConfigError

CURRENT_VERSION = 2
FIRST_LANGUAGES = ("fr", "en")  # all that version 1 of the analysis stems


class FoldingOrder(StrEnum):
    """When accents are removed."""

    BEFORE = "before"  # the stemmer
    AFTER = "after"  # it
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class StemmedLanguage:
    """A language with stems.

    >>> languages()["de"].name, languages()["tr"].folding
    ('German', <FoldingOrder.AFTER: 'after'>)
    """

    code: str  # ISO 639
    name: str
    stemmer: str  # of Snowball
    folding: FoldingOrder


@cache
def languages() -> dict[str, StemmedLanguage]:
    """Every language with stems, by its code.

    >>> "sv" in languages(), "xx" in languages()
    (True, False)
    """
    lines = (files("lexfuse.text.analysis") / "languages.tsv").read_text("utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {code: StemmedLanguage(code, name, stemmer, FoldingOrder(folding)) for code, name, stemmer, folding in rows}


def language_of(code: str, version: int = CURRENT_VERSION) -> StemmedLanguage | None:
    """The language of a code if this version of the analysis stems it, else None.

    Indexes of version 1 have stems and stop words in French and English only, and are searched as they were built.

    >>> language_of("de", version=1), language_of("fr", version=1) == language_of("fr")
    (None, True)
    """
    return None if version == 1 and code not in FIRST_LANGUAGES else languages().get(code)


def unstated_version(code: str) -> int:
    """The version of an analysis that was stored without one: 1, or the current one if both read the language alike.

    >>> unstated_version("de"), unstated_version("fr"), unstated_version("xx")
    (1, 2, 2)
    """
    return CURRENT_VERSION if language_of(code) == language_of(code, version=1) else 1


def known_language(code: str, others: Collection[str] = ()) -> str:
    """The code of a language that a user asked for; a `ConfigError` lists the known ones.

    `others` are codes without stems that are valid here, such as those of the documents of an index.

    >>> known_language("de"), known_language("lv", others=("lv",))
    ('de', 'lv')
    >>> known_language("german")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: unknown language 'german'; did you mean 'de' (German)? Known are ar, ca, cs, ...
    """
    known = languages()
    if code in known or code in others:
        return code
    meant = [one for one in known.values() if code.lower() in (one.code, one.name.lower(), one.stemmer)]
    hint = f"did you mean {meant[0].code!r} ({meant[0].name})? Known" if meant else "known"
    raise ConfigError(f"unknown language {code!r}; {hint} are {', '.join(sorted({*known, *others} - {''}))}")
