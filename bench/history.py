"""A git repository of law with its history: every version imported and indexed, as-of questions, cost, and latency.

    python bench/history.py REPOSITORY [--law LEGITEXT000006070721 …] [--questions 200] [--indexes FOLDER] [--quick] [--json]

REPOSITORY is a clone of legalize-dev/legalize-fr; --quick reads the Code civil alone. Two indexes are built: one with all
versions, and one of the law of today without history. Each question is an article and a day on which it was in force, drawn
from all snapshots; the right text is read from the snapshot in git, not from the imported versions. Both indexes answer the same
questions in turn, so a ratio does not depend on the load of the machine; above 1 the index with history is better.

What it does at the moment (each law, each tenth of an index, every 20 questions) goes to standard error.

All laws take about ten minutes of processor time. --indexes keeps both indexes in a folder; a later run then asks its questions
without reading and indexing again.
"""

from __future__ import annotations

import argparse
import bisect
import datetime
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.document_history import in_force, is_absence, versions_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legalize.git_snapshots import FileSnapshot, absent_blobs, file_snapshots, read_blobs
from lexfuse.data.sources.legalize.law_history import SUFFIX, LawAccount, law_documents
from lexfuse.data.sources.legalize.law_markdown import law_articles, law_facts, law_headings, same_text_key
from lexfuse.index import Index
from lexfuse.storage.folder_names import file_sizes
from runner.needs import Needs

NEEDS = Needs(
    programs=("git",),
    inputs={"LEXFUSE_BENCH_LAW_HISTORY": "a clone of legalize-dev/legalize-fr"},
    arguments=("{LEXFUSE_BENCH_LAW_HISTORY}",),
)

CODE_CIVIL = "LEGITEXT000006070721"
TIMED = 200  # questions for latency
TURNS = 5
HISTORY, TODAY, COMPLETE = "history.index", "today.index", "complete"  # the last is written when both indexes are there
STARTED = time.perf_counter()


class Cost:
    """Minutes of a step on the clock, and of the processor."""

    def __init__(self) -> None:
        """Start the step."""
        self._clock, self._processor = time.perf_counter(), time.process_time()

    def minutes(self) -> list[float]:
        """How long it has taken up to now."""
        return [round(spent / 60, 2) for spent in (time.perf_counter() - self._clock, time.process_time() - self._processor)]


def main() -> None:
    """Import, index, ask, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--law", action="append", help="Only this file; all with a complete history by default.")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--indexes", type=Path, help="Keep both indexes in this folder, or use those that are there.")
    parser.add_argument("--quick", action="store_true", help="The Code civil alone.")
    parser.add_argument("--json", action="store_true", help="JSON lines only.")
    given = parser.parse_args()
    NEEDS.check()
    laws = [CODE_CIVIL] if given.quick else given.law
    show_step(f"listing the commits of {given.repository.name}")
    report, snapshots = ReadReport(), file_snapshots(given.repository, SUFFIX, ReadReport())
    chosen = {path: every for path, every in sorted(snapshots.items()) if not laws or Path(path).stem in laws}
    with nullcontext(given.indexes) if given.indexes else tempfile.TemporaryDirectory() as home:
        if not (Path(home) / COMPLETE).exists():
            cost = Cost()
            corpus = imported(given.repository, chosen, report)
            tell(given.json, {"report": report.lines(), "minutes to read git (clock, processor)": cost.minutes()})
            build(corpus, Path(home), given.json)
        with Index(Path(home) / HISTORY) as index, Index(Path(home) / TODAY) as today:
            whole = {path: every for path, every in chosen.items() if is_whole(given.repository, every)}
            asked, right, wrong = questions_answered(index, given.repository, whole, given.questions, given.seed)
            tell(given.json, {"laws": len(whole), "as-of questions": asked, "right": right, "wrong": wrong[:10]})
            compare(index, today, given.seed)
    if right < asked:
        sys.exit(1)


def show_step(text: str) -> None:
    """What is done at the moment, with the seconds since the start."""
    print(f"[{time.perf_counter() - STARTED:6.0f} s] {text}", file=sys.stderr, flush=True)


@contextmanager
def show_tenths(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """The progress of an index, a line a tenth."""
    shown = 0

    def show(done: int) -> None:
        nonlocal shown
        if 10 * done // max(total, 1) > shown:
            shown = 10 * done // max(total, 1)
            show_step(f"{what}: {done:,} of {total:,}")

    yield show


def tell(quiet: bool, values: dict[str, object]) -> None:
    """Print figures, as one JSON line or a line each."""
    if quiet:
        print(json.dumps(values, ensure_ascii=False), flush=True)
        return
    for name, value in values.items():
        print(f"{name}: {value}", flush=True)


def imported(repository: Path, chosen: dict[str, list[FileSnapshot]], report: ReadReport) -> Corpus:
    """The corpus of all laws that can be read completely."""
    documents: list[Document] = []
    for at, (path, every) in enumerate(chosen.items(), start=1):
        found = law_documents(repository, path, every, report)
        account = LawAccount.of(path, every, found)
        show_step(f"{at} of {len(chosen)}, {path}: {account.snapshots} snapshots, {account.versions or 'no'} versions")
        documents += found
    return Corpus.of(documents)


def is_whole(repository: Path, every: Sequence[FileSnapshot]) -> bool:
    """Whether the repository has all snapshots of a law that count."""
    snapshots = [one for one in every if not one.original] or every
    return not absent_blobs(repository, [one.blob for one in snapshots if one.blob])


def build(corpus: Corpus, home: Path, quiet: bool) -> None:
    """An index of all versions, and one of today's law without history."""
    cost = Cost()
    with Index.build(home / HISTORY, corpus, progress=show_tenths, replace=True) as index:
        built = cost.minutes()
        periods = sum(len(index.history(id)) for id in corpus.ids)
        rows = index.snapshot._catalog._rows("SELECT count(*) FROM contents")[0][0]  # type: ignore[attr-defined]
    alone = [one for document in corpus for one in versions_of(document) if in_force(one, datetime.date.today())]
    current = [replace(one, history=()) for one in alone if not is_absence(one)]
    cost = Cost()
    Index.build(home / TODAY, current, progress=show_tenths, replace=True).close()
    sizes = [sum(file_sizes(home / name)) for name in (HISTORY, TODAY)]
    tell(quiet, {
        "documents": len(corpus), "periods": periods, "texts": rows,
        "minutes to index (clock, processor)": built, "minutes to index today": cost.minutes(), "bytes": sizes[0],
        "bytes per text": round(sizes[0] / rows), "bytes per document of today": round(sizes[1] / len(current)),
    })  # fmt: skip
    (home / COMPLETE).touch()


def questions_answered(
    index: Index, repository: Path, chosen: dict[str, list[FileSnapshot]], questions: int, seed: int
) -> tuple[int, int, list[str]]:
    """How many questions by title and by id were asked, how many got the text of the snapshot in force, and which did not."""
    right, asked, wrong = 0, 0, []
    for code, number, day, texts in _drawn(repository, chosen, questions, random.Random(seed)):  # noqa: S311 -- repeatable
        filters = [f"{field}={value}".replace(",", "\\,") for field, value in (("code", code), ("number", number))]
        named = [hit.document for hit in index.search(f"{code}, art. {number}", k=20, filters=filters, as_of=day)]
        found = {same_text_key(one.text) for one in named}
        read = {same_text_key(index.document(one.id, as_of=day).text) for one in named}
        asked += 1
        if found == read == texts:
            right += 1
        else:
            wrong.append(f"{code}, {number}, {day}")
        if asked % 20 == 0:
            show_step(f"{asked} as-of questions, {right} right")
    return asked, right, wrong


def _drawn(
    repository: Path, chosen: dict[str, list[FileSnapshot]], questions: int, chance: random.Random
) -> Iterator[tuple[str, str, datetime.date, set[str]]]:
    """Articles and days with the texts that the snapshot in force has under the number of the article."""
    today, paths, drawn = datetime.date.today(), list(chosen), 0
    for _ in range(10 * questions):  # a snapshot may have no articles
        if drawn == questions:
            return
        path = chance.choice(paths)
        snapshots = [one for one in chosen[path] if not one.original] or chosen[path]
        days = [one.day for one in snapshots]
        last = max(snapshots, key=lambda one: one.order)
        span = max((today - days[0]).days, 1)
        day = days[0] + datetime.timedelta(days=chance.randrange(span))
        shown = snapshots[bisect.bisect_right(days, day) - 1]
        newest, markdown = read_blobs(repository, [last.blob, shown.blob])
        articles = law_articles(markdown or "", law_headings(newest or ""))
        if not articles:
            continue
        drawn += 1
        number = chance.choice(articles).number
        texts = {same_text_key(one.markdown) for one in articles if one.number == number}
        yield law_facts(newest or "")["title"], number, day, texts


def compare(index: Index, today: Index, seed: int) -> None:
    """Whether both indexes rank today's law the same, and the latency of each."""
    chance = random.Random(seed)  # noqa: S311 -- repeatable
    texts = sorted({text for text in today.snapshot.column("text") if len(text.split()) > 12})
    words = [" ".join(chance.choice(texts).split()[2:10]) for _ in range(TIMED)]
    queries = Queries.of([Query(str(at), text, "fr") for at, text in enumerate(words)])
    show_step(f"{TIMED} searches of today in both indexes, ranked 100 deep")
    same = index.run(queries, depth=100).as_dict() == today.run(queries, depth=100).as_dict()
    took: dict[str, list[float]] = {"history": [], "today": [], "past": []}
    past = datetime.date(2000, 1, 1)
    index.search(words[0], as_of=past)
    for turn in range(TURNS):
        show_step(f"latency, turn {turn + 1} of {TURNS}")
        for text in words:
            took["history"].append(_seconds(index, text, None))
            took["today"].append(_seconds(today, text, None))
            took["past"].append(_seconds(index, text, past))
    _line("search of today, p50 ms", took["history"], took["today"])
    _line("search as of 2000-01-01, p50 ms", took["past"], took["today"])
    print(json.dumps({"metric": "rankings of today equal", "queries": len(words), "equal": same}))
    started = time.perf_counter()
    for year in range(1990, 2000):
        index.search(words[0], as_of=datetime.date(year, 6, 1))
    print(json.dumps({"metric": "first search of a day, s", "ours": round((time.perf_counter() - started) / 10, 4)}))


def _seconds(index: Index, text: str, day: datetime.date | None) -> float:
    started = time.perf_counter()
    index.search(text, as_of=day)
    return time.perf_counter() - started


def _line(metric: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    first, second = (1000 * statistics.median(values) for values in (ours, theirs))
    figures = {
        "ours": round(first, 3),
        "peer": "index without history",
        "theirs": round(second, 3),
        "ratio": round(second / first, 3),
    }
    print(json.dumps({"metric": metric, **figures}), flush=True)


if __name__ == "__main__":
    main()
