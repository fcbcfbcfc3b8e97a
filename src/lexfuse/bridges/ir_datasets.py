"""Collections of ir_datasets, read as collections of LexFuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection
from lexfuse.data.formats.json_text import to_json
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.dependencies import Extra
from lexfuse.errors import DataError, NotFoundError

Extra.IR_DATASETS.require("lexfuse.bridges.ir_datasets")

import ir_datasets  # noqa: E402


def read_ir_dataset(dataset: str | ir_datasets.Dataset, report: ReadReport | None = None, *, split: str = "test") -> Collection:
    r"""Read documents, and queries and judgements if there are any; `split` is the name of the judgements.

    `dataset` is a dataset, or the name of one, which ir_datasets may download: ``"beir/scifact/test"``. Fields that LexFuse does
    not have become ``extra``. One that JSON cannot represent is left out, and the report counts it.

    >>> _ = (folder / "docs.tsv").write_text("d1\tle prêt\nd2\tla cotisation\n", encoding="utf-8")
    >>> read_ir_dataset(ir_datasets.create_dataset(docs_tsv=folder / "docs.tsv")).corpus.text
    ('le prêt', 'la cotisation')
    """
    report = report or ReadReport()
    opened = _loaded(dataset) if isinstance(dataset, str) else dataset
    if not opened.has_docs():
        raise DataError(f"the dataset {dataset!r} has no documents; give the one that it takes its documents from")
    corpus = Corpus.of(_documents(opened, report))
    queries = Queries.of(_queries(opened, report)) if opened.has_queries() else None
    qrels = {split: Qrels.of(_judgements(opened))} if opened.has_qrels() else {}
    return Collection(corpus, queries, qrels)


def _loaded(name: str) -> ir_datasets.Dataset:
    try:
        return ir_datasets.load(name)
    except KeyError:
        raise NotFoundError(f"ir_datasets has no dataset {name!r}; `ir_datasets list` lists the names") from None


def _documents(dataset: ir_datasets.Dataset, report: ReadReport) -> Iterator[Document]:
    for one in dataset.docs_iter():
        fields = one._asdict()
        id, title = fields.pop("doc_id"), fields.pop("title", "") or ""
        text = fields.pop("text") if isinstance(fields.get("text"), str) else one.default_text()
        yield Document(id, title=title, text=text, extra=_plain(fields, report))
        report.kept += 1


def _queries(dataset: ir_datasets.Dataset, report: ReadReport) -> Iterator[Query]:
    for one in dataset.queries_iter():
        fields = one._asdict()
        id, text = fields.pop("query_id"), one.default_text()
        yield Query(id, text, extra=_plain({name: value for name, value in fields.items() if value != text}, report))


def _judgements(dataset: ir_datasets.Dataset) -> Iterator[tuple[str, str, int]]:
    return ((one.query_id, one.doc_id, one.relevance) for one in dataset.qrels_iter())


def _plain(fields: Mapping[str, Any], report: ReadReport) -> dict[str, Any]:
    """The fields that are JSON values and not empty."""
    plain = {}
    for name, value in fields.items():
        try:
            if value not in (None, "", [], ()):
                to_json(value, name)
                plain[name] = list(value) if isinstance(value, tuple) else value
        except DataError:
            report.note(f"field {name!r} is no JSON value and was left out")
    return plain
