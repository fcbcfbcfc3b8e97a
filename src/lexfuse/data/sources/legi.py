"""French codes in the SocialGouv form of LEGI (npm ``@socialgouv/legi-data``): one document per article.

A code is a JSON tree of ``{type: code|section|article, data, children}``. Errors of the source and their corrections:

- ``etat`` is stale. Dates decide, as of the day of the code's version (``dateDebutVersion`` of the root).
- 2999-01-01 and 2222-02-22 are placeholders: the end is unknown.
- ``texte`` has lost its paragraphs: the text comes from ``texteHtml``.
- A link names a version of an article, often an old one: it resolves through ``cid`` and ``articleVersions``.
- The id of a code's file may differ from the ``cid`` that other sources cite: both are kept.
- Numbers repeat ("Annexe I") and have stray spaces: the id of a document is its LEGIARTI id.

Articles stay in document order, because a range of articles ("L. 1 à L. 9") follows that order.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json, required_members
from lexfuse.data.corpus import Corpus
from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.beir import Collection
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legi_html import ArticleLink, text_and_links
from lexfuse.errors import DataError

CODE_FILE = r"LEGITEXT\d{12}\.json(\.gz)?"
ARTICLE_URL = "https://www.legifrance.gouv.fr/codes/article_lc/"

_NUMBER = re.compile(r"(LO|[LRDA])(\*?\d.*)")
# The meaning of each state, if the source kept it up to date.
_STATES = {
    "VIGUEUR": {DocumentStatus.IN_FORCE},
    "VIGUEUR_DIFF": {DocumentStatus.DEFERRED},
    "ABROGE_DIFF": {DocumentStatus.ENDING},
    "ABROGE": {DocumentStatus.REPEALED},
    "MODIFIE": {DocumentStatus.REPEALED},
}


@dataclass(frozen=True, slots=True)
class _Code:
    """The root of one file: what all its articles share."""

    place: str
    id: str
    cid: str
    title: str
    day: datetime.date | None  # first day of the version of the code that the file holds


def read_legi(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The articles of one code (a JSON file), or of every code in a folder or in the package's tarball.

    >>> article = {"id": "LEGIARTI000000000001", "num": " L1 ", "texteHtml": "<p>Un.</p>", "dateDebut": 0}
    >>> code = {"type": "code", "data": {"id": "T1", "title": "Code du jeu", "dateDebutVersion": "2020-01-01"},
    ...         "children": [{"type": "article", "data": article}]}
    >>> import json
    >>> _ = (folder / "code.json").write_text(json.dumps(code))
    >>> print(read_legi(folder / "code.json").corpus[0].title)
    Code du jeu, art. L. 1
    """
    report = ReadReport() if report is None else report
    documents: list[Document] = []
    links: list[tuple[ArticleLink, ...]] = []
    codes: set[str] = set()
    for place, raw in required_members(path, CODE_FILE, "LEGITEXT….json"):
        code, tree = _code(parse_json(raw, place), place, report)
        codes |= {code.id, code.cid}
        for document, found in _articles(tree, code, report):
            documents.append(document)
            links.append(found)
    if not documents:
        raise DataError("has no article; a code is a tree of sections and articles", path=path)
    corpus = _linked(_unique(documents, path, report), dict(zip((d.id for d in documents), links, strict=True)), codes, report)
    report.kept += len(corpus)
    return Collection(corpus=corpus, queries=None, qrels={})


def article_title(code: str, number: str) -> str:
    """The full name of an article.

    >>> article_title("Code du travail", "L1251-33-1"), article_title("Code du travail", "Annexe I")
    ('Code du travail, art. L. 1251-33-1', 'Code du travail, Annexe I')
    """
    if not number:
        return code
    if match := _NUMBER.fullmatch(number):
        return f"{code}, art. {match[1]}. {match[2]}"
    return f"{code}, art. {number}" if number[0].isdigit() else f"{code}, {number}"


def status_on(day: datetime.date | None, valid_from: datetime.date | None, valid_to: datetime.date | None) -> DocumentStatus:
    """The state of an article on a day, from its dates; unknown without a day.

    >>> from datetime import date
    >>> status_on(date(2026, 3, 27), date(2018, 7, 1), date(2027, 7, 1))
    <DocumentStatus.ENDING: 'ending'>
    """
    if day is None:
        return DocumentStatus.UNKNOWN
    if valid_to is not None and valid_to <= day:
        return DocumentStatus.REPEALED
    if valid_from is not None and valid_from > day:
        return DocumentStatus.DEFERRED
    return DocumentStatus.IN_FORCE if valid_to is None else DocumentStatus.ENDING


def _code(tree: Any, place: str, report: ReadReport) -> tuple[_Code, Mapping[str, Any]]:
    if not isinstance(tree, dict) or tree.get("type") != "code" or not isinstance(tree.get("data"), dict):
        found = sorted(tree) if isinstance(tree, dict) else type(tree).__name__
        raise DataError(f"not a code: expected an object with type 'code', data and children, found {found}", path=place)
    data = tree["data"]
    if not data.get("id") or not data.get("title"):
        raise DataError(f"the code has no id or no title; found {sorted(data)}", path=place)
    day = parse_date(data.get("dateDebutVersion"), path=place)
    if day is None:
        report.note("code without dateDebutVersion, the state of its articles is not known", path=place)
    return _Code(place, data["id"], data.get("cid") or data["id"], one_line(data["title"]), day), tree


def _articles(tree: Mapping[str, Any], code: _Code, report: ReadReport) -> Iterator[tuple[Document, tuple[ArticleLink, ...]]]:
    pending: list[tuple[Any, tuple[str, ...]]] = [(child, ()) for child in reversed(children_of(tree, code.place))]
    while pending:
        node, headings = pending.pop()
        kind, data = (node.get("type"), node.get("data")) if isinstance(node, dict) else (None, None)
        if kind == "section" and isinstance(data, dict):
            path = (*headings, one_line(data.get("title")))
            pending.extend((child, path) for child in reversed(children_of(node, code.place)))
        elif kind == "article" and isinstance(data, dict):
            try:
                yield _article(data, code, headings, report)
            except DataError as error:
                report.bad(error)
        else:
            report.bad(DataError(f"a node of type {kind!r}, expected 'section' or 'article' with data", path=code.place))


def children_of(node: Mapping[str, Any], place: str) -> list[Any]:
    """The children of a node of the tree; a `DataError` if they are not a list."""
    children = node.get("children", [])
    if not isinstance(children, list):
        raise DataError(f"children: expected a list, got {type(children).__name__}", path=place)
    return children


def _article(
    data: Mapping[str, Any], code: _Code, headings: tuple[str, ...], report: ReadReport
) -> tuple[Document, tuple[ArticleLink, ...]]:
    id, number = data.get("id"), one_line(data.get("num"))
    if not id:
        raise DataError("an article without id", path=f"{code.place}, article {number or '?'}")
    place = f"{code.place}, article {id}"
    if not number:
        report.note("article without number, kept without one", path=place)
    if not isinstance(data.get("texteHtml") or data.get("texte"), str):
        raise DataError(f"no texteHtml and no texte; found {sorted(data)}", path=place)
    text, links = text_and_links(data.get("texteHtml") or data["texte"])
    valid_from, valid_to = parse_date(data.get("dateDebut"), path=place), parse_date(data.get("dateFin"), path=place)
    status = status_on(code.day, valid_from, valid_to)
    _note_state(data.get("etat"), status, place, report)
    document = Document(
        id=id,
        title=article_title(code.title, number),
        text=text,
        language="fr",
        kind=DocumentKind.STATUTE,
        code=code.title,
        number=number,
        headings=tuple(heading for heading in headings if heading),
        valid_from=valid_from,
        valid_to=valid_to,
        status=status,
        extra=_extra(data, id, code),
    )
    return document, links


def _extra(data: Mapping[str, Any], id: str, code: _Code) -> dict[str, Any]:
    extra: dict[str, Any] = {"cid": data.get("cid") or id, "code_id": code.id, "code_cid": code.cid, "url": ARTICLE_URL + id}
    if nota := text_and_links(data.get("notaHtml") or data.get("nota") or "")[0]:
        extra["nota"] = nota
    older = dict.fromkeys(version.get("id") for version in data.get("articleVersions") or [])
    if versions := [version for version in older if version and version not in (id, extra["cid"])]:
        extra["versions"] = versions
    return extra


def _note_state(state: str | None, status: DocumentStatus, place: str, report: ReadReport) -> None:
    if status is DocumentStatus.REPEALED:
        report.note("article no longer in force at the code's date, kept as repealed", path=place)
    if status is not DocumentStatus.UNKNOWN and status not in _STATES.get(state or "", set()):
        report.note(f"state {state or 'none'!r} ignored: by its dates the article is {status.value!r}", path=place)


def _unique(documents: list[Document], path: str | Path, report: ReadReport) -> list[Document]:
    kept: dict[str, Document] = {}
    for document in documents:
        if document.id in kept:
            report.bad(DataError("repeated article id", path=f"{path}, article {document.id}"))
        kept.setdefault(document.id, document)
    return list(kept.values())


def _linked(
    documents: list[Document], links: Mapping[str, tuple[ArticleLink, ...]], codes: set[str], report: ReadReport
) -> Corpus:
    versions = ArticleVersions.of(Corpus.of(documents))
    linked: list[Document] = []
    resolved = gone = elsewhere = 0
    for document in documents:
        targets = [versions.current(link.article) for link in links[document.id]]
        inside = [link.text in codes for link in links[document.id]]
        resolved += sum(target is not None for target in targets)
        gone += sum(target is None and here for target, here in zip(targets, inside, strict=True))
        elsewhere += sum(target is None and not here for target, here in zip(targets, inside, strict=True))
        cited = dict.fromkeys(target for target in targets if target is not None and target != document.id)
        linked.append(replace(document, citations=tuple(cited)))
    report.note(
        f"links to articles: {resolved:,} resolved ({sum(len(document.citations) for document in linked):,} between different "
        f"articles, each once), {gone:,} to articles that these codes no longer have, {elsewhere:,} to other texts"
    )
    return Corpus.of(linked)


def one_line(text: object) -> str:
    """A value of the tree as text without surrounding and repeated white space; empty for none."""
    return " ".join(str(text or "").split())


@dataclass(frozen=True, slots=True)
class ArticleVersions:
    """Maps the id of any version of an article (or its constant ``cid``) to the document of the corpus."""

    documents: Mapping[str, str]

    @classmethod
    def of(cls, corpus: Corpus) -> ArticleVersions:
        """The versions listed in the ``extra`` of a LEGI corpus.

        A document's id always means that document. If two documents share an older version, the first one gets it.

        >>> ArticleVersions.of(Corpus.of([Document("b", extra={"cid": "a", "versions": ["a"]})])).current("a")
        'b'
        """
        documents: dict[str, str] = {}
        for id, extra in zip(corpus.ids, corpus.extra, strict=True):
            for older in (extra.get("cid"), *extra.get("versions", ())):
                if older:
                    documents.setdefault(older, id)
        documents.update((id, id) for id in corpus.ids)
        return cls(documents)

    def current(self, id: str) -> str | None:
        """The document that a version belongs to now, ``None`` if the corpus has none."""
        return self.documents.get(id)
