"""Laws outside France: which law a name or an abbreviation means, in any spelling.

The lists are data files (``commonwealth_laws.tsv``, ``german_laws.tsv``, ``swiss_belgian_laws.tsv``): a name, then its other
names and abbreviations. One abbreviation may mean several laws (StGB is German and Swiss); the corpus decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lexfuse.text.letters import fold
from lexfuse.text.short_text_cache import cached_if_short

LISTS = ("commonwealth_laws.tsv", "german_laws.tsv", "swiss_belgian_laws.tsv")
_YEAR = re.compile(r"(?<![,\s])[,\s]++(?:of\s)?((?:1[2-9]|20)[0-9]{2})$")
_LAW_NOUN = r"(?:act|code|rules?|ordinance|order|regulations?|law|charter|constitution|sanhita|adhiniyam|statute|decree|bill)"
_AFTER_NOUN = re.compile(
    rf"(?<=\b)({_LAW_NOUN}(?:[,\s]+(?:of\s)?(?:1[2-9]|20)[0-9]{{2}})?)"
    r"\s?(?:\((?:cth|nsw|vic|qld|wa|sa|tas|act|nt|uk|ni|[ivxlcdm0-9]+\sof\s[0-9]{4})\)"
    r"|,\s(?:r\.?\s?s\.?|s\.?)\s?(?:[a-z]\.?\s?){1,2},?\s[0-9]{4}.*|,?\s\(?(?:no\.?\s)?[0-9ivxlcdm]+\sof\s(?:1[2-9]|20)[0-9]{2}\)?)$"
)
_GERMAN_WORD = re.compile(r"gesetz|ordnung|buch|verfassung|konvention|statut|vertrag|recht")
_GERMAN_END = re.compile(r"(?<=[a-z]{4})(?:es|en|er|em|e|s)\b")
_ARTICLE = re.compile(r"^(?:the|das|die|der|het)\s")
_NOT_LETTERS = re.compile(r"[^a-z0-9]")


class LawKey(NamedTuple):
    """A law in comparison form: the letters of its name, and its year if one is given."""

    name: str
    year: str = ""

    def equals(self, other: LawKey) -> bool:
        """Whether two names mean the same law: a missing year fits every year.

        >>> law_of("Companies Act").equals(law_of("Companies Act 2006")), law_of("Companies Act 1985").equals(
        ...     law_of("Companies Act 2006")
        ... )
        (True, False)
        """
        return self.name == other.name and (not self.year or not other.year or self.year == other.year)


@cached_if_short
def law_of(name: str) -> LawKey:
    """A name in comparison form: no case, accents, dots, commas, jurisdiction or German inflection.

    >>> law_of("The Indian Penal Code, 1860"), law_of("I.P.C."), law_of("Competition Act 2010 (Cth)")
    (LawKey(name='indianpenalcode', year='1860'), LawKey(name='ipc', year=''), LawKey(name='competitionact', year='2010'))
    >>> law_of("des Bürgerlichen Gesetzbuches"[4:]) == law_of("Bürgerliches Gesetzbuch")
    True
    """
    plain = _ARTICLE.sub("", " ".join(fold(name.lower()).split()))
    plain = _AFTER_NOUN.sub(r"\1", plain)
    year = _YEAR.search(plain)
    if year and re.search(rf"\b{_LAW_NOUN}\b|^[a-z.\s]{{2,10}}$", plain[: year.start()]):
        plain = plain[: year.start()]
    else:
        year = None
    if _GERMAN_WORD.search(plain):
        plain = _GERMAN_END.sub("", plain)
    return LawKey(_NOT_LETTERS.sub("", plain), year[1] if year else "")


@cache
def _known() -> dict[str, frozenset[LawKey]]:
    """Every listed name and abbreviation, with the laws that it may mean."""
    known: dict[str, set[LawKey]] = defaultdict(set)
    for names in _names():
        for name in names:
            law = law_of(name)
            known[law.name].add(law_of(names[0])._replace(year=law.year or law_of(names[0]).year))
    return {name: frozenset(laws) for name, laws in known.items()}


def _names() -> list[list[str]]:
    lists = ((files("lexfuse.text.citation") / file).read_text("utf-8") for file in LISTS)
    return [line.split("\t") for text in lists for line in text.splitlines()]


def is_known(name: str) -> bool:
    """Whether a name or abbreviation is listed.

    >>> is_known("IPC"), is_known("Bürgerlichen Gesetzbuchs"), is_known("XYZ")
    (True, True, False)
    """
    return law_of(name).name in _known()


@cached_if_short
def laws_meant(name: str) -> frozenset[LawKey]:
    """The laws that a name may mean; a name that is not listed means itself.

    >>> sorted(law.name for law in laws_meant("ZPO"))
    ['schweizerischzivilprozessordnung', 'zpo']
    """
    law = law_of(name)
    known = _known().get(law.name)
    if not known:
        return frozenset((law,))
    if not law.year:
        return known | {law}
    return frozenset(one._replace(year=law.year) for one in known) | {law}


def mean_the_same(cited: str, actual: str) -> bool:
    """Whether a cited name means a law of this name.

    >>> mean_the_same("IPC", "Indian Penal Code"), mean_the_same("§ des BGB"[6:], "Bürgerliches Gesetzbuch")
    (True, True)
    """
    return any(one.equals(other) for one in laws_meant(cited) for other in laws_meant(actual))


_STEM = 5  # letters that an inflected first word keeps


@cache
def _first_words() -> frozenset[str]:
    return frozenset(law_of(name.split()[0]).name[:_STEM] for names in _names() for name in names)


def may_begin_law(word: str) -> bool:
    """Whether a listed name may begin with this word: a fast refusal.

    >>> may_begin_law("Bürgerlichen"), may_begin_law("whereas")
    (True, False)
    """
    return law_of(word).name[:_STEM] in _first_words()
