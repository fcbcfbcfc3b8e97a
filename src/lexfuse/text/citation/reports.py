"""Neutral citations and law reports: ``[2020] UKSC 5``, ``2011 SCC 47``, ``(1992) 175 CLR 1``, ``410 U.S. 113``, ``BGHZ 5, 123``.

Abbreviations are data (``reporters.tsv``). Its first column says how a decision is cited: ``neutral`` ([year] court number),
``plain`` (the same without brackets), ``year`` (volumes are numbered within a year, so the year is part of the citation),
``volume`` (volumes are numbered throughout), ``before`` (the abbreviation comes first), ``journal`` (abbreviation, year, page),
``swiss``, ``air`` and ``ilr`` (of India).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from lexfuse.deadline import check
from lexfuse.text.citation.citation import CitationSystem
from lexfuse.text.citation.identifiers import Identifier

_WORD = r"[A-Z][A-Za-z.'’&]*+"  # possessive: parts of a long word are not tried as words
_NAME = rf"{_WORD}(?:\s?(?:\((?:[A-Z][A-Za-z]*|2d|3d|4th|5th|6th)\)|&|{_WORD}|(?:2d|2nd|3d|3rd|4th|5th|6th)\b)){{0,5}}?"
_LOWER_NAME = r"(?:uk|ew|hc|nsw|sc|fc|vs|qc|wa|nz|ie|on|bc|ab|us)[a-z]{0,6}(?:\s(?:civ|crim))?"
_AFTER_NUMBER = re.compile(
    rf"[0-9](?<![\w.,/-][0-9])[0-9]{{0,3}}(?:[-–/][0-9]{{2,4}})?(?P<close>[\])],?)?\s{{0,2}}"
    rf"(?:\((?P<inner>[0-9]{{1,3}})\)\s?|(?P<volume>[0-9]{{1,4}})\s{{1,2}})?(?P<name>{_NAME}|(?<=[\])]\s){_LOWER_NAME})"
    r"(?:,?\s{1,2}|(?<=[.)]))(?:\((?P<late>[0-9]{1,3})\)\s?)?(?P<page>[0-9]{1,7})(?![\w/]|[.,][0-9]{3}|\s?(?:%|€|V\b|W\b|kg|km))"
    r"(?P<division>\s\([A-Z][A-Za-z]{1,7}\))?"
)
_NUMBER = re.compile(r"[0-9]+")
_PINPOINT = re.compile(
    r",?\s(?:at\s)?(?:paras?\.?\s)?\[(?P<first>(?!(?:1[89]|20)[0-9]{2})[0-9]{1,4})\](?:\s?[-–]\s?\[?(?P<last>[0-9]{1,4})\]|,?\s(?:and\s)?\[(?P<more>(?!(?:1[89]|20)[0-9]{2})[0-9]{1,4})\])?(?!\s?[A-Z]{2})"
)
_PAGE = r"(?P<page>[0-9]{1,5})(?![0-9/])"
_FIRST_NAME = re.compile(
    r"(?<![\w.-])(?:A\.?\s?I\.?\s?R\.?,?|I\.?\s?L\.?\s?R\.?,?(?:\s[A-Z][a-z]+\.?)?|B(?:GH(?:Z|St)|Verf(?:GE|GK)|VerwGE|AGE|SGE|FHE|ayObLGZ|V?GE|B)"
    r"|RG(?:Z|St)|OLGZ|ATF|D(?:TF|VBl\.?|ÖV|B)|N(?:JW|VwZ|StZ|ZA)(?:-RR)?|NZ[MIG]|FamRZ|WuM|MDR|JZ|JuS|GRUR(?:-RR)?|ZIP|WM|VersR|EuZW|StV|ZMR)"
    r"\s[\[(]?$"
)
_LONGEST_NAME = 14
# The first digit behind what may end such a name: digits are rare, so that this search is fast.
_NAME_BEFORE = re.compile(r"[0-9](?<![0-9][0-9])(?:(?<=[EFGIJKMNPRSVWZBltVÖ.,]\s[0-9])|(?<=[\[(][0-9]))")
_FIRST = re.compile(
    r"(?:"
    rf"A\.?\s?I\.?\s?R\.?,?\s(?:\([0-9]{{1,3}}\)\s)?\(?(?P<air>(?:19|20)[0-9]{{2}})\)?,?\s(?P<court>[A-Z][A-Za-z.&]*+(?:\s?(?:[A-Z][A-Za-z.]*+|&)){{0,3}}?)\s{_PAGE}"
    rf"|I\.?\s?L\.?\s?R\.?,?\s(?:[\[(](?P<ilr_year>(?:18|19|20)[0-9]{{2}})[\])]\s)?(?P<ilr>[0-9]{{1,3}}\s)?(?P<ilr_court>[A-Z][a-z]+\.?)\s(?P<ilr_page>[0-9]{{1,4}})"
    r"|(?P<series>B(?:GH(?:Z|St)|Verf(?:GE|GK)|VerwGE|AGE|SGE|FHE|ayObLGZ)|RG(?:Z|St)|OLGZ)\s(?P<series_volume>[0-9]{1,3})\s?,\s?(?:S\.\s)?(?P<series_page>[0-9]{1,4})"
    r"|(?P<swiss>BV?GE|ATF|DTF)\s(?P<swiss_volume>[0-9]{1,4})\s(?P<swiss_part>[IV]{1,3}[ab]?)\s(?P<swiss_page>[0-9]{1,4})"
    r"|(?P<journal>NJW(?:-RR)?|NVwZ(?:-RR)?|NStZ(?:-RR)?|NZA(?:-RR)?|NZM|NZI|NZG|FamRZ|WuM|MDR|JZ|JuS|GRUR(?:-RR)?|ZIP|WM|VersR|DVBl\.?|DÖV|EuZW|StV|ZMR|BB|DB)"
    r"\s(?P<journal_year>(?:19|20)[0-9]{2})\s?,\s?(?:S\.\s)?(?P<journal_page>[0-9]{1,4})"
    r")(?!\w)"
)
_TERSE = 2  # letters of an abbreviation that needs a dot or a year in brackets
_LAST_VOLUME = 1699  # a number from 1700 on is a year
_COMMON = frozenset(
    ("car", "ind", "or", "how", "pet", "wall", "pa", "mo", "lt", "tc", "ill", "cal", "mass", "wash", "tex", "a", "p", "f")
)


@cache
def reporters() -> dict[str, dict[str, str]]:
    """Every abbreviation in comparison form: how it cites, and its canonical abbreviation.

    >>> reporters()["fsupp2d"], reporters()["uksc"]
    ({'volume': 'F. Supp. 2d'}, {'neutral': 'UKSC'})
    """
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for line in (files("lexfuse.text.citation") / "reporters.tsv").read_text("utf-8").splitlines():
        form, *names = line.split("\t")
        if not form.startswith("#"):
            for name in names:
                known[_letters(name)].setdefault(form, names[0])
    return dict(known)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9&]", "", name.lower())


def reports(text: str) -> list[Identifier]:
    """Decisions cited by neutral citation or law report, in text order.

    >>> [one.key for one in reports("[2020] UKSC 5; (1992) 175 CLR 1; AIR 1973 SC 1461; 123 F.Supp.2d 456; BGE 129 III 335")]
    ['[2020] UKSC 5', '175 CLR 1', 'AIR 1973 SC 1461', '123 F. Supp. 2d 456', 'BGE 129 III 335']
    """
    found = [*_after_number(text), *_abbreviation_first(text)]
    found.sort(key=lambda item: (item.start, -item.end))
    kept: list[Identifier] = []
    for item in found:
        if not kept or item.start >= kept[-1].end:
            kept.append(item)
    return kept


def _after_number(text: str) -> Iterator[Identifier]:
    at = 0
    while match := _AFTER_NUMBER.search(text, at):
        check()
        known = reporters().get(_letters(match["name"]))
        key = _key(text, match, known) if known else ""
        if not key:
            number = _NUMBER.match(text, match.start())
            at = number.end() if number else match.end()
            continue
        opened = match["close"] is not None and text[match.start() - 1 : match.start()] in ("[", "(")
        system = (
            CitationSystem.NEUTRAL
            if known and {"neutral", "plain"} & known.keys() and not _volume(match)
            else CitationSystem.REPORT
        )
        end = match.end() if system is CitationSystem.NEUTRAL else match.end("page")
        parts, end = _pinpoint(text, end)
        yield Identifier(match.start() - opened, end, system, key, parts)
        at = end


def _pinpoint(text: str, end: int) -> tuple[tuple[str, ...], int]:
    """Paragraphs in brackets: [2020] UKSC 5 at [64]-[66]."""
    place = _PINPOINT.match(text, end)
    if place is None:
        return (), end
    first, last = int(place["first"]), int(place["last"] or 0)
    if last and first < last <= first + 200:
        return tuple(map(str, range(first, last + 1))), place.end()
    return tuple(number for number in (place["first"], place["last"], place["more"]) if number), place.end()


def _volume(match: re.Match[str]) -> str:
    return match["volume"] or match["inner"] or match["late"] or ""


def _key(text: str, match: re.Match[str], known: dict[str, str]) -> str:
    """The canonical form, or nothing if the abbreviation is not cited in this way."""
    number = _NUMBER.match(match.group())
    first, page, volume = int(number.group()) if number else 0, int(match["page"]), _volume(match)
    bracket = text[match.start() - 1 : match.start()] if match["close"] else ""
    dated = 1700 <= first <= 2099
    name = match["name"]
    if not bracket and not _is_spelled_out(name, known):
        return ""
    if match["close"] and (bracket not in ("[", "(") or not dated):
        return ""
    if not volume and dated and bracket:
        for form in ("neutral", "year", "plain") if bracket == "[" else ("neutral", "plain", "year"):
            if form in known:
                return _dated(form, first, "", known[form], page)
    if volume and dated:
        order = ("year", "volume") if bracket == "[" or not match["close"] else ("volume", "year")
        form = next((one for one in order if one in known), "")
        return (
            f"{volume} {known[form]} {page}"
            if form == "volume"
            else _dated(form, first, volume, known[form], page)
            if form
            else ""
        )
    if dated and not bracket:
        form = next((one for one in ("plain", "neutral", "year") if one in known), "")
        if form == "year" and len(_letters(name)) <= _TERSE:
            return ""
        return _dated(form, first, "", known[form], page) if form else ""
    if volume or first > _LAST_VOLUME or "volume" not in known or bracket:
        return ""
    letters = _letters(name)
    if len(letters) <= _TERSE and letters != "us" and "\n" in match.group():
        return ""  # the end of a line in a list: A., then 2
    if "." not in name and (len(letters) <= _TERSE or letters in _COMMON) and name not in ("US", "ER"):
        return ""
    return f"{first} {known['volume']} {page}"


def _is_spelled_out(name: str, known: dict[str, str]) -> bool:
    """Whether capitals are where they should be: "2 Nr. 1" is not the report NR."""
    return not next(iter(known.values())).replace(" ", "").isalpha() or any(
        one.isupper() == re.sub(r"[.\s]", "", name).isupper() for one in known.values()
    )


def _dated(form: str, year: int, volume: str, name: str, page: int) -> str:
    if form == "plain":
        return f"{year} {name} {page}"
    return " ".join(filter(None, (f"[{year}]", volume, name, str(page))))


def _abbreviation_first(text: str) -> Iterator[Identifier]:
    for place in _NAME_BEFORE.finditer(text):
        name = _FIRST_NAME.search(text, max(0, place.start() - _LONGEST_NAME), place.start())
        match = _FIRST.match(text, name.start()) if name else None
        if match:
            check()
            yield Identifier(match.start(), match.end(), CitationSystem.REPORT, _first_key(match))


def _first_key(match: re.Match[str]) -> str:
    if match["air"]:
        court = re.sub(r"[.\s]", "", match["court"])
        return f"AIR {match['air']} {court} {match['page']}"
    if match["ilr_court"]:
        year = f"[{match['ilr_year']}]" if match["ilr_year"] and not match["ilr"] else ""
        parts = ("ILR", year, (match["ilr"] or "").strip(), match["ilr_court"].rstrip("."), match["ilr_page"])
        return " ".join(filter(None, parts))
    if match["series"]:
        return f"{match['series']} {match['series_volume']}, {match['series_page']}"
    if match["swiss"]:
        series = "BVGE" if match["swiss"] == "BVGE" else "BGE"  # one series in three languages
        return f"{series} {match['swiss_volume']} {match['swiss_part']} {match['swiss_page']}"
    return f"{match['journal'].rstrip('.')} {match['journal_year']}, {match['journal_page']}"
