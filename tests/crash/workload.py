"""Changes of an index and of other outputs, drawn at random, with what must be there after each: for tests that stop the writer.

A `State` says what was committed. Each change is announced by a mark before and after it, so that whoever stops the writer
knows which changes are done and which one was in flight; that one happened as a whole or not at all. Vectors tell which
version of which document they were made from; of a filling in flight some blocks may have happened.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import shutil
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import tracer

from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.cli import main as command
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.document_history import versions_of
from lexfuse.data.files import read_bytes, written_file, written_folder
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import LexFuseError
from lexfuse.service.api_keys import KeyScope, add_key, read_keys, revoke_key
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.feedback import FeedbackEntry
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

MOST = 60  # documents
FORMER = 1_000_000  # added to the version of a document in the text that was law before
BLOCK = 7  # documents that are committed to the channel at once
SETTINGS = ChannelSettings("dense", "versions", "0001")
INDEX, KEYS, FILE, FOLDER = "i", "keys.toml", "run.trec.gz", "corpus"

Versions = dict[str, int]
Change = tuple[str, Versions]  # its kind, and what it writes

_START: list[Change] = [
    ("create", {"d1": 1, "d2": 1}), ("add", {"d3": 1}), ("fill", {}), ("delete", {"d2": 2}), ("judge", {"d1": 1}),
    ("key", {"first": 1}), ("file", {"file": 1}), ("folder", {"folder": 1}),
]  # fmt: skip
EXAMPLES: list[Change] = [  # one change of each kind of what `started` makes
    ("create", {"d4": 1, "d5": 1}), ("add", {"d4": 1, "d5": 7}), ("update", {"d1": 2}), ("delete", {"d3": 2}), ("merge", {}),
    ("compact", {}), ("rebuild", {}), ("fill", {}), ("drop", {}), ("judge", {"d3": 2}), ("withdraw", {"d1": 1}), ("reopen", {}),
    ("key", {"second": 1}), ("revoke", {"first": 1}), ("file", {"file": 2}), ("folder", {"folder": 2}),
]  # fmt: skip


@dataclass(frozen=True)
class State:
    """What was committed. None stands for an index, and for a channel, that there is not."""

    documents: Versions | None = None
    encoded: Versions | None = None  # those of the documents that the channel holds for sure
    judged: tuple[tuple[str, int], ...] = ()
    keys: tuple[str, ...] = ()
    outputs: Versions = field(default_factory=dict)  # of the file and the folder


def document(id: str, version: int) -> Document:
    """A document that names its version; every seventh version is long, every second has a version of the law before it."""
    text = f"common words and only{id}version{version} " * (30 if version % 7 else 900)
    if version % 2:
        return Document(id, title=f"Document {id}", text=text, language="en")
    before = Document(
        id, text=f"former words and only{id}version{FORMER + version} ", language="en", valid_from=datetime.date(1990, 1, 1)
    )
    return Document(id, f"Document {id}", text, "en", valid_from=datetime.date(2000, 1, 1), history=(before,))


def encode(documents) -> EncodedBlock:
    """One vector a document: its number, and its version as the text tells it."""
    told = [document.text.split("only", 1)[1].split(" ", 1)[0].split("version") for document in documents]
    vectors = np.array([[int(id.removeprefix("d")), int(version)] for id, version in told], dtype=np.float32)
    return EncodedBlock(VectorPart.of(vectors), len(documents))


KINDS = (
    "add", "add", "update", "update", "command", "delete", "delete", "merge", "compact", "rebuild", "fill", "fill", "drop",
    "judge", "judge", "withdraw", "key", "key", "revoke", "file", "folder", "create", "reopen",
)  # fmt: skip


def drawn(state: State, chance: random.Random) -> Change:
    """A change that can be made of a state."""
    held = state.documents
    kind = chance.choice(KINDS) if held is not None else chance.choice(["create", "create", "key", "file", "folder"])
    if kind == "command" and state.encoded is not None:  # it would fill the channel, by a model that is none
        kind = "update"
    free = sorted({f"d{number}" for number in range(MOST)} - (held or {}).keys())
    if kind in ("add", "create") and free:
        return kind, dict.fromkeys(chance.sample(free, min(len(free), chance.randint(1, 8))), 1)
    if kind in ("update", "command", "delete", "judge") and held:
        chosen = chance.sample(sorted(held), min(len(held), chance.randint(1, 5)))
        return kind, {id: held[id] + 1 for id in chosen}
    if kind == "withdraw" and state.judged:
        return kind, dict([chance.choice(state.judged)])
    if kind == "key":
        return kind, {f"key {chance.randrange(10**9)}": 1}
    if kind == "revoke" and state.keys:
        return kind, {chance.choice(state.keys): 1}
    if kind in ("file", "folder"):
        return kind, {kind: state.outputs.get(kind, 0) + 1}
    return (kind if kind in ("compact", "rebuild", "fill", "drop", "reopen") else "merge"), {}


def after(state: State, change: Change) -> State:
    """The state after a change."""
    kind, what = change
    held, encoded = state.documents or {}, state.encoded
    match kind:
        case "create":
            return replace(state, documents=what, encoded=None, judged=())
        case "add" | "update" | "command" | "delete":
            kept = None if encoded is None else {id: version for id, version in encoded.items() if id not in what}
            left = {id: version for id, version in held.items() if id not in what}
            return replace(state, documents=left if kind == "delete" else left | what, encoded=kept)
        case "fill":
            return replace(state, encoded=dict(held))
        case "drop":
            return replace(state, encoded=None)
        case "judge":
            return replace(state, judged=(*state.judged, *what.items()))
        case "withdraw":
            return replace(state, judged=tuple(one for one in state.judged if one[0] not in what))
        case "key":
            return replace(state, keys=(*state.keys, *what))
        case "revoke":
            return replace(state, keys=tuple(one for one in state.keys if one not in what))
        case "file" | "folder":
            return replace(state, outputs=state.outputs | what)
    return state


def possible(state: State, events: list[tracer.Event]) -> list[State]:
    """The states after these events: what was done, and also what was in flight."""
    flying: Change | None = None
    for event in events:
        if event.kind == "mark" and event.path.startswith("begun "):
            flying = tuple(json.loads(event.path.removeprefix("begun ")))
        elif event.kind == "mark" and event.path == "done" and flying:
            state, flying = after(state, flying), None
    if flying is None:
        return [state]
    partly = [replace(state, encoded=state.encoded or {})] if flying[0] == "fill" else []
    return [state, *partly, after(state, flying)]


class Writer:
    """Makes changes below a folder, and marks each."""

    def __init__(self, root: Path) -> None:
        """Open the index if there is one."""
        self.root = root
        self.index = IndexFolder(root / INDEX) if (root / INDEX).exists() else None

    def go_on(self, state: State, chance: random.Random, changes: int) -> None:
        """Make changes one after the other."""
        for _ in range(changes):
            change = drawn(state, chance)
            tracer.mark(f"begun {json.dumps(change)}")
            self.make(change)
            tracer.mark("done")
            state = after(state, change)
        self.close()

    def make(self, change: Change) -> None:  # noqa: C901 -- one case a kind
        """Make one change."""
        kind, what = change
        match kind:
            case "create":
                self.close()
                self.index = IndexFolder.create(
                    self.root / INDEX, documents=map(document, *zip(*what.items(), strict=True)), replace=True
                )
            case "add" | "update":
                self.index.add([document(*one) for one in what.items()], update=kind == "update")
            case "command":
                self._run_command(what)
            case "delete":
                self.index.delete(list(what))
            case "fill":
                self.index.channels.make("dense", SETTINGS)
                self.index.channels.fill("dense", encode, block=BLOCK)
            case "drop":
                if "dense" in self.index.channels.names:
                    self.index.channels.drop("dense")
            case "judge":
                given = [FeedbackEntry(f"about {id}", id, grade, generation=1) for id, grade in what.items()]
                self.index.feedback.keep(*given)
            case "withdraw":
                for id in what:
                    self.index.feedback.remove(f"about {id}", id)
            case "key":
                add_key(self.root / KEYS, *what, KeyScope.READ)
            case "revoke":
                revoke_key(self.root / KEYS, *what)
            case "file":
                with written_file(self.root / FILE) as out:
                    out.write(content(what["file"]))
            case "folder":
                with written_folder(self.root / FOLDER, replace=True) as partial:
                    (partial / "sub").mkdir()
                    for name in ("a.txt", "sub/b.txt"):
                        (partial / name).write_bytes(content(what["folder"]))
            case "reopen":
                self.close()
                self.index = IndexFolder(self.root / INDEX)
            case _:
                getattr(self.index, kind)()

    def _run_command(self, what: Versions) -> None:
        """Update documents by `lexfuse index --update`, in this process, whose output nobody sees."""
        corpus = self.root.with_name(f"{self.root.name}.jsonl")
        write_corpus(Corpus.of([document(*one) for one in what.items()]), corpus)
        nowhere, shown = os.open(os.devnull, os.O_WRONLY), [os.dup(handle) for handle in (1, 2)]
        sys.argv = ["lexfuse", "index", str(corpus), str(self.root / INDEX), "--update"]
        try:
            for handle in (1, 2):
                os.dup2(nowhere, handle)
            command()
        except SystemExit as error:
            if error.code:
                raise
        finally:
            for handle, old in zip((1, 2), shown, strict=True):
                os.dup2(old, handle)
                os.close(old)
            os.close(nowhere)

    def close(self) -> None:
        """Let go of the index."""
        if self.index is not None:
            self.index.close()


def content(version: int) -> bytes:
    """What a version of an output holds."""
    return f"version {version}\n".encode() * 2000


def problems_of(root: Path, states: list[State], chance: random.Random) -> tuple[list[str], State]:
    """What is wrong below a folder, and the state it is in, one of those given."""
    try:
        outputs = outputs_in(root)
        keys = tuple(key.name for key in read_keys(root / KEYS)) if (root / KEYS).exists() else ()
        states = [state for state in states if (state.outputs, state.keys) == (outputs, keys)]
        if not states:
            return [f"the outputs are {outputs} and the keys {keys}, which none of the possible states has"], State()
        if not (root / INDEX).exists():
            states = [state for state in states if state.documents is None]
            return ([], states[0]) if states else (["the index is gone"], State())
        with IndexFolder(root / INDEX) as index:
            return _problems(index, states, chance)
    except LexFuseError as error:
        return [str(error)], State()


def outputs_in(root: Path) -> Versions:
    """The versions of the file and of the folder; one that is not whole is version -1."""
    found = {}
    if (root / FILE).exists():
        found["file"] = _version([read_bytes(root / FILE)])
    if (root / FOLDER).exists():
        files = [path for path in (root / FOLDER / "a.txt", root / FOLDER / "sub" / "b.txt") if path.exists()]
        found["folder"] = _version([path.read_bytes() for path in files]) if len(files) == 2 else -1
    return found


def _version(contents):
    first = contents[0].split(b"\n", 1)[0].removeprefix(b"version ")
    version = int(first) if first.isdigit() else -1
    return version if all(each == content(version) for each in contents) else -1


def _problems(index, states, chance):
    wrong = index.verify()
    judged = tuple((one.doc, one.grade) for one in index.feedback.kept())
    with index.snapshot() as snapshot:
        versions = {}
        for id in snapshot.ids:
            versions[id] = int(snapshot.document(id).text.split("version", 1)[1].split(" ", 1)[0])
            texts = [one.text for one in versions_of(document(id, versions[id]))]
            whole = snapshot.document(id) == replace(document(id, versions[id]), history=())
            whole &= [one.text for one in snapshot.history(id)] == texts
            wrong += [] if whole else [f"{id} is neither the old one nor the new"]
        vectors, problems = _channel(snapshot, versions)
        wrong += problems
        states = [state for state in states if (state.documents, state.judged) == (versions, judged)]
        states = [state for state in states if _holds(vectors, state.encoded)]
        if not states:
            return [
                *wrong,
                f"holds {versions}, {judged} and vectors of {vectors}, which none of the possible states has",
            ], State()
        for id in chance.sample(sorted(versions), min(3, len(versions))):
            found = BM25(snapshot).retrieve(Queries.of([Query("q", f"only{id}version{versions[id]}", "en")]), 5).hits("q")
            wrong += [] if [hit.doc for hit in found] == [id] else [f"searching for {id} finds {found}"]
        common = BM25(snapshot).retrieve(Queries.of([Query("q", "common", "en")]), MOST).hits("q")
        wrong += [] if {hit.doc for hit in common} == set(versions) else [f"searching for all finds {common}"]
    return wrong, states[-1]


def _holds(vectors, encoded):
    return (vectors is None) == (encoded is None) and (encoded is None or set(encoded) <= set(vectors))


def _channel(snapshot, versions):
    """The documents whose vectors the channel has, and those that are wrong or there twice."""
    if "dense" not in snapshot.channels:
        return None, []
    numbering, parts = snapshot.channel_numbering("dense"), snapshot.channel("dense").parts
    rows = np.concatenate([np.empty((0, 2)), *(part.content.block(0, len(part.content)) for part in parts)])
    told = [(f"d{int(number)}", int(version)) for number, version in rows[numbering.alive]]
    names = [snapshot.ids[place] for place in numbering.places[numbering.alive].tolist()]
    wrong = [f"the channel has {one} for {id}" for id, one in zip(names, told, strict=True) if one != (id, versions[id])]
    return names, wrong + [f"the channel has {id} twice" for id in {id for id in names if names.count(id) > 1}]


def started(root: Path) -> State:
    """Make what every change is tried on: an index with a document that no channel has yet, and the other outputs."""
    root.mkdir()
    state, writer = State(), Writer(root)
    for change in [*_START, ("add", {"d9": 1})]:
        writer.make(change)
        state = after(state, change)
    writer.close()
    return state


def copy(start: Path, root: Path) -> None:
    """Copy what `started` made; only the catalog is written in place, all other files are the same ones."""
    shutil.copytree(start, root, copy_function=lambda old, new: (shutil.copy2 if "sqlite" in new else os.link)(old, new))


def unnamed(root: Path) -> int:
    """Folders of segments and parts that a writer left and that the catalog does not name."""
    folder = root / INDEX
    if not folder.exists():
        return 0
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        named = len(index._catalog.segments()) + sum(len(snapshot.channel(name).parts) for name in snapshot.channels)
    return len([*folder.glob("segments/*"), *folder.glob("channels/*/*")]) - named


def warm(root: Path) -> None:
    """Use all there is once, so that writers, which inherit it, find it loaded."""
    root.mkdir(parents=True)
    with closing(Writer(root)) as writer:
        state, changes = State(), [("create", {"d1": 1, "d2": 7}), *((kind, {}) for kind in ("fill", "rebuild", "compact"))]
        for change in [*changes, ("judge", {"d1": 1}), ("key", {"first": 1}), ("file", {"file": 1}), ("folder", {"folder": 1})]:
            writer.make(change)
            state = after(state, change)
    problems, _ = problems_of(root, [state], random.Random(1))  # noqa: S311 -- repeatable
    if problems:
        raise RuntimeError(f"the check finds problems where there are none: {problems}")
