"""Everyday questions: the rank of the right article without and with the lexicon and the correction of misspelt words.

    python bench/everyday.py --labour INDEX --constitution INDEX [--channels bm25,dense] [--quick] [--json]

The questions and the rule by which the right article was decided are in tests/collections/everyday. INDEX are indexes of French
labour law (fr-labour, or the one of `lexfuse demo`) and of the Constitution of India; `--quick` leaves the latter out.
*before* searches each question as it is written, *after* is what `search` does by default, and *corrected* also takes the
offered correction, as a user does who follows "did you mean". A rank above 100 counts as not found. Then the effect of the
lexicon alone on the dev splits of the collections in LEXFUSE_DATA whose documents the index holds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lexfuse
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.index import Index
from runner.needs import Needs

NEEDS = Needs(
    inputs={
        "LEXFUSE_BENCH_LABOUR_INDEX": "an index of French labour law",
        "LEXFUSE_BENCH_CONSTITUTION_INDEX": "an index of the Constitution of India",
    },
    arguments=("--labour", "{LEXFUSE_BENCH_LABOUR_INDEX}", "--constitution", "{LEXFUSE_BENCH_CONSTITUTION_INDEX}"),
)

COLLECTION = Path(__file__).parent.parent / "tests" / "collections" / "everyday"
CODES = {
    "code-du-travail": "Code du travail",
    "code-de-la-securite-sociale": "Code de la sécurité sociale",
    "constitution-of-india": "Constitution of India",
}
DEPTH = 100
WAYS: dict[str, dict[str, Any]] = {
    "before": {"spelling": "off", "everyday": False},
    "after": {},
    "corrected": {"spelling": "apply"},
}
GROUPS = {"fr": "20 French", "mis": "10 misspelt French", "en": "10 English"}
DEV = ("fr-labour", "fr-public", "fr-citizen")


def right_articles(index: Index) -> dict[str, set[str]]:
    """The ids of the right articles of every question about this index; one that it lacks is an error."""
    snapshot = index.snapshot
    numbers = zip(snapshot.column("code"), snapshot.column("number"), snapshot.ids, strict=True)
    known = {(code, number): id for code, number, id in numbers}
    codes = {code for code, _ in known}
    found: dict[str, set[str]] = {}
    for line in (COLLECTION / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]:
        question, article, _ = line.split("\t")
        code, _, number = article.partition(":")
        if CODES[code] in codes:
            if (CODES[code], number) not in known:
                sys.exit(f"{question}: the index has no article {number} of {CODES[code]}")
            found.setdefault(question, set()).add(known[CODES[code], number])
    return found


def ranks(index: Index, search: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rank of the right article of every question, each way; None if it is not among the first 100."""
    right = right_articles(index)
    for query in read_queries(COLLECTION / "queries.jsonl"):
        if query.id in right:
            found = {}
            for way, options in WAYS.items():
                hits = index.search(query.text, DEPTH, language=query.language, **search, **options)
                found[way] = next((hit.rank for hit in hits if hit.id in right[query.id]), None)
            yield {"question": query.id, "text": query.text, **found}


def summary(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """For each group of questions: how many right articles are first, among the first 3 and 10, and the mean reciprocal rank."""
    for prefix, name in GROUPS.items():
        some = [row for row in rows if row["question"].startswith(prefix)]
        for way in WAYS if some else ():
            at = [row[way] or float("inf") for row in some]
            shares = {f"first {k}": sum(rank <= k for rank in at) for k in (1, 3, 10, 100)}
            yield {"group": name, "way": way, **shares, "mean reciprocal rank": round(sum(1 / rank for rank in at) / len(at), 3)}


def dev_effect(index: Index, channels: str) -> Iterator[dict[str, Any]]:
    """nDCG@10 and R@100 of dev questions that have everyday words, without and with the lexicon."""
    for name in DEV if os.environ.get("LEXFUSE_DATA") else ():
        folder = Path(os.environ["LEXFUSE_DATA"]) / name
        judged = read_qrels(folder / "qrels" / "dev.tsv") if folder.exists() else None
        if judged is None or any(doc not in index for doc in judged.judged(judged.queries[0])):
            continue
        every = read_queries(folder)
        words, own = index.version.everyday_words(), set(judged.queries)
        dev = [at for at, id in enumerate(every.ids) if id in own]
        queries = every.select([at for at in dev if words.expansions(every.text[at], every.language[at])])
        for way, lexicon in (("before", None), ("after", {})):
            run = index.run(queries, channels=channels, lexicon=lexicon)
            asked = [(query, doc, grade) for query in queries.ids for doc, grade in judged.judged(query).items()]
            means = lexfuse.evaluate(lexfuse.Qrels.of(asked), run, "nDCG@10 R@100").means
            counts = {"questions": len(dev), "with everyday words": len(queries)}
            yield {"collection": f"{name} dev", **counts, "way": way, **{str(one): round(mean, 3) for one, mean in means.items()}}


def main() -> None:
    """Print every question, the summary and the effect on dev questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labour", type=Path, required=True)
    parser.add_argument("--constitution", type=Path)
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="indexes of other collections, for dev splits alone")
    parser.add_argument("--channels", default="bm25")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    NEEDS.check()
    rows, effects = [], []
    search = {"channels": given.channels.split(",")}
    for folder in (given.labour, None if given.quick else given.constitution):
        if folder is not None:
            with Index.open(folder) as index:
                rows += list(ranks(index, search))
    for folder in (given.labour, *([] if given.quick else given.others)):
        with Index.open(folder) as index:
            effects += list(dev_effect(index, given.channels))
    records = [*rows, *summary(rows), *effects]
    for record in records:
        print(json.dumps(record, ensure_ascii=False) if given.json else " | ".join(map(str, record.values())), flush=True)


if __name__ == "__main__":
    main()
