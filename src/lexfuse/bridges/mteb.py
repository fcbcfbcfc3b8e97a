"""LexFuse and mteb: a search model and an encoder that mteb evaluates, and a collection as a retrieval task. It needs torch."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from lexfuse import __version__
from lexfuse.bridges.bound_search import check_filters
from lexfuse.channels.channel_build import Channels
from lexfuse.data.arrays import F32
from lexfuse.data.document import Document
from lexfuse.data.document_history import versions_of
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.formats.fields import document_of, document_record, query_of, query_record
from lexfuse.data.formats.json_text import from_json, to_json
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.dependencies import Extra
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Encoder, Side
from lexfuse.errors import ConfigError
from lexfuse.index import Index, detect_languages
from lexfuse.search.spec.spec import SearchSpec

Extra.MTEB.require("lexfuse.bridges.mteb")

from datasets import Dataset  # noqa: E402
from mteb.abstasks import AbsTaskRetrieval  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402
from mteb.models.abs_encoder import AbsEncoder  # noqa: E402
from mteb.models.model_meta import ModelMeta, ScoringFunction  # noqa: E402
from mteb.types import PromptType  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

RECORD = "lexfuse_record"  # column with all fields of a document or query as JSON; other models do not read it
PROMPT = "Given a question, retrieve the legal texts that answer it"  # of models with instructions
_UNDETERMINED = "und"
_LANGUAGES = {
    "de": "deu-Latn", "en": "eng-Latn", "es": "spa-Latn", "fr": "fra-Latn", "it": "ita-Latn", "nl": "nld-Latn", "pt": "por-Latn",
}  # fmt: skip


class MtebRetriever:
    """A search model of mteb that indexes the corpus of a task and ranks its queries as `Index.run` does.

    The index of each task, subset and split is a folder inside `folder`, which replaces an older one. `runs` has the run of each,
    by the name of its index. Documents with equal scores keep the order of LexFuse: their scores are lowered by the smallest
    possible step, since mteb orders equal scores otherwise.

    >>> import lexfuse, mteb
    >>> collection = Collection(
    ...     lexfuse.read_corpus("examples/articles.csv"),
    ...     lexfuse.read_queries("examples/questions.csv"),
    ...     {"test": lexfuse.read_qrels("examples/test.tsv")},
    ... )
    >>> with MtebRetriever(folder / "indexes", profile="bm25") as model:
    ...     result = mteb.evaluate(model, MtebTask(collection, "Library"), cache=None, show_progress_bar=False)
    >>> evaluation = lexfuse.evaluate(collection.qrels["test"], model.runs["Library.default.test"], "nDCG@10")
    >>> f"{result.task_results[0].get_score():.4f}" == f"{evaluation.mean('nDCG@10'):.4f}"
    True
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        channels: Channels = (),
        language: str = "",
        profile: str | SearchSpec = "",
        filters: Sequence[str] = (),
        as_of: str | datetime.date | None = None,
        options: Mapping[str, Any] | None = None,
        name: str = "lexfuse/lexfuse",
    ) -> None:
        """Build indexes with `channels` and `language` (see `Index.build`); search them with the options of `Index.run`."""
        check_filters(filters)
        if repeated := sorted((options or {}).keys() & {"depth", "profile", "filters", "as_of"}):
            raise ConfigError(f"options must not have {', '.join(repeated)}; mteb gives the depth, the others are arguments")
        self.folder, self.channels, self.language = Path(folder), channels, language
        self.search_options: dict[str, Any] = {"profile": profile, "filters": filters, "as_of": as_of, **(options or {})}
        self.runs: dict[str, Run] = {}
        self._name = name
        self._index: Index | None = None

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """The name and version of the model, and the options by which mteb tells its stored results apart."""
        given = {"channels": self.channels, "language": self.language, **self.search_options}
        return ModelMeta.create_empty(
            {
                "name": self._name,
                "revision": __version__,
                "model_type": ["hybrid" if self.channels else "sparse"],
                "experiment_kwargs": {key: str(value) for key, value in given.items() if value},
            }
        )

    def index(self, corpus: Dataset, *, task_metadata: TaskMetadata, hf_split: str, hf_subset: str, **_: Any) -> None:
        """Build an index of the corpus; metadata is that of `MtebTask`, other tasks have titles and texts."""
        self.close()
        place = self.folder / f"{_index_name(task_metadata, hf_split, hf_subset)}.index"
        documents = (document for row in corpus for document in _documents(row))
        self._index = Index.build(place, documents, channels=self.channels, language=self.language, replace=True)

    def search(
        self,
        queries: Dataset,
        *,
        task_metadata: TaskMetadata,
        hf_split: str,
        hf_subset: str,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **_: Any,
    ) -> dict[str, dict[str, float]]:
        """The scores of the best documents of every query; of those in `top_ranked` alone, where a task reranks."""
        if self._index is None:
            raise ConfigError("the corpus is not indexed; call index before search")
        depth = top_k if top_ranked is None else max(top_k, len(self._index.version.snapshot))
        run = self._index.run(Queries.of(map(_query, queries)), depth=depth, **self.search_options)
        if top_ranked is not None:
            run = _ranked_among(run, top_ranked, top_k)
        self.runs[_index_name(task_metadata, hf_split, hf_subset)] = run
        return {query: _strictly_decreasing(ranking) for query, ranking in run.as_dict().items()}

    def close(self) -> None:
        """Close the index of the last task; its folder stays."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def __enter__(self) -> MtebRetriever:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class MtebEncoder(AbsEncoder):
    """A dense model of LexFuse as an encoder of mteb, for tasks of all types; queries and passages have their own prompts.

    >>> MtebEncoder("fr-legal-dense").mteb_model_meta.embed_dim
    384
    """

    def __init__(self, model: str | Path | Encoder) -> None:
        """Load a model by name (see `DenseEncoder.load`), or take a loaded one."""
        self.model: Encoder = DenseEncoder.load(model) if isinstance(model, str | Path) else model
        similarity = ScoringFunction.COSINE if self.model.normalises else ScoringFunction.DOT_PRODUCT
        name = Path(model).name if isinstance(model, str | Path) else type(model).__name__
        self.mteb_model_meta = ModelMeta.create_empty(
            {
                "name": f"lexfuse/{name}",
                "revision": self.model.fingerprint,
                "embed_dim": self.model.dimension,
                "similarity_fn_name": similarity,
                "framework": ["ONNX"],
            }
        )

    def encode(self, inputs: DataLoader[Any], *, prompt_type: PromptType | None = None, **_: Any) -> F32:
        """One row per text; a text that is neither query nor document is encoded as a query."""
        side = Side.PASSAGE if prompt_type is PromptType.document else Side.QUERY
        return self.model.encode([text for batch in inputs for text in batch["text"]], side)


class MtebTask(AbsTaskRetrieval):
    """A collection as a retrieval task of mteb, one split for each of its judgements; nothing is downloaded.

    Models of mteb read titles and texts. `MtebRetriever` also reads the legal metadata.

    >>> import lexfuse
    >>> corpus, queries = lexfuse.read_corpus("examples/articles.csv"), lexfuse.read_queries("examples/questions.csv")
    >>> task = MtebTask(Collection(corpus, queries, {"test": lexfuse.read_qrels("examples/test.tsv")}), "Library")
    >>> task.metadata.eval_splits, task.metadata.eval_langs
    (['test'], ['fra-Latn'])
    """

    data_loaded: bool = False
    dataset: dict[str, dict[str, dict[str, Any]]] | None = None

    def __init__(
        self,
        collection: Collection | str | Path,
        name: str,
        *,
        languages: Sequence[str] = (),
        description: str = "",
        prompt: str = PROMPT,
        seed: int = 42,
    ) -> None:
        """Evaluate on a collection or its BEIR folder; by default `languages` (``"fra-Latn"``) is the one of most documents."""
        opened = collection if isinstance(collection, Collection) else read_collection(collection)
        if opened.queries is None or not opened.qrels:
            missing = "queries" if opened.queries is None else "judgements"
            raise ConfigError(f"a task needs queries and judgements, and the collection has no {missing}")
        self._collection, self._queries = opened, opened.queries
        self._published = self.metadata = TaskMetadata(
            name=name,
            description=description or f"Retrieval in the collection {name}",
            dataset={"path": f"lexfuse/{name}", "revision": _fingerprint(opened)},
            type="Retrieval",
            category="t2t",
            eval_splits=list(opened.qrels),
            eval_langs=list(languages) or [_main_language(opened)],
            main_score="ndcg_at_10",
            domains=["Legal"],
            prompt={"query": prompt},
            is_public=False,
        )
        super().__init__(seed=seed)

    def load_data(self, num_proc: int | None = None, **_: Any) -> None:
        """Make the tables of mteb."""
        if not self.data_loaded:
            corpus = Dataset.from_list([_document_row(document) for document in self._collection.corpus])
            splits = {split: (self._judged(set(qrels.queries)), qrels) for split, qrels in self._collection.qrels.items()}
            self.dataset = {
                "default": {
                    split: {"corpus": corpus, "queries": queries, "relevant_docs": qrels.as_dict(), "top_ranked": None}
                    for split, (queries, qrels) in splits.items()
                }
            }
            self.data_loaded = True

    def unload_data(self) -> None:
        """Free the tables of mteb; the collection and the metadata stay."""
        self.dataset, self.data_loaded, self.metadata = None, False, self._published

    def _judged(self, judged: set[str]) -> Dataset:
        return Dataset.from_list([_query_row(query) for query in self._queries if query.id in judged])


def _index_name(task: TaskMetadata, split: str, subset: str) -> str:
    return re.sub(r"[^\w.-]", "_", f"{task.name}.{subset}.{split}")


def _ranked_among(run: Run, candidates: Mapping[str, Sequence[str]], depth: int) -> Run:
    """The best hits of every query among its candidates."""
    rankings = {query: (set(candidates.get(query, ())), scores) for query, scores in run.as_dict().items()}
    kept = {query: [(doc, scores[doc]) for doc in scores if doc in among] for query, (among, scores) in rankings.items()}
    return Run.of(run.name, {query: dict(hits[:depth]) for query, hits in kept.items()})


def _strictly_decreasing(ranking: Mapping[str, float]) -> dict[str, float]:
    """The scores of a ranking with a smallest step of float32 between equal ones: trec_eval compares scores as float32."""
    above, lowered = np.float32(np.inf), {}
    for doc, score in ranking.items():
        above = min(np.float32(score), np.nextafter(above, np.float32(-np.inf)))
        lowered[doc] = float(above)
    return lowered


def _documents(row: Mapping[str, Any]) -> Iterator[Document]:
    """The versions of a document; a task that does not come from LexFuse has one, with a title and a text."""
    if record := row.get(RECORD):
        yield from map(document_of, from_json(record))
    else:
        yield Document(row["id"], title=row.get("title") or "", text=row.get("text") or "")


def _query(row: Mapping[str, Any]) -> Query:
    """A query; an instruction follows its text, as in mteb."""
    if record := row.get(RECORD):
        return query_of(from_json(record))
    if not isinstance(text := row["text"], str):
        raise ConfigError(f"query {row['id']!r} is a conversation; LexFuse ranks queries that are one text")
    return Query(row["id"], " ".join(part for part in (text, row.get("instruction")) if part))


def _document_row(document: Document) -> dict[str, str]:
    records = [document_record(version) for version in (versions_of(document) if document.history else (document,))]
    record = to_json(records, f"document {document.id!r}").decode()
    return {"id": document.id, "title": document.title, "text": document.text, RECORD: record}


def _query_row(query: Query) -> dict[str, str]:
    return {"id": query.id, "text": query.text, RECORD: to_json(query_record(query), f"query {query.id!r}").decode()}


def _main_language(collection: Collection) -> str:
    """The language of most documents, as mteb writes it."""
    [(language, _)] = Counter(detect_languages(collection.corpus).language).most_common(1) or [("", 0)]
    return _LANGUAGES.get(language, _UNDETERMINED)


def _fingerprint(collection: Collection) -> str:
    """A hash of all documents, queries and judgements: the revision that results of mteb name."""
    digest = hashlib.sha256()
    for row in (*map(_document_row, collection.corpus), *map(_query_row, collection.queries or ())):
        digest.update(to_json(row, "row"))
    for split, qrels in collection.qrels.items():
        digest.update(to_json([split, qrels.as_dict()], "judgements"))
    return digest.hexdigest()
