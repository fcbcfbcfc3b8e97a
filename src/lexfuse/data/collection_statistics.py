"""What a collection holds, in figures: those of BSARD's tables 1 and 3 and of CJEU's tables 1, 2 and 7.

Words are what white space separates, as in both papers. A document counts as relevant if any split judges it above 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.data.arrays import Days
from lexfuse.data.document import DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels

TOPIC_FIELDS = ("category", "kind")  # of a question: BSARD's topic, or what sort of question it is

_PARAGRAPH = re.compile(r"(.+)[#_]\d+[a-z]?")
_WORD = re.compile(r"\w+")


def summary_of(collection: Collection) -> dict[str, Any]:
    """Counts of a collection as plain values."""
    corpus = collection.corpus
    return {
        "documents": len(corpus),
        "words": {"total": sum(words_of(corpus.text)), **spread(words_of(corpus.text))},
        "languages": _counts(corpus.language, "unknown"),
        "kinds": _counts(kind.value for kind in corpus.kind),
        "codes": _counts(code for code in corpus.code if code),
        "courts": _counts(court for court in corpus.court if court),
        "dated": int((~np.isnat(corpus.date)).sum()),
        "validity": int((~np.isnat(corpus.valid_from)).sum()),
        "headings": sum(map(bool, corpus.headings)),
        "citations": sum(map(len, corpus.citations)),
        "queries": len(collection.queries) if collection.queries else 0,
        "qrels": {split: {"queries": len(qrels.queries), "judgements": len(qrels)} for split, qrels in collection.qrels.items()},
    }


def statistics_of(collection: Collection) -> dict[str, Any]:
    """The figures that describe a collection in a paper, besides its summary, as plain values; empty parts are left out."""
    corpus, queries = collection.corpus, collection.queries
    parts: dict[str, Any] = {
        "vocabulary": len({word for text in corpus.text for word in _WORD.findall(text.lower())}),
        "years": _years(corpus.date),
        "query_words": spread(words_of(queries.text)) if queries else {},
        "topics": dict(topics(queries.extra).most_common()) if queries else {},
        "splits": {split: split_statistics(collection, qrels) for split, qrels in collection.qrels.items() if len(qrels)},
        "relevant_documents": dict(relevant_by_code(collection).most_common()),
    }
    if collection.qrels and _of_paragraphs(collection):
        parts["paragraph_citations"] = ParagraphCitations.of(collection).statistics(collection)
    return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class ParagraphCitations:
    """Every judged citation of a collection of paragraphs: the citing query and the cited paragraph, each pair once."""

    edges: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, collection: Collection) -> ParagraphCitations:
        """The citations of all splits."""
        return cls(tuple(sorted({edge for qrels in collection.qrels.values() for edge in relevant_pairs(qrels)})))

    @property
    def paragraphs(self) -> set[str]:
        """The paragraphs that cite or are cited."""
        return {id for edge in self.edges for id in edge}

    def statistics(self, collection: Collection) -> dict[str, Any]:
        """CJEU tables 1 and 7: counts, and means with standard deviations."""
        texts = dict(zip(collection.corpus.ids, collection.corpus.text, strict=True))
        if collection.queries is not None:
            texts = dict(zip(collection.queries.ids, collection.queries.text, strict=True)) | texts
        counts = {
            "paragraphs_of_a_decision": Counter(map(decision_of, self.paragraphs)).values(),
            "words_of_a_paragraph": words_of(texts[id] for id in self.paragraphs),
            "inbound_citations": Counter(cited for _, cited in self.edges).values(),
            "outbound_citations": Counter(citing for citing, _ in self.edges).values(),
            "inbound_citations_of_a_decision": Counter(decision_of(cited) for _, cited in self.edges).values(),
            "outbound_citations_of_a_decision": Counter(decision_of(citing) for citing, _ in self.edges).values(),
        }
        return {
            "decisions": len(set(map(decision_of, self.paragraphs))),
            "paragraphs": len(self.paragraphs),
            "citations": len(self.edges),
            **{name: spread(values) for name, values in counts.items()},
        }


def relevant_pairs(qrels: Qrels) -> list[tuple[str, str]]:
    """The queries with their relevant documents.

    >>> relevant_pairs(Qrels.of([("q", "a", 1), ("q", "b", 0)]))
    [('q', 'a')]
    """
    return [(query, doc) for query, judged in qrels.as_dict().items() for doc, grade in judged.items() if grade > 0]


def decision_of(paragraph: str) -> str:
    """The decision of a paragraph, whose id is that of the decision, a sign and its number.

    >>> decision_of("ECLI:EU:C:2017:1007#24"), decision_of("62010CJ0002_7")
    ('ECLI:EU:C:2017:1007', '62010CJ0002')
    """
    found = _PARAGRAPH.fullmatch(paragraph)
    return found[1] if found else paragraph


def topics(extra: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """How many questions each topic has (BSARD table 1); empty where no question has one.

    >>> topics([{"category": "Work"}, {"category": "Work"}, {}])
    Counter({'Work': 2, 'none': 1})
    """
    field = next((name for name in TOPIC_FIELDS if any(name in one for one in extra)), None)
    return Counter() if field is None else Counter(str(one.get(field, "none")) for one in extra)


def relevant_by_code(collection: Collection) -> Counter[str]:
    """How many documents of each code are relevant to at least one question (BSARD table 3)."""
    relevant = {doc for qrels in collection.qrels.values() for _, doc in relevant_pairs(qrels)}
    return Counter(collection.corpus.document(id).code or "no code" for id in relevant)


def words_of(texts: Iterable[str]) -> list[int]:
    """The number of words of each text.

    >>> words_of(["le préavis", ""])
    [2, 0]
    """
    return [len(text.split()) for text in texts]


def spread(counts: Iterable[int]) -> dict[str, float]:
    """Mean, standard deviation, median and maximum; empty without counts.

    >>> spread([1, 2, 6])
    {'mean': 3.0, 'standard_deviation': 2.160246899469287, 'median': 2, 'longest': 6}
    """
    values = np.array(list(counts), dtype=np.int64)
    if not len(values):
        return {}
    return {
        "mean": float(values.mean()),
        "standard_deviation": float(values.std()),
        "median": int(np.quantile(values, 0.5)),
        "longest": int(values.max()),
    }


def split_statistics(collection: Collection, qrels: Qrels) -> dict[str, Any]:
    """CJEU table 2, and how many documents are relevant to a query; years only where queries have dates."""
    pairs = relevant_pairs(qrels)
    found: dict[str, Any] = {
        "queries": len(qrels.queries),
        "relevant": len(pairs),
        "queries_and_relevant_documents": len({id for pair in pairs for id in pair}),
        "relevant_of_a_query": spread(Counter(query for query, _ in pairs).values()),
    }
    if collection.queries is not None:
        known = collection.queries.ids
        years = [int(year) for year in _years(collection.queries.select(known.ordinals(qrels.queries).tolist()).date)]
        found |= {"first_year": min(years), "last_year": max(years)} if years else {}
    return found


def _of_paragraphs(collection: Collection) -> bool:
    """Whether documents are numbered paragraphs of decisions, by their kind or by court and id."""
    corpus = collection.corpus
    return DocumentKind.PARAGRAPH in corpus.kind or all(
        court and _PARAGRAPH.fullmatch(id) for court, id in zip(corpus.court, corpus.ids, strict=True)
    )


def _years(dates: Days) -> dict[str, int]:
    known = dates[~np.isnat(dates)].astype("datetime64[Y]").astype(int) + 1970
    return {str(year): count for year, count in sorted(Counter(known.tolist()).items())}


def _counts(values: Iterable[str], empty: str = "") -> dict[str, int]:
    return dict(Counter(value or empty for value in values).most_common())
