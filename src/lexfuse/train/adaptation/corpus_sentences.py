"""Sentences of a corpus for adapting a model, without judgements.

They are drawn at random, depending only on the seed and the sentence: other documents, or another order, do not change which of
two sentences comes first. A repeated sentence counts once.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from lexfuse.data.corpus import Corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError
from lexfuse.text.annotation import with_languages
from lexfuse.text.sentences.splitter import split_sentences
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import LEAST_WORDS, TrainingPair, stable_random, word_count

SOURCE = "sentences"  # the name of such examples
_BLANK_LINES = re.compile(r"\n\s*\n")
Item = TypeVar("Item")


class CorpusSentence(NamedTuple):
    """A sentence and its place: the ordinal of the document and the number of the paragraph."""

    text: str
    document: int
    paragraph: int


@dataclass(frozen=True, slots=True, eq=False)
class SentenceSplit:
    """Examples to learn from and examples for the dev loss; ``dev`` is ``None`` if nothing is held out."""

    train: Examples
    dev: Examples | None


def all_sentences(corpus: Corpus, report: ReadReport | None = None) -> Iterator[CorpusSentence]:
    r"""Every sentence with enough words; the report says how many are too short.

    Blank lines separate the paragraphs of a text.

    >>> corpus = Corpus.of([Document("a", text="Le bail dure un an. Il cesse ensuite.\n\nArticle 2.", language="fr")])
    >>> [sentence.text for sentence in all_sentences(corpus)]
    ['Le bail dure un an.', 'Il cesse ensuite.']
    """
    short = 0
    rows = zip(corpus.text, with_languages(corpus).language, strict=True)
    for document, (text, language) in enumerate(rows):
        gaps = [gap.end() for gap in _BLANK_LINES.finditer(text)]
        paragraph = 0
        for span in split_sentences(text, language):
            while paragraph < len(gaps) and gaps[paragraph] <= span.start:
                paragraph += 1
            found = " ".join(span.of(text).split())
            if word_count(found) < LEAST_WORDS:
                short += 1
            else:
                yield CorpusSentence(found, document, paragraph)
    if short and report is not None:
        report.note(f"{short:,} sentences of fewer than {LEAST_WORDS} words are not used")


def lone_sentences(
    corpus: Corpus, amount: int, *, held_out: float = 0.05, seed: int = 1, report: ReadReport | None = None
) -> SentenceSplit:
    """Random sentences, each an example; a share of them is held out.

    >>> corpus = Corpus.of([Document("a", text="Le bail dure un an. Il cesse ensuite. Le juge le constate.", language="fr")])
    >>> split = lone_sentences(corpus, 2, held_out=0.5)
    >>> len(split.train), len(split.dev)
    (1, 1)
    """
    _check(amount, held_out)
    report = ReadReport() if report is None else report
    found = dict.fromkeys(sentence.text for sentence in all_sentences(corpus, report))
    chosen = _drawn(list(found), list(found), amount, seed, report)
    pairs = [TrainingPair(text, text) for text in chosen]
    train, dev = split_off(pairs, chosen, held_out)
    return SentenceSplit(Examples.of_pairs({SOURCE: train}), Examples.of_pairs({SOURCE: dev}) if dev else None)


def short_sentences(
    corpus: Corpus, amount: int, most_words: int, *, seed: int = 1, report: ReadReport | None = None
) -> list[str]:
    """Random sentences that are not longer than a question; the report says how many are.

    >>> corpus = Corpus.of([Document("a", text="Le bail dure un an. Il cesse ensuite.", language="fr")])
    >>> short_sentences(corpus, 10, 4)
    ['Il cesse ensuite.']
    """
    report = ReadReport() if report is None else report
    found = dict.fromkeys(sentence.text for sentence in all_sentences(corpus, report))
    kept = [text for text in found if word_count(text) <= most_words]
    if len(kept) < len(found):
        report.note(f"{len(found) - len(kept):,} sentences of more than {most_words} words are not used")
    return _drawn(kept, kept, amount, seed, report)


def paragraph_sentences(
    corpus: Corpus, amount: int, *, held_out: float = 0.05, seed: int = 1, report: ReadReport | None = None
) -> SentenceSplit:
    """Random sentences, each with another one of its paragraph (RPRS 4.3.1); whole documents are held out.

    A document with one sentence per paragraph counts as one paragraph, since articles often have that form. Sentences that occur
    in several documents are not used. The second sentences of its own document are known not to be negatives of an example.

    >>> texts = ["Le bail dure un an. Il cesse ensuite.", "Le salarié a un congé. Il le demande avant."]
    >>> split = paragraph_sentences(Corpus.of([Document(text, text=text, language="fr") for text in texts]), 10, held_out=0)
    >>> len(split.train), split.train.passages[split.train.positive[0]] in texts[0] + texts[1]
    (4, True)
    """
    _check(amount, held_out)
    report = ReadReport() if report is None else report
    pairs = _in_paragraphs(corpus, seed, report)
    if len(set(pairs.values())) < 2:
        raise DataError(
            "SDR distinguishes sentences of one document from those of others, and fewer than two documents have two sentences "
            "that no other document has; take tsdae, or a larger corpus"
        )
    chosen = _drawn(list(pairs), [pair.query for pair in pairs], amount, seed, report)
    train, dev = split_off(chosen, [pairs[pair] for pair in chosen], held_out)
    return SentenceSplit(_guarded(train, pairs), _guarded(dev, pairs) if dev else None)


def split_off(items: Sequence[Item], owners: Sequence[Hashable], share: float) -> tuple[list[Item], list[Item]]:
    """The items to learn from, and a held-out share from the end: all items of some owners.

    >>> split_off(["a", "b", "c", "d"], [1, 2, 1, 3], 0.3)
    (['a', 'b', 'c'], ['d'])
    """
    wanted = max(1, round(share * len(items))) if share else 0
    amounts = Counter(owners)
    held: set[Hashable] = set()
    count = 0
    for owner in reversed(owners):
        if count >= wanted:
            break
        if owner not in held:
            held.add(owner)
            count += amounts[owner]
    if count and count == len(items):
        raise DataError(
            f"{len(items):,} examples of {len(amounts):,} documents are too few to hold any out; take more text or hold out 0"
        )
    parts: tuple[list[Item], list[Item]] = ([], [])
    for item, owner in zip(items, owners, strict=True):
        parts[owner in held].append(item)
    return parts


def _in_paragraphs(corpus: Corpus, seed: int, report: ReadReport) -> dict[TrainingPair, int]:
    """Each sentence with one of its paragraph, and their document."""
    found = list(all_sentences(corpus, report))
    homes: dict[str, int] = {}
    shared: set[str] = set()
    for sentence in found:
        if homes.setdefault(sentence.text, sentence.document) != sentence.document:
            shared.add(sentence.text)
    if shared:
        report.note(f"{len(shared):,} sentences that several documents have are not used")
    documents: dict[int, dict[int, dict[str, None]]] = {}
    for sentence in found:
        if sentence.text not in shared:
            documents.setdefault(sentence.document, {}).setdefault(sentence.paragraph, {})[sentence.text] = None
    pairs, alone = dict[TrainingPair, int](), 0
    for document, paragraphs in documents.items():
        groups = list(paragraphs.values())
        if all(len(group) < 2 for group in groups):
            groups = [{text: None for group in groups for text in group}]
        for group in groups:
            alone += len(group) == 1
            pairs.update((pair, document) for pair in _partners(list(group), seed))
    if alone:
        report.note(f"{alone:,} sentences that are alone in their paragraph are not used")
    return pairs


def _partners(group: Sequence[str], seed: int) -> Iterator[TrainingPair]:
    """Every sentence of a paragraph with another one, drawn at random."""
    for place, text in enumerate(group):
        if len(group) > 1:
            drawn = int(stable_random(seed, "partner", text) * (len(group) - 1))
            yield TrainingPair(text, group[drawn if drawn < place else drawn + 1])


def _guarded(pairs: Sequence[TrainingPair], documents: Mapping[TrainingPair, int]) -> Examples:
    """Examples that know the second sentences of their documents."""
    seconds: dict[int, list[str]] = {}
    for pair in pairs:
        seconds.setdefault(documents[pair], []).append(pair.passage)
    answers = {pair.query: seconds[documents[pair]] for pair in pairs}
    return Examples.of(((pair.query, pair.passage, (), SOURCE) for pair in pairs), answers)


def _drawn(items: Sequence[Item], names: Sequence[str], amount: int, seed: int, report: ReadReport) -> list[Item]:
    """Random items: those whose names draw the lowest numbers, in that order."""
    if not items:
        raise DataError(f"the corpus has no sentence of {LEAST_WORDS} words or more to learn from")
    if len(items) < amount:
        report.note(f"{amount:,} sentences were asked for, the corpus has {len(items):,}: all are taken")
    numbers = ((stable_random(seed, "sentence", name), place) for place, name in enumerate(names))
    chosen = [items[place] for _, place in heapq.nsmallest(amount, numbers)]
    report.kept += len(chosen)
    return chosen


def _check(amount: int, held_out: float) -> None:
    if amount < 2:
        raise ConfigError(f"{amount} sentences are too few to adapt a model; RPRS takes 10,000")
    check_held_out(held_out)


def check_held_out(share: float) -> None:
    """Refuse a share that leaves nothing to learn from.

    >>> check_held_out(1)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the held-out share must be from 0 to below 1, got 1
    """
    if not 0 <= share < 1:
        raise ConfigError(f"the held-out share must be from 0 to below 1, got {share:g}")
