"""A git repository of law with one commit per reform, such as ``legalize-dev/legalize-fr``: every version of every article.

A version is a text, whatever form the Markdown has: it lasts as long as snapshots have the same text under the same number. If
headings change but the text does not, the version has its last headings. The first commit of a file may hold all texts that its
articles ever had, so it is left out where later ones exist. A file with a snapshot that the copy lacks is left out as a whole:
its versions would begin on wrong days.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.document_history import is_absence
from lexfuse.data.formats.beir import Collection
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legalize.git_snapshots import FileSnapshot, absent_blobs, file_snapshots, read_blobs
from lexfuse.data.sources.legalize.law_markdown import (
    LawArticle,
    article_text,
    law_articles,
    law_facts,
    law_headings,
    same_text_key,
)
from lexfuse.errors import DataError

SUFFIX = ".md"
LANGUAGES = ("de", "es", "fr", "it", "pt")  # of countries with the same code
LONG_GAP = datetime.timedelta(days=3653)  # between two snapshots that a report names


class LawAccount(NamedTuple):
    """What became of one law: its snapshots, and the longest time between two of them, in which changes may be missing."""

    path: str
    snapshots: int
    first: datetime.date
    last: datetime.date
    longest_gap: tuple[datetime.date, datetime.date]
    versions: int  # 0 if the law was left out

    @classmethod
    def of(cls, path: str, every: Sequence[FileSnapshot], documents: Sequence[Document]) -> LawAccount:
        """The account of a file whose versions were read."""
        days = [one.day for one in every if not one.original] or [one.day for one in every]
        gap = max(pairwise(days), key=lambda pair: pair[1] - pair[0], default=(days[0], days[0]))
        return cls(path, len(days), days[0], days[-1], gap, sum(not is_absence(one) for one in documents))

    def as_json(self) -> dict[str, object]:
        """Plain values."""
        days = {"first": str(self.first), "last": str(self.last), "longest_gap": [*map(str, self.longest_gap)]}
        return {"law": self.path, "snapshots": self.snapshots, **days, "versions": self.versions}

    def row(self) -> list[object]:
        """A row of a table."""
        years = (self.longest_gap[1] - self.longest_gap[0]).days // 365
        gap = f"{self.longest_gap[0]} to {self.longest_gap[1]} ({years} years)"
        return [self.path, self.snapshots, str(self.first), str(self.last), gap, self.versions or "left out"]


def read_history(
    repository: str | Path,
    report: ReadReport | None = None,
    *,
    laws: Sequence[str] = (),
    accounts: list[LawAccount] | None = None,
    progress: ProgressBar = no_progress_bar,
) -> Collection:
    """Every version of every article; `laws` names the files to read, such as ``LEGITEXT000006070721``, all by default.

    `accounts` gets what became of each law. `progress` counts snapshots, law after law.
    """
    report, place = report or ReadReport(), Path(repository)
    documents: list[Document] = []
    listed = file_snapshots(place, SUFFIX, report)
    if unknown := sorted(set(laws) - {Path(path).stem for path in listed}):
        raise DataError(f"the repository has no file {unknown[0]}{SUFFIX}", path=place)
    chosen = {path: every for path, every in sorted(listed.items()) if not laws or Path(path).stem in laws}
    read = 0
    with progress("reading snapshots of laws", sum(map(len, chosen.values()))) as done:
        for path, every in chosen.items():
            found = law_documents(place, path, every, report)
            documents += found
            read += len(every)
            done(read)
            if accounts is not None:
                accounts.append(LawAccount.of(path, every, found))
    if not documents:
        raise DataError("no law with a complete history could be read; clone the repository with all its files", path=place)
    return Collection(Corpus.of(documents))


def law_documents(repository: Path, path: str, every: Sequence[FileSnapshot], report: ReadReport) -> list[Document]:
    """All versions of the articles of one file; none if a snapshot cannot be read, which the report says."""
    snapshots = [one for one in every if not one.original] or list(every)
    last = max((one for one in snapshots if one.blob), key=lambda one: one.order)  # its form shows what is a heading
    absent = absent_blobs(repository, [one.blob for one in snapshots if one.blob])
    if lacked := next((one.day for one in snapshots if one.blob in absent), None):
        report.note("a law with snapshots that this copy of the repository lacks, left out", path=f"{path}, {lacked}")
        return []
    contents = read_blobs(repository, [one.blob for one in (last, *snapshots) if one.blob])
    timeline = _Timeline()
    divided: dict[str, tuple[str, list[str]]] = {}
    newest = next(contents)
    facts, known = law_facts(newest or ""), law_headings(newest or "")
    for snapshot in snapshots:
        markdown = next(contents) if snapshot.blob else ""
        timeline.add(snapshot.day, law_articles(markdown or "", known, divided))
    if not timeline.articles:
        report.note("a file without articles, left out", path=path)
        return []
    _note_gaps(path, [one.day for one in snapshots], report)
    return timeline.documents(facts.get("identifier") or Path(path).stem, facts)


def _note_gaps(path: str, days: Sequence[datetime.date], report: ReadReport) -> None:
    for before, after in pairwise(days):
        if after - before > LONG_GAP:
            report.note("a law without snapshots for more than ten years", path=f"{path}, {before} to {after}")


@dataclass
class _Version:
    text: str
    start: datetime.date
    headings: tuple[str, ...]
    key: str
    end: datetime.date | None = None


@dataclass
class _Timeline:
    """The versions of the articles of one law, snapshot after snapshot."""

    days: list[datetime.date] = field(default_factory=list)
    articles: dict[tuple[str, int], list[_Version]] = field(default_factory=dict)  # by number and, where it repeats, occurrence
    _keys: dict[str, str] = field(default_factory=dict)
    _open: dict[str, dict[int, _Version]] = field(default_factory=dict)  # versions in force by number and occurrence

    def add(self, day: datetime.date, articles: Sequence[LawArticle]) -> None:
        """The articles of the next snapshot."""
        self.days.append(day)
        found: dict[str, list[LawArticle]] = {}
        for article in articles:
            found.setdefault(article.number, []).append(article)
        for number in self._open.keys() - found.keys():
            for version in self._open.pop(number).values():
                version.end = day
        for number, some in found.items():
            if not self._unchanged(number, some):
                self._open[number] = self._continued(number, some, day)

    def _unchanged(self, number: str, some: Sequence[LawArticle]) -> bool:
        """Whether the one version in force under a number goes on as it is: nearly all articles of a snapshot."""
        former = self._open.get(number, {})
        if len(some) != 1 or len(former) != 1:
            return False
        (version,) = former.values()
        return version.text == some[0].markdown and version.headings == some[0].headings

    def _continued(self, number: str, some: Sequence[LawArticle], day: datetime.date) -> dict[int, _Version]:
        """The versions in force after a snapshot: the same texts go on, others follow those that end, in their order."""
        former, now, rest = dict(self._open.get(number, {})), {}, []
        for article in some:
            key = self._key(article.markdown)
            same = next((at for at, version in former.items() if version.key == key), None)
            if same is None:
                rest.append((article, key))
            else:
                now[same] = former.pop(same)
                now[same].headings = article.headings
                now[same].text = article.markdown
        for version in former.values():
            version.end = day
        free = [*former, *(at for at in range(len(some) + len(now) + len(former)) if at not in now and at not in former)]
        for at, (article, key) in zip(free, rest, strict=False):
            now[at] = _Version(article.markdown, day, article.headings, key)
            self.articles.setdefault((number, at), []).append(now[at])
        return now

    def _key(self, markdown: str) -> str:
        if markdown not in self._keys:
            self._keys[markdown] = same_text_key(markdown)
        return self._keys[markdown]

    def documents(self, law: str, facts: dict[str, str]) -> list[Document]:
        """All versions as documents, with an absence from the first snapshot of the law to the first version."""
        documents = []
        code, country = facts.get("title", law), facts.get("country", "")
        language = country if country in LANGUAGES else ""  # else it is detected
        for (number, occurrence), versions in self.articles.items():
            id = f"{law}-{'_'.join(number.split())}" + (f"~{occurrence + 1}" if occurrence else "")
            article = Document(id, f"{code}, art. {number}", "", language, DocumentKind.STATUTE, code, number)
            for version in versions:
                dated = replace(article, valid_from=version.start, valid_to=version.end)
                documents.append(replace(dated, text=article_text(version.text), headings=version.headings))
            if versions[0].start > self.days[0]:
                documents.append(replace(article, title="", valid_from=self.days[0], valid_to=versions[0].start))
        return documents
