"""SciFact: scientific claims and the abstracts that support or refute them (Wadden et al. 2020), in the splits of BEIR.

The files are the CSV export of the hub's ``allenai/scifact``, whose lists are written as numpy prints arrays. As in BEIR, the
validation claims are the test split and every cited abstract is relevant; the test claims, which have no labels, are left
out.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from lexfuse.data.archives import members
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import decode, existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, NotFoundError

ABSTRACTS_FILE = r"corpus_train\.csv"
CLAIMS_FILES = {"train": r"claims_train\.csv", "test": r"claims_validation\.csv"}

_SENTENCE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


def read_scifact(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""The abstracts and the claims of train and test, from the zip file or an unpacked folder.

    >>> _ = (folder / "corpus_train.csv").write_text("doc_id,title,abstract\n4,Cells,\"['One.' 'Two.']\"\n")
    >>> _ = (folder / "claims_train.csv").write_text("id,claim,cited_doc_ids\n0,Cells divide.,[4]\n")
    >>> _ = (folder / "claims_validation.csv").write_text("id,claim,cited_doc_ids\n")
    >>> collection = read_scifact(folder)
    >>> collection.corpus.text, collection.qrels["train"].as_dict()
    (('One. Two.',), {'0': {'4': 1}})
    """
    report = ReadReport() if report is None else report
    documents = [
        Document(
            row["doc_id"], title=_one_line(row["title"]), text=_one_line(" ".join(sentences(row["abstract"]))), language="en"
        )
        for row, _ in _rows(path, ABSTRACTS_FILE, ("doc_id", "title", "abstract"))
    ]
    corpus = Corpus.of(documents)
    queries: dict[str, Query] = {}
    labels: dict[str, dict[tuple[str, str], int]] = {}
    for split, file in CLAIMS_FILES.items():
        for row, place in _rows(path, file, ("id", "claim", "cited_doc_ids")):
            cited = row["cited_doc_ids"].strip("[] ").split()
            if unknown := [id for id in cited if id not in corpus.ids]:
                report.bad(DataError(f"the claim cites an abstract that is not in the corpus: {unknown[0]!r}", path=place))
                continue
            queries.setdefault(row["id"], Query(row["id"], row["claim"], language="en"))  # one row for each evidence
            labels.setdefault(split, {}).update({(row["id"], id): 1 for id in cited})
    report.kept += len(corpus) + len(queries)
    qrels = {split: Qrels.of((*pair, grade) for pair, grade in pairs.items()) for split, pairs in labels.items()}
    return Collection(corpus, Queries.of(queries.values()) if queries else None, qrels)


def sentences(printed: str) -> list[str]:
    """The texts of an array as numpy prints it.

    >>> sentences('''['One.' "It's two."]''')
    ['One.', "It's two."]
    """
    return [str(ast.literal_eval(found)) for found in _SENTENCE.findall(printed)]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _rows(path: str | Path, name: str, required: tuple[str, ...]) -> Iterator[tuple[dict[str, str], str]]:
    found = list(members(existing(path), name))
    if not found:
        raise NotFoundError(f"no {name.replace(chr(92), '')} in {str(path)!r}; give scifact.zip or its unpacked folder")
    for place, raw in found:
        reader = csv.DictReader(io.StringIO(decode(raw, path=place), newline=""), strict=True)
        if missing := [column for column in required if column not in (reader.fieldnames or ())]:
            raise DataError(f"no column {', '.join(missing)}; found {', '.join(reader.fieldnames or ()) or 'none'}", path=place)
        try:
            for row in reader:
                yield row, f"{place}, line {reader.line_num}"
        except csv.Error as error:
            raise DataError(f"not valid CSV ({error})", path=place, line=reader.line_num) from None
