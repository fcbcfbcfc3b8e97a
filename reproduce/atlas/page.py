"""docs/atlas.md: the answer to the title question of FUSE for all collections at hand, from the entries that were kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from lexfuse.advice.findings import Verdict
from lexfuse.evaluation.significance import adjust_p_values
from lexfuse.evaluation.significance_options import Correction
from reproduce.atlas.entry import AtlasEntry, FusionFinding, SourceFinding
from reproduce.atlas.study_collection import MOST_DOCUMENTS, MOST_QUESTIONS, SETTINGS, study_collections
from reproduce.page import ROOT

ENTRIES = ROOT / "docs" / "atlas"
PAGE = ROOT / "docs" / "atlas.md"
LEVEL = 0.05
INTRODUCTION = f"""\
# Atlas: when does fusing help in law?

`lexfuse advise` over every collection at hand, zero-shot and tuned. One command writes this page; do not edit it.

```console no-run
python -m reproduce --atlas --write            # all collections in --data and LEXFUSE_DATA; or: make atlas
python -m reproduce --atlas cjeu legalquad     # some of them; nothing is written
```

Each collection is searched by BM25, TF-IDF, word vectors trained on its corpus (`static`), and dense and SPLADE models where
there are any for its language.

- **Zero-shot**: BM25 with its default parameters, and models that have seen no question of the collection.
- **Tuned**: k1 and b of BM25 chosen on dev, and models trained on the train questions. Where there are none, the models are
  those of zero-shot.

In both settings, the fusion is chosen on dev among all subsets of the sources and all methods, and measured once on test. At most
{MOST_QUESTIONS} questions each of dev and test are asked, and {MOST_DOCUMENTS:,} documents searched. They are drawn by a hash of
their ids; relevant documents are always among them. Each source ranks 200 documents. Percentile normalisation is not
tried: it needs distributions that are estimated first. [fusion.md](fusion.md) explains the methods,
[collections.md](collections.md) and [importing.md](importing.md) the collections.
"""


def kept_entries(folder: Path = ENTRIES) -> list[AtlasEntry]:
    """The entries in a folder, in the order of the collections."""
    names = list(study_collections())
    found = [AtlasEntry.read(path) for path in folder.glob("*.json")]
    return sorted(found, key=lambda entry: (names.index(entry.collection), SETTINGS.index(entry.setting)))


def write_atlas(path: Path = PAGE, folder: Path = ENTRIES) -> None:
    """Write the page and its drawings, if there is an entry."""
    from reproduce.atlas.charts import detection_chart, gain_chart, pair_chart  # measuring needs no matplotlib

    if not (entries := kept_entries(folder)):
        return
    for plot in (gain_chart(entries), pair_chart(entries), detection_chart(entries)):
        (folder / f"{plot.name}.svg").write_text(plot.svg, "utf-8")
    path.write_text("\n".join(atlas_lines(entries, folder.name)) + "\n", "utf-8")


def atlas_lines(entries: Sequence[AtlasEntry], folder: str) -> Iterator[str]:
    """The page, line by line."""
    yield INTRODUCTION
    yield from _answer(entries)
    yield from _collections(entries)
    yield from _gains(entries, folder)
    yield from _pairs(entries, folder)
    yield from _questions(entries, folder)
    yield from _costs(entries)
    yield from _circumstances(entries)


def _answer(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    yield "## The answer\n"
    for setting in SETTINGS:
        some = [entry for entry in entries if entry.setting == setting and entry.law and entry.test_questions]
        if not some:
            continue
        better, worse = _decided([entry.advised for entry in some])
        mean = sum(entry.advised.gain for entry in some) / len(some)
        by_rank = _decided([entry.unjudged[0] for entry in some])
        fused = sum(entry.verdict == Verdict.FUSE.value for entry in some)
        yield (
            f"- **{setting.capitalize()}**, {len(some)} collections of law with a test split: the fusion chosen on dev is "
            f"significantly better on test than the best single source in {better}, and worse in {worse} (Holm over the "
            f"collections). The mean gain is {mean:+.3f} {some[0].measure}. The verdict on dev was to fuse in {fused}. RRF of "
            f"all sources, weak ones included, needs no judged question; it is better in {by_rank[0]} and worse in {by_rank[1]}."
        )
    zero_shot = [entry for entry in entries if entry.setting == SETTINGS[0] and entry.law]
    yield from _best_pairs(zero_shot)
    needed = sorted(entry.needed for entry in entries if entry.needed is not None and entry.law)
    if needed:
        yield (
            "- **Judged questions**: to show the gain of dev four times out of five takes between "
            f"{needed[0]:,} and {needed[-1]:,} judged questions, in the median {needed[len(needed) // 2]:,}."
        )
    yield from _tuned_words([entry for entry in entries if entry.law and entry.test_questions])
    if zero_shot:
        yield from _cost_answer(zero_shot)
    yield ""


def _best_pairs(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    """What each source adds to BM25, in the mean of the collections that have both."""
    gains: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        for pair in entry.pairs:
            if pair.first == "bm25":
                gains.setdefault(pair.second, []).append((pair.gain, pair.p))
    shown = []
    for name, some in sorted(gains.items(), key=lambda one: -sum(gain for gain, _ in one[1]) / len(one[1])):
        sure = sum(p < LEVEL and gain > 0 for gain, p in some)
        mean = sum(gain for gain, _ in some) / len(some)
        shown.append(f"{name} {mean:+.3f} (significant in {sure} of {len(some)} collections)")
    if shown:
        yield f"- **Complements**: over the better of the two, BM25 gains on dev, zero-shot, with {', '.join(shown)}."


def _tuned_words(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    """What k1 and b of dev gain for BM25 alone, on test."""
    reached: dict[str, dict[str, float]] = {}
    for entry in entries:
        alone = next(one for one in entry.sources if one.name == "bm25")
        reached.setdefault(entry.collection, {})[entry.setting] = alone.test[entry.measure]
    gains = {name: one[SETTINGS[1]] - one[SETTINGS[0]] for name, one in reached.items() if len(one) == len(SETTINGS)}
    if gains:
        most, mean = max(gains, key=gains.__getitem__), sum(gains.values()) / len(gains)
        words = f"gain {mean:+.3f} for BM25 alone on test in the mean, most on {most} ({gains[most]:+.3f})"
        yield f"- **k1 and b** chosen on dev {words}."


def _cost_answer(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    """The medians of what sources cost."""
    found: dict[str, list[SourceFinding]] = {}
    sizes: dict[str, list[float]] = {}
    for entry in entries:
        for one in entry.sources:
            found.setdefault(one.name, []).append(one)
            sizes.setdefault(one.name, []).append(1000 * one.megabytes / entry.documents)
    shown = [
        f"{name} {median(one.milliseconds for one in some):.1f} ms and {median(sizes[name]):.2f} MB"
        for name, some in found.items()
    ]
    yield f"- **Cost**, a question and 1,000 documents, medians of the collections: {', '.join(shown)}."


def _decided(findings: Sequence[FusionFinding]) -> tuple[int, int]:
    """How many are significantly better, and worse, corrected over the collections by Holm's method."""
    corrected = adjust_p_values([one.p for one in findings], Correction.HOLM)
    sure = [one.gain > 0 for one, p in zip(findings, corrected, strict=True) if p < LEVEL]
    return sum(sure), len(sure) - sum(sure)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(*cells: str) -> str:
    return _row(*cells) + "\n|" + "---|" * len(cells)


def _collections(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    yield "## Collections\n"
    yield _head("", "what", "language", "documents", "dev questions", "test questions")
    for entry in {entry.collection: entry for entry in entries}.values():
        documents = f"{entry.documents:,}" + (f" of {entry.of_documents:,}" if entry.documents < entry.of_documents else "")
        what = entry.title + ("" if entry.law else " (**not law**)")
        asked = (str(entry.dev_questions), str(entry.test_questions or "–"))
        yield _row(entry.collection, what, entry.language, documents, *asked)
    missing = [name for name in study_collections() if name not in {entry.collection for entry in entries}]
    yield f"\nNot measured yet: {', '.join(missing)}.\n" if missing else ""


def _gains(entries: Sequence[AtlasEntry], folder: str) -> Iterator[str]:
    yield "## Does fusing help?\n"
    yield (
        f"{entries[0].measure} on test; in italics on dev, where there is no test split. The fusion is the advised one, or the "
        "highest of dev where the advice is not to fuse. The gain is over the best single source of dev, with its 95 % interval "
        "and the p-value of a paired t-test, not corrected for the number of collections."
    )
    yield f"\n![Gains of the fusion chosen on dev]({folder}/gains.svg)\n"
    columns = (
        "BM25",
        "best single source",
        "RRF of all",
        "TM2C2 of all",
        "fusion chosen on dev",
        "",
        "gain",
        "p",
        "verdict on dev",
    )
    yield _head("", "setting", *columns)
    for entry in entries:
        sources, gain = {one.name: one for one in entry.sources}, entry.advised
        values = [_value(entry, sources["bm25"]), f"{entry.best} {_value(entry, sources[entry.best])}"]
        values += [_value(entry, one) for one in entry.unjudged]
        values += [gain.name, _value(entry, gain), f"{gain.gain:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})", _p(gain.p)]
        yield _row(entry.collection, entry.setting, *values, entry.verdict)
    yield ""


def _value(entry: AtlasEntry, finding: SourceFinding | FusionFinding) -> str:
    return f"{finding.test[entry.measure]:.3f}" if finding.test else f"*{finding.dev[entry.measure]:.3f}*"


def _p(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def _pairs(entries: Sequence[AtlasEntry], folder: str) -> Iterator[str]:
    yield "## Which channels complement each other?\n"
    yield (
        "The gain of the best fusion of two sources over the better one, on dev, zero-shot; \\* means p < .05, corrected over "
        "everything that was tried on the collection. The shares are of the relevant documents: those that only the first "
        "source, only the second, both or neither have among their first 100."
    )
    yield f"\n![Gains of pairs]({folder}/pairs.svg)\n"
    yield _head("", "pair", "only first", "only second", "both", "neither", "correlation of scores", "gain", "by")
    for entry in entries:
        for pair in entry.pairs if entry.setting == SETTINGS[0] else ():
            counts = (pair.only_first, pair.only_second, pair.both, pair.neither)
            shares = [f"{100 * one / max(1, sum(counts)):.0f} %" for one in counts]
            correlation = "–" if pair.correlation is None else f"{pair.correlation:.2f}"
            gain = f"{pair.gain:+.3f}" + ("\\*" if pair.p < LEVEL else "")
            yield _row(entry.collection, f"{pair.first} + {pair.second}", *shares, correlation, gain, pair.method)
    yield ""


def _questions(entries: Sequence[AtlasEntry], folder: str) -> Iterator[str]:
    yield "## How many judged questions were needed to know?\n"
    yield (
        "The number of judged questions that show the gain of dev, and a gain of .05, four times out of five (two-sided paired "
        "t-test at .05), from the spread of the differences on dev. The drawing has random samples of the test questions: the "
        "share of them that shows the gain of the fusion chosen on dev. Samples near the number of all test questions are alike."
    )
    yield f"\n![Samples that show the gain]({folder}/detection.svg)\n"
    yield _head("", "setting", "dev questions", "gain on dev", "to show it", "to show .05", "better / worse / tried on dev")
    for entry in entries:
        best = next(one for one in entry.sources if one.name == entry.best)
        gain = entry.advised.dev[entry.measure] - best.dev[entry.measure]
        needed = "–" if entry.needed is None else f"{entry.needed:,}"
        counts = f"{entry.better} / {entry.worse} / {entry.tried}"
        usual = f"{entry.needed_usual:,}"
        yield _row(entry.collection, entry.setting, str(entry.dev_questions), f"{gain:+.3f}", needed, usual, counts)
    yield ""


def _costs(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    yield "## What it cost\n"
    yield (
        "Megabytes on disk (BM25 and TF-IDF share theirs), milliseconds a question (median, on the processor), and seconds to "
        "encode all documents (on the machine of the entry).\n"
    )
    yield _head("", "setting", "source", "model", "MB", "ms", "encoding, s")
    for entry in entries:
        for one in entry.sources:
            seconds = f"{one.encode_seconds:,.0f}" if one.encode_seconds else "–"
            costs = (f"{one.megabytes:,.1f}", f"{one.milliseconds:.1f}", seconds)
            yield _row(entry.collection, entry.setting, one.name, one.model or "–", *costs)
    yield ""


def _circumstances(entries: Sequence[AtlasEntry]) -> Iterator[str]:
    yield "## How it was measured\n"
    yield (
        "Where the machine has a GPU, torch computed the vectors of documents and of large batches of questions, from the same "
        "graphs as ONNX Runtime (cosine above .9999 on 100 texts), with the weights of all-MiniLM-L6-v2 rounded to 8 bits (mean "
        "cosine .999 to those of the package), on scifact to 10 and 11 bits (cosine at least .99998). Questions were timed one "
        "by one on cores that other work shared: the same model took up to four times as long in one entry as in another, so "
        "milliseconds show orders of magnitude only.\n"
    )
    yield _head("", "setting", "k1, b", "seconds", "date", "commit", "machine")
    for entry in entries:
        about, bm25 = entry.circumstances, f"{entry.bm25['k1']:g}, {entry.bm25['b']:g}"
        seconds = f"{sum(entry.seconds.values()):.0f}"
        yield _row(entry.collection, entry.setting, bm25, seconds, about.date, about.commit, about.machine)
    notes = list(
        dict.fromkeys(
            f"{entry.collection}, {entry.setting}: {note}."
            for entry in entries
            for note in entry.notes
            if "percentile" not in note
        )
    )
    if notes:
        yield ""
    yield from (f"- {note}" for note in notes)
