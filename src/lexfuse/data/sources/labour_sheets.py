"""Labour-law sheets of the French ministry (npm ``@socialgouv/fiches-travail-data``) as questions on the codes.

A section of a sheet is a query, and the articles it cites are its labels. The source expands ranges ("L. 1 à L. 9"): the inner
articles precede the upper end and have no written form (``text``).

In about one section in four, the source repeats the references of later sections, so a reference counts only if its written form
is in the section's ``html``. A section that only lists sources ("Textes de référence") covers its whole sheet, so its query is
the sheet's title.

The labels are what editors cite, so they are incomplete. A section that cites many articles says less about each: the grade is 2
for up to five cited articles, 1 for more. All sections of a sheet are in the same split.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json, required_members
from lexfuse.data.corpus import Corpus
from lexfuse.data.dates import parse_date
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legi import ArticleVersions, one_line, read_legi
from lexfuse.data.sources.legi_html import text_and_links
from lexfuse.errors import DataError

SHEETS_FILE = r"fiches-travail\.json(\.gz)?"
FEW = 5
SOURCE_LISTS = frozenset(
    {"textes de référence", "sources réglementaires", "réglementation", "règlementation", "pour aller plus loin"}
)
# Percentages of sheets, by a hash of the sheet's id.
TRAIN, DEV = 60, 20

_FILLING = re.compile(r"[\s.]+")
_HYPHENS = re.compile(r"[\u2010-\u2015]")


@dataclass(frozen=True, slots=True)
class _SheetSection:
    query: Query
    split: str
    articles: tuple[str, ...]
    grade: int


def read_labour(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The codes and the sheets of a folder with both packages, unpacked or as tarballs.

    >>> read_labour(folder)
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no LEGITEXT….json in ...
    """
    report = ReadReport() if report is None else report
    return read_sheets(path, read_legi(path, report).corpus, report)


def read_sheets(path: str | Path, corpus: Corpus, report: ReadReport | None = None) -> Collection:
    """The questions of a sheets file (or its tarball) on a corpus from `read_legi`.

    >>> article = {"text": "L. 1", "fmt": "L1", "cid": "LEGIARTI1", "id": "LEGIARTI5"}
    >>> section = {"title": "Durée", "references": {"LEGITEXT1": {"articles": [article]}}}
    >>> sheet = {"pubId": "fiche1", "title": "Le préavis", "date": "04/05/2023", "sections": [section]}
    >>> import json
    >>> _ = (folder / "fiches-travail.json").write_text(json.dumps([sheet]))
    >>> collection = read_sheets(folder, Corpus.of([Document("LEGIARTI9", extra={"cid": "LEGIARTI1"})]))
    >>> collection.queries[0].text, [qrels.as_dict() for qrels in collection.qrels.values()]
    ('Le préavis : Durée', [{'fiche1-1': {'LEGIARTI9': 2}}])
    """
    report = ReadReport() if report is None else report
    versions = ArticleVersions.of(corpus)
    sections = [section for sheet, place in _sheets(path) for section in _sections(sheet, place, versions, report)]
    if not sections:
        raise DataError(
            "no section of a sheet cites an article of this corpus; are these the codes it was written on?", path=path
        )
    qrels = {}
    for split in ("train", "dev", "test"):
        triples = [(s.query.id, id, s.grade) for s in sections if s.split == split for id in s.articles]
        if triples:
            qrels[split] = Qrels.of(triples)
    report.kept += len(sections)
    return Collection(corpus=corpus, queries=Queries.of(section.query for section in sections), qrels=qrels)


def split_of_sheet(id: str) -> str:
    """The split of a sheet and all its sections; it depends only on the id.

    >>> split_of_sheet("article375542")
    'train'
    """
    share = int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big") % 100
    return "train" if share < TRAIN else "dev" if share < TRAIN + DEV else "test"


def _sheets(path: str | Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    for place, raw in required_members(path, SHEETS_FILE, "fiches-travail.json"):
        sheets = parse_json(raw, place)
        if not isinstance(sheets, list):
            raise DataError(f"expected a list of sheets, found {type(sheets).__name__}", path=place)
        for number, sheet in enumerate(sheets, start=1):
            yield sheet, f"{place}, sheet {number}"


def _sections(sheet: Any, place: str, versions: ArticleVersions, report: ReadReport) -> Iterator[_SheetSection]:
    try:
        id, title, sections, date = (
            sheet["pubId"],
            one_line(sheet["title"]),
            sheet["sections"],
            parse_date(sheet.get("date"), path=place, day_first=True),
        )
    except (KeyError, TypeError, AttributeError) as error:
        report.bad(DataError(f"a sheet without pubId, title or sections ({error})", path=place))
        return
    except DataError as error:
        report.bad(error)
        return
    for number, section in enumerate(sections, start=1):
        heading = one_line(section.get("title"))
        cited, articles = _cited(section, f"{place}, section {number}", versions, report)
        if not cited:
            continue
        if not articles:
            report.note("section that cites no article of the corpus, not a query", path=f"{place}, section {number}")
            continue
        alone = heading in ("", title) or heading.lower() in SOURCE_LISTS
        text = title if alone else f"{title} : {heading}"
        extra = {"sheet": id, "section": heading, "url": sheet.get("url"), "theme": sheet.get("theme")}
        query = Query(f"{id}-{number}", text, language="fr", date=date, extra={k: v for k, v in extra.items() if v})
        yield _SheetSection(query, split_of_sheet(id), articles, 2 if cited <= FEW else 1)


def _cited(section: Mapping[str, Any], place: str, versions: ArticleVersions, report: ReadReport) -> tuple[int, tuple[str, ...]]:
    """The number of articles that a section cites, and those that the corpus still has."""
    cited, found = 0, dict[str, None]()
    own = _compact(text_and_links(section["html"])[0]) if section.get("html") else None
    for code, reference in (section.get("references") or {}).items():
        articles = reference.get("articles") or []
        for article, present in zip(articles, _in_section(articles, own), strict=True):
            where = f"{place}, {article.get('fmt')}"
            if not present:
                report.note("reference of another section, left out here", path=where)
                continue
            cited += 1
            # Not by number: the number of a repealed article may since belong to another one.
            names = (versions.current(article.get(key) or "") for key in ("id", "cid"))
            current = next((name for name in names if name is not None), None)
            if current is not None:
                found.setdefault(current)
            elif code.startswith("LEGITEXT"):
                report.note("reference to an article that the corpus does not have", path=where)
            else:
                report.note("reference without a code in the source", path=where)
    return cited, tuple(found)


def _in_section(articles: list[Mapping[str, Any]], own: str | None) -> list[bool]:
    """Which references appear in the section's text; inside a range, its upper end decides."""
    if own is None:
        return [True] * len(articles)
    found, present = [], True
    for article in reversed(articles):
        if written := article.get("text"):
            present = re.search(re.escape(_compact(written)) + r"(?!\d|-\d)", own) is not None
        found.append(present)
    return found[::-1]


def _compact(text: str) -> str:
    return _HYPHENS.sub("-", _FILLING.sub("", text)).lower()
