"""Kills writers of an index again and again, and tells after each kill what is wrong with the index: one JSON line a kill.

    python killing.py FOLDER KILLS SEED [--names-first | --parts-first]

One process loads everything once and forks the writers, so that two hundred take seconds. A writer tells each
operation before and after it; the one in flight may have happened or not, but only as a whole. A channel is filled, dropped
and made again too, by vectors that tell which version of which document they were made from; of a filling in flight some
blocks may have happened. With ``--names-first`` (for segments) or ``--parts-first`` (for channels) writers break the rule that
files come before their names, so the check must find damage.
"""

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

import numpy as np

from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import LexFuseError
from lexfuse.index.channel import ChannelKind, ChannelSettings
from lexfuse.index.channels import Encoded
from lexfuse.index.index import Index
from lexfuse.index.parts import Part
from lexfuse.index.segment import Segment
from lexfuse.index.vectors import VectorPart
from lexfuse.retrieve.bm25 import BM25

LONGEST = 0.06  # seconds until a kill: the time of a few operations
MOST = 60  # documents
SETTINGS = ChannelSettings(ChannelKind.DENSE, "versions", "0001")
BLOCK = 7  # documents that are committed to the channel at once


def document(id, version):
    return Document(id, title=f"Document {id}", text=f"common words and only{id}version{version} " * 30, language="en")


def encode(documents):
    """One vector a document: its number, and its version as the text tells it."""
    told = [document.text.split("only", 1)[1].split(" ", 1)[0].split("version") for document in documents]
    vectors = np.array([[int(id.removeprefix("d")), int(version)] for id, version in told], dtype=np.float32)
    return Encoded(VectorPart.of(vectors), len(documents))


def operation(state, chance):
    """One change of the index, drawn at random: its name, and the documents with their versions that it leaves."""
    free = sorted({f"d{number}" for number in range(MOST)} - state.keys())
    kind = chance.choice(
        ["add", "add", "update", "update", "delete", "delete", "merge", "compact", "rebuild", "fill", "fill", "drop"]
    )
    if kind == "add" and free:
        return kind, dict.fromkeys(chance.sample(free, min(len(free), chance.randint(1, 8))), 1)
    if kind in ("update", "delete") and state:
        chosen = chance.sample(sorted(state), min(len(state), chance.randint(1, 5)))
        return kind, {id: state[id] + 1 for id in chosen}
    return kind if kind in ("compact", "rebuild", "fill", "drop") else "merge", {}


def applied(state, kind, documents):
    if kind == "delete":
        return {id: version for id, version in state.items() if id not in documents}
    return {**state, **documents}


def change(index, kind, documents):
    if kind in ("add", "update"):
        index.add([document(*one) for one in documents.items()], update=kind == "update")
    elif kind == "delete":
        index.delete(list(documents))
    elif kind == "fill":
        index.channels.make("dense", SETTINGS)
        index.channels.fill("dense", encode, block=BLOCK)
    elif kind == "drop":
        if "dense" in index.channels.names:
            index.channels.drop("dense")
    else:
        getattr(index, kind)()


def write_for_ever(folder, state, chance, report):
    """The writer: change after change until it is killed."""
    with Index(folder) as index:
        os.write(report, b"ready\n")
        while True:
            kind, documents = operation(state, chance)
            os.write(report, json.dumps(["begun", kind, documents]).encode() + b"\n")
            change(index, kind, documents)
            os.write(report, b'["done"]\n')
            state = applied(state, kind, documents)


def killed(folder, state, chance):
    """Fork a writer, kill it after a random time, and give what it told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            write_for_ever(folder, state, chance, writing)
        except BaseException as error:
            os.write(writing, json.dumps(["failed", repr(error)]).encode() + b"\n")
        finally:
            os._exit(1)
    os.close(writing)
    told = b""
    while not told.startswith(b"ready\n"):
        more = os.read(reading, 1 << 16)
        if not more:
            break
        told += more
    end = time.monotonic() + chance.uniform(0.001, LONGEST)
    while (left := end - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        more = os.read(reading, 1 << 16)
        if not more:
            break
        told += more
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 1 << 16):
        told += more
    os.close(reading)
    return [json.loads(line) for line in told.decode().splitlines() if line != "ready"]


def outcomes(state, events):
    """The states the index may be in: what was done, and also what was in flight."""
    flying = None
    for name, *what in events:
        if name == "begun":
            flying = what
        elif name == "done":
            state = applied(state, *flying)
            flying = None
    return [state] if flying is None else [state, applied(state, *flying)]


def problems_of(folder, possible, chance, complete=False):
    """What is wrong with the index, and the state it is in; ``complete`` where the channel was filled at last."""
    with Index(folder) as index:
        wrong = index.verify()
        with index.snapshot() as snapshot:
            held = {id: snapshot.document(id) for id in snapshot.ids}
            state = next(
                (state for state in possible if held == {id: document(id, version) for id, version in state.items()}), None
            )
            if state is None:
                return [*wrong, f"holds {sorted(held)}, expected one of {possible}"], possible[0]
            for id in chance.sample(sorted(state), min(3, len(state))):
                found = BM25(snapshot).retrieve(Queries.of([Query("q", f"only{id}version{state[id]}", "en")]), 5).hits("q")
                wrong += [] if [hit.doc for hit in found] == [id] else [f"searching for {id} finds {found}"]
            common = BM25(snapshot).retrieve(Queries.of([Query("q", "common", "en")]), MOST).hits("q")
            wrong += [] if [hit.doc for hit in common] == sorted(state) else [f"searching for all finds {common}"]
            wrong += channel_problems(snapshot, state, complete)
    return wrong, state


def channel_problems(snapshot, state, complete):
    """What is wrong with the channel: vectors of documents or versions that are not there, or too few of them."""
    if "dense" not in snapshot.channels:
        return []
    numbering, parts = snapshot.channel_numbering("dense"), snapshot.channel("dense").parts
    rows = np.concatenate([np.empty((0, 2)), *(part.content.block(0, len(part.content)) for part in parts)])
    told = [(f"d{int(number)}", int(version)) for number, version in rows[numbering.alive]]
    names = [snapshot.ids[place] for place in numbering.places[numbering.alive].tolist()]
    wrong = [f"the channel has {one} for {id}" for id, one in zip(names, told, strict=True) if one != (id, state[id])]
    wrong += [f"the channel has {id} twice" for id in {id for id in names if names.count(id) > 1}]
    return wrong + (
        [f"the channel was filled, and lacks {sorted(state.keys() - set(names))}"] if complete and not numbering.complete else []
    )


def encoded_in(folder):
    """How many documents the channel has vectors of, -1 where there is none."""
    with Index(folder) as index, index.snapshot() as snapshot:
        return int(snapshot.channel_numbering("dense").alive.sum()) if "dense" in snapshot.channels else -1


def unnamed(folder):
    with Index(folder) as index, index.snapshot() as snapshot:
        named = len(snapshot.segments) + sum(len(snapshot.channel(name).parts) for name in snapshot.channels)
    return len([*(folder / "segments").iterdir(), *folder.glob("channels/*/*")]) - named


def names_first(kind):
    """Break the order: the catalog names a segment or a part whose files are written by the next operation only."""
    save, late = kind.save, []

    def save_late(self, folder, **options):
        while late:
            late.pop()()
        late.append(lambda: save(self, folder, **options))
        return "0" * 64

    kind.save = save_late


def load_everything(folder):
    """Use all there is once, so that the writers, which inherit it, spend their time on writing."""
    state = {"d1": 1, "d2": 1}
    with Index.create(folder) as index:
        for kind, documents in (("add", state), ("fill", {}), ("rebuild", {}), ("compact", {})):
            change(index, kind, documents)
    problems_of(folder, [state], random.Random(1))  # noqa: S311 -- repeatable


def main(folder, kills, seed, *flags):
    folder = Path(folder)
    load_everything(folder.with_name("warm"))
    Index.create(folder).close()
    if "--names-first" in flags:
        names_first(Segment)
    if "--parts-first" in flags:
        names_first(Part)
    state, chance = {}, random.Random(int(seed))  # noqa: S311 -- repeatable
    for _ in range(int(kills)):
        events = killed(folder, state, chance)
        line = {"done": sum(event[0] == "done" for event in events), "in flight": None}
        if events and events[-1][0] == "begun":
            line["in flight"] = events[-1][1]
        try:
            filled = [event[1] for event in events if event[0] == "begun"][-1:] == ["fill"] and events[-1][0] == "done"
            line["problems"], state = problems_of(folder, outcomes(state, events), chance, filled)
            line["unnamed"], line["held"] = unnamed(folder), encoded_in(folder)
        except LexFuseError as error:
            line["problems"] = [str(error)]
        line["problems"] += [event[1] for event in events if event[0] == "failed"]
        print(json.dumps(line), flush=True)  # noqa: T201
    if not flags:
        with Index(folder) as index:
            change(index, "fill", {})
            index.merge()
        problems, _ = problems_of(folder, [state], chance, complete=True)
        print(json.dumps({"unnamed at the end": unnamed(folder), "problems at the end": problems}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
