"""Labour-law sheets of the French ministry (npm ``@socialgouv/fiches-travail-data``) as questions on the codes.

A section of a sheet with the articles it cites is a query with labels. Ranges ("L. 1 à L. 9") come expanded in the source:
their inner articles stand before the upper end, without a written form (``text``) of their own.

The source gives about one section in four the references of the sections after it as well, so a reference counts only where
its written form stands in the section's own ``html``. A section that is a mere list of sources ("Textes de référence") speaks
for its whole sheet, so its query is the sheet's title alone.

The labels are what editors cite, so they are incomplete; a section that cites many articles says less of each: grade 2 up
to five cited articles, 1 above. Sheets go as a whole to train, dev or test.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.data.archives import members, parse_json
from lexfuse.data.corpus import Corpus
from lexfuse.data.dates import parse_date
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legi import read_legi
from lexfuse.data.sources.legi_html import text_and_links
from lexfuse.data.sources.legi_versions import ArticleVersions
from lexfuse.errors import DataError, NotFoundError

SHEETS_FILE = r"fiches-travail\.json(\.gz)?"
FEW = 5
SOURCE_LISTS = frozenset(
    {"textes de référence", "sources réglementaires", "réglementation", "règlementation", "pour aller plus loin"}
)
# Shares of sheets, in hundredths, by a hash of the sheet's id.
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
    """The codes and the sheets of a folder that holds both packages, unpacked or as tarballs.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_labour(folder)
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no LEGITEXT….json in ...
    """
    report = ReadReport() if report is None else report
    return read_sheets(path, read_legi(path, report).corpus, report)


def read_sheets(path: str | Path, corpus: Corpus, report: ReadReport | None = None) -> Collection:
    """The questions of a sheets file (or its tarball) on a corpus of codes that `read_legi` gave.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> article = {"text": "L. 1", "fmt": "L1", "cid": "LEGIARTI1", "id": "LEGIARTI5"}
    >>> section = {"title": "Durée", "references": {"LEGITEXT1": {"articles": [article]}}}
    >>> sheet = {"pubId": "fiche1", "title": "Le préavis", "date": "04/05/2023", "sections": [section]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     import json
    ...     _ = Path(folder, "fiches-travail.json").write_text(json.dumps([sheet]))
    ...     collection = read_sheets(folder, Corpus.of([Document("LEGIARTI9", extra={"cid": "LEGIARTI1"})]))
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
    """The split of a sheet and so of all its sections; it depends on the id alone.

    >>> split_of_sheet("article375542")
    'train'
    """
    share = int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big") % 100
    return "train" if share < TRAIN else "dev" if share < TRAIN + DEV else "test"


def _sheets(path: str | Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    found = False
    for place, raw in members(existing(path), SHEETS_FILE):
        found = True
        sheets = parse_json(raw, place)
        if not isinstance(sheets, list):
            raise DataError(f"a list of sheets was expected, found {type(sheets).__name__}", path=place)
        for number, sheet in enumerate(sheets, start=1):
            yield sheet, f"{place}, sheet {number}"
    if not found:
        raise NotFoundError(f"no fiches-travail.json in {str(path)!r}; give the file, the package's tarball or its data folder")


def _sections(sheet: Any, place: str, versions: ArticleVersions, report: ReadReport) -> Iterator[_SheetSection]:
    try:
        id, title, sections, date = sheet["pubId"], _clean(sheet["title"]), sheet["sections"], parse_date(sheet.get("date"))
    except (KeyError, TypeError, AttributeError) as error:
        report.bad(DataError(f"a sheet without pubId, title or sections ({error})", path=place))
        return
    except DataError as error:
        report.bad(DataError(error.reason, path=place))
        return
    for number, section in enumerate(sections, start=1):
        heading = _clean(section.get("title") or "")
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
    """How many articles a section cites, and those of them that the corpus has now."""
    cited, found = 0, dict[str, None]()
    own = _compact(text_and_links(section["html"])[0]) if section.get("html") else None
    for code, reference in (section.get("references") or {}).items():
        articles = reference.get("articles") or []
        for article, stands in zip(articles, _standing(articles, own), strict=True):
            where = f"{place}, {article.get('fmt')}"
            if not stands:
                report.note("reference of another section, left out here", path=where)
                continue
            cited += 1
            # The number is no key: a repealed article's number may since belong to another one.
            names = (versions.current(article.get(key) or "") for key in ("id", "cid"))
            current = next((name for name in names if name is not None), None)
            if current is not None:
                found.setdefault(current)
            elif code.startswith("LEGITEXT"):
                report.note("reference to an article that the corpus does not hold (any more)", path=where)
            else:
                report.note("reference that the source itself gives no code for", path=where)
    return cited, tuple(found)


def _standing(articles: list[Mapping[str, Any]], own: str | None) -> list[bool]:
    """Which references stand in the section's own text; inside a range, its upper end decides."""
    if own is None:
        return [True] * len(articles)
    stands, standing = [], True
    for article in reversed(articles):
        if written := article.get("text"):
            standing = re.search(re.escape(_compact(written)) + r"(?!\d|-\d)", own) is not None
        stands.append(standing)
    return stands[::-1]


def _compact(text: str) -> str:
    return _HYPHENS.sub("-", _FILLING.sub("", text)).lower()


def _clean(text: str) -> str:
    return " ".join(text.split())
