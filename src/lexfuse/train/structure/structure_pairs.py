"""Pairs from the structure of law: they need a corpus, but neither questions nor judgements.

Text that a query copies from its document is mostly removed from the passage; otherwise a model learns to compare strings. The
shares are constants of the modules that make the pairs. Documents with the same text count once, since a query would match both;
the first stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

from lexfuse.data.corpus import Corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.text.annotation import with_languages
from lexfuse.train.examples.training_pair import TrainingPair, filter_pairs
from lexfuse.train.structure.citation_pairs import cited_pairs, citing_paragraph_pairs
from lexfuse.train.structure.heading_pairs import heading_pairs, title_pairs
from lexfuse.train.structure.inverse_cloze import cloze_pairs


class StructureKind(StrEnum):
    """The relation of a query and its passage."""

    HEADINGS = "headings"  # heading path -> article
    TITLE = "title"  # title of a document or a section -> its body
    CITED = "cited"  # sentence that cites an article -> that article
    CITING_PARAGRAPH = "citing-paragraph"  # paragraph of a judgment -> paragraph of an earlier one that it cites
    CLOZE = "cloze"  # sentence -> the rest of its document


def structure_pairs(
    corpus: Corpus, kinds: Iterable[StructureKind], *, masked: bool = True, seed: int = 1, report: ReadReport | None = None
) -> dict[str, list[TrainingPair]]:
    """Pairs of each kind, in document order; deterministic for a corpus and seed.

    With ``masked``, queries from citing sentences and paragraphs have no citations. The report says how many pairs of each kind
    there are and what was omitted. Pairs of case law never cite later documents, but they use the whole corpus: if it has
    judgments of a test period, give only the earlier ones (`lexfuse.train.examples.splits.documents_before`).

    >>> document = Document("a", text="Le préavis dure un mois.", headings=("Livre I : La fin du contrat",))
    >>> structure_pairs(Corpus.of([document]), [StructureKind.HEADINGS])["headings"]
    [TrainingPair(query='La fin du contrat', passage='Livre I : La fin du contrat Le préavis dure un mois.')]
    """
    report = ReadReport() if report is None else report
    wanted = list(dict.fromkeys(kinds))
    if not wanted:
        raise ConfigError(f"no kind of pairs is asked for; choose from {', '.join(StructureKind)}")
    corpus = with_languages(corpus)
    distinct = _distinct(corpus)
    if len(distinct) < len(corpus):
        report.note(f"{len(corpus) - len(distinct):,} documents without text or with the text of another, not used as passages")
    made = {}
    for kind in wanted:
        left: Counter[str] = Counter()
        pairs = filter_pairs(_pairs(kind, corpus, distinct, masked, seed, left), left)
        report.kept += len(pairs)
        without = ", ".join(f"{count:,} {what}" for what, count in left.items() if count)
        report.note(f"{kind.value}: {len(pairs):,} pairs" + (f"; without {without}" if without else ""))
        made[kind.value] = pairs
    return made


def _pairs(
    kind: StructureKind, corpus: Corpus, distinct: list[int], masked: bool, seed: int, left: Counter[str]
) -> Iterator[TrainingPair]:
    match kind:
        case StructureKind.HEADINGS:
            return heading_pairs(corpus, distinct, seed, left)
        case StructureKind.TITLE:
            return title_pairs(corpus, distinct, left)
        case StructureKind.CITED:
            return cited_pairs(corpus, left, masked=masked)
        case StructureKind.CITING_PARAGRAPH:
            return citing_paragraph_pairs(corpus, left, masked=masked)
        case StructureKind.CLOZE:
            return cloze_pairs(corpus, distinct, seed, left)


def _distinct(corpus: Corpus) -> list[int]:
    """The first document of each text, ignoring spaces and case."""
    first: dict[str, int] = {}
    for ordinal, text in enumerate(corpus.text):
        first.setdefault(" ".join(text.casefold().split()), ordinal)
    first.pop("", None)
    return list(first.values())
