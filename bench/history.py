"""A git repository of law with its history: every version imported and indexed, as-of questions, cost, and latency.

    python bench/history.py REPOSITORY [--law LEGITEXT000006070721 …] [--questions 200] [--quick] [--json]

REPOSITORY is a clone of legalize-dev/legalize-fr; --quick reads the Code civil alone. Two indexes are built: one with all
versions, and one of the law of today without history. Each question is an article and a day on which it was in force, drawn
from all snapshots; the right text is read from the snapshot in git, not from the imported versions. Both indexes answer the same
questions in turn, so a ratio does not depend on the load of the machine; above 1 the index with history is better.
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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.document_history import in_force, is_absence, versions_of
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legalize.git_snapshots import FileSnapshot, file_snapshots, read_blobs
from lexfuse.data.sources.legalize.law_history import SUFFIX, law_documents
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


def main() -> None:
    """Import, index, ask, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--law", action="append", help="Only this file; all with a complete history by default.")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="The Code civil alone.")
    parser.add_argument("--json", action="store_true", help="JSON lines only.")
    given = parser.parse_args()
    NEEDS.check()
    laws = [CODE_CIVIL] if given.quick else given.law
    report, snapshots = ReadReport(), file_snapshots(given.repository, SUFFIX, ReadReport())
    chosen = {path: every for path, every in sorted(snapshots.items()) if not laws or Path(path).stem in laws}
    corpus, read = imported(given.repository, chosen, report)
    tell(given.json, {"report": report.lines()})
    with tempfile.TemporaryDirectory() as home:
        started = time.perf_counter()
        with Index.build(Path(home) / "history.index", corpus) as index:
            built = time.perf_counter() - started
            alone = [one for document in corpus for one in versions_of(document) if in_force(one, datetime.date.today())]
            current = [replace(one, history=()) for one in alone if not is_absence(one)]
            started = time.perf_counter()
            with Index.build(Path(home) / "today.index", current) as today:
                built_today = time.perf_counter() - started
                versions = sum(len(index.history(id)) for id in corpus.ids)
                rows = index.snapshot._catalog._rows("SELECT count(*) FROM contents")[0][0]  # type: ignore[attr-defined]
                sizes = [sum(file_sizes(Path(home) / name)) for name in ("history.index", "today.index")]
                tell(given.json, {
                    "laws": len(read), "documents": len(corpus), "periods": versions, "texts": rows,
                    "minutes to read git": round(sum(read.values()) / 60, 2), "minutes to index": round(built / 60, 2),
                    "minutes to index today": round(built_today / 60, 2), "bytes": sizes[0],
                    "bytes per text": round(sizes[0] / rows), "bytes per document of today": round(sizes[1] / len(current)),
                })  # fmt: skip
                kept = {path: every for path, every in chosen.items() if path in read}
                asked, right, wrong = questions_answered(index, given.repository, kept, given.questions, given.seed)
                tell(given.json, {"as-of questions": asked, "right": right, "wrong": wrong[:10]})
                compare(index, today, corpus, given.seed)
    if right < asked:
        sys.exit(1)


def tell(quiet: bool, values: dict[str, object]) -> None:
    """Print figures, as one JSON line or a line each."""
    if quiet:
        print(json.dumps(values, ensure_ascii=False))
        return
    for name, value in values.items():
        print(f"{name}: {value}")


def imported(repository: Path, chosen: dict[str, list[FileSnapshot]], report: ReadReport) -> tuple[Corpus, dict[str, float]]:
    """The corpus of all laws that can be read completely, and the seconds of each."""
    documents, seconds = [], {}
    for path, every in chosen.items():
        started = time.perf_counter()
        found = law_documents(repository, path, every, report)
        if found:
            documents += found
            seconds[path] = time.perf_counter() - started
    return Corpus.of(documents), seconds


def questions_answered(
    index: Index, repository: Path, chosen: dict[str, list[FileSnapshot]], questions: int, seed: int
) -> tuple[int, int, list[str]]:
    """How many questions by title and by id were asked, how many got the text of the snapshot in force, and which did not."""
    right, wrong = 0, []
    drawn = list(_drawn(repository, chosen, questions, random.Random(seed)))  # noqa: S311 -- repeatable
    for code, number, day, texts in drawn:
        filters = [f"{field}={value}".replace(",", "\\,") for field, value in (("code", code), ("number", number))]
        named = [hit.document for hit in index.search(f"{code}, art. {number}", k=20, filters=filters, as_of=day)]
        found = {same_text_key(one.text) for one in named}
        read = {same_text_key(index.document(one.id, as_of=day).text) for one in named}
        if found == read == texts:
            right += 1
        else:
            wrong.append(f"{code}, {number}, {day}")
    return len(drawn), right, wrong


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


def compare(index: Index, today: Index, corpus: Corpus, seed: int) -> None:
    """Whether both indexes rank today's law the same, and the latency of each."""
    chance = random.Random(seed)  # noqa: S311 -- repeatable
    texts = [text for text in corpus.text if len(text.split()) > 12]
    words = [" ".join(chance.choice(texts).split()[2:10]) for _ in range(TIMED)]
    queries = Queries.of([Query(str(at), text, "fr") for at, text in enumerate(words)])
    same = index.run(queries, depth=100).as_dict() == today.run(queries, depth=100).as_dict()
    took: dict[str, list[float]] = {"history": [], "today": [], "past": []}
    past = datetime.date(2000, 1, 1)
    index.search(words[0], as_of=past)
    for _ in range(TURNS):
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
    print(json.dumps({"metric": metric, **figures}))


if __name__ == "__main__":
    main()
