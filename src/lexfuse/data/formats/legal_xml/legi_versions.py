"""The versions of LEGI articles as versions of documents: one document per article, with the id of its first version.

Every file lists the ids of all versions of its article. Their dates decide when each is in force; 2999-01-01 and 2222-02-22
mean that a day is not known. What the official files have, and what becomes of it:

- A version that was never in force (``MODIFIE_MORT_NE``, an end before its first day, or a first day that is not fixed) is left
  out: no day has it.
- A version without an end is in force until the next one begins.
- Versions that are in force on the same days are further documents, ``LEGIARTI…~2``.
- Versions that follow each other with the same text are one, with the last headings; its other ids stay in ``versions``.
"""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lexfuse.data.document import Document, DocumentStatus
from lexfuse.data.document_history import is_absence
from lexfuse.data.formats.legal_xml.legi_article import ARTICLE_ID
from lexfuse.data.read_report import ReadReport

_STILLBORN = "_MORT_NE"
_OPEN = datetime.date.max
_LATIN_WORDS = "bis ter quater quinquies sexies septies octies nonies decies undecies duodecies terdecies quaterdecies"
_LATIN = {word: place for place, word in enumerate(_LATIN_WORDS.split())}


def join_legi_versions(documents: Iterable[Document], report: ReadReport) -> list[Document]:
    """Documents in which versions of LEGI articles share the id of their article; others are as they were.

    >>> old = Document("LEGIARTI2", text="avant", valid_from=datetime.date(2004, 1, 1), valid_to=datetime.date(2010, 1, 1),
    ...                extra={"cid": "LEGIARTI2", "versions": ["LEGIARTI1"]})
    >>> new = Document("LEGIARTI1", text="après", valid_from=datetime.date(2010, 1, 1), extra={"cid": "LEGIARTI2"})
    >>> [(one.id, one.text, str(one.valid_to)) for one in join_legi_versions([new, old], ReadReport())]
    [('LEGIARTI2', 'avant', '2010-01-01'), ('LEGIARTI2', 'après', 'None')]
    """
    every = list(documents)
    articles = [one for one in every if one.id.startswith(ARTICLE_ID)]
    groups = _groups(articles)
    names = {one: first for first, ids in groups.items() for one in ids}
    versions: dict[str, list[Document]] = defaultdict(list)
    for article in articles:
        versions[names[article.id]].append(article)
    joined = [one for first, some in versions.items() for one in _article(first, some, report)]
    known = {one.id for one in joined}
    cited = {one: first for one, first in names.items() if first in known}
    joined = [replace(one, citations=_renamed(one.citations, cited, one.id)) for one in joined]
    joined.sort(key=lambda one: (one.extra.get("code_id", ""), _number_order(one.number)))  # versions stay in order
    return [one for one in every if not one.id.startswith(ARTICLE_ID)] + joined


def _groups(articles: Sequence[Document]) -> dict[str, set[str]]:
    """The ids that files list together, by the id of the first version."""
    parent: dict[str, str] = {}

    def root(id: str) -> str:
        while parent.setdefault(id, id) != id:
            parent[id] = parent[parent[id]]
            id = parent[id]
        return id

    first: dict[str, tuple[datetime.date, str]] = {}
    for article in articles:
        for other in _listed(article):
            parent[root(other)] = root(article.id)
    for article in articles:  # of articles that were joined later, the cid of the oldest version names all
        start, named = article.valid_from or _OPEN, article.extra.get("cid", article.id)
        first[root(article.id)] = min(first.get(root(article.id), (_OPEN, named)), (start, named))
    groups: dict[str, set[str]] = defaultdict(set)
    for id in parent:
        groups[first[root(id)][1]].add(id)
    return groups


def _listed(article: Document) -> list[str]:
    return [article.id, article.extra.get("cid", article.id), *article.extra.get("versions", ())]


def _article(first: str, versions: Sequence[Document], report: ReadReport) -> list[Document]:
    """The versions of one article in the order of their days, in one document or, where they overlap, in several."""
    kept = [one for one in versions if _is_dated(one, alone=len(versions) == 1, report=report)]
    kept.sort(key=lambda one: (one.valid_from or datetime.date.min, one.valid_to or _OPEN, one.id))
    lanes: list[list[Document]] = []
    for at, version in enumerate(kept):
        following = next((one.valid_from for one in kept[at + 1 :] if one.valid_from != version.valid_from), None)
        closed = replace(version, valid_to=version.valid_to or following)
        lane = next((one for one in lanes if (one[-1].valid_to or _OPEN) <= (closed.valid_from or datetime.date.min)), None)
        if lane is None:
            lanes.append([closed])
        elif lane[-1].valid_to == closed.valid_from and _same_text(lane[-1], closed):
            report.note("a version with the text of the one before, joined to it", path=closed.id)
            lane[-1] = _continued(lane[-1], closed)
        else:
            lane.append(closed)
    if len(lanes) > 1:
        report.note("an article with versions in force on the same days, kept as several documents", path=first)
    files = dict.fromkeys(id for version in kept for id in _listed(version))
    documents = []
    for number, lane in enumerate(lanes):
        elsewhere = {version.id for other in lanes if other is not lane for version in other}
        id = f"{first}~{number + 1}" if number else first
        documents += _named(lane, id, tuple(sorted(one for one in files if one != id and one not in elsewhere)))
    return documents


def _is_dated(version: Document, *, alone: bool, report: ReadReport) -> bool:
    state = version.extra.get("state", "")
    if state.endswith(_STILLBORN) or (version.valid_from and version.valid_to and version.valid_to <= version.valid_from):
        report.note("a version that was never in force, left out", path=version.id)
        return False
    if version.valid_from is None and (version.status is DocumentStatus.DEFERRED or not alone):
        report.note("a version whose first day is not known, left out", path=version.id)
        return False
    return True


def _same_text(before: Document, after: Document) -> bool:
    return (before.text, before.number, before.code) == (after.text, after.number, after.code)


def _continued(before: Document, after: Document) -> Document:
    """A version that lasts from the first day of one to the end of the next, which has the same text."""
    return replace(after, valid_from=before.valid_from, history=before.history)


def _named(lane: Sequence[Document], id: str, files: tuple[str, ...]) -> list[Document]:
    """The versions of a document under its id; it is found by the id of any of its files."""
    absences = [replace(one, id=id, identifiers=files) for one in lane[0].history if is_absence(one)]
    versions = [replace(one, id=id, identifiers=files, extra={**one.extra, "version": one.id}, history=()) for one in lane]
    return absences + versions


def _renamed(cited: Iterable[str], names: Mapping[str, str], own: str) -> tuple[str, ...]:
    """The articles of cited versions, as far as they are imported, without the citing one."""
    found = dict.fromkeys(names[one] for one in cited if one in names)
    return tuple(one for one in found if one != own)


def _number_order(number: str) -> list[tuple[int, str]]:
    """A number of French law as a key: L. 9 comes before L. 10, 39 bis before 39 ter."""
    parts = re.findall(r"[0-9]+|[^\W\d_]+", number.casefold())
    return [(int(part), "") if part.isdigit() else (_LATIN.get(part, 0), part) for part in parts]
