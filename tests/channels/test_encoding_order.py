from dataclasses import replace

import numpy as np
import pytest

from lexfuse.channels.encoding_order import citation_counts, most_cited_first
from lexfuse.channels.registry import channel_kind, fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.storage.index_folder import IndexFolder

CITED = {"a": ("c", "b"), "b": ("c", "c"), "c": (), "d": ("c", "b", "unknown"), "e": ("a",)}


@pytest.fixture
def index(tmp_path):
    documents = [Document(id, text=f"texte {id}", language="fr", citations=cited) for id, cited in CITED.items()]
    with IndexFolder.create(tmp_path / "i", documents=documents) as made:
        yield made


def test_each_citing_document_counts_once(index):
    with index.snapshot() as snapshot:
        counts = dict(zip(snapshot.ids, citation_counts(snapshot).tolist(), strict=True))
    assert counts == {"a": 1, "b": 2, "c": 3, "d": 0, "e": 0}


def test_the_order_goes_by_citations_then_by_serial_number(index):
    order = most_cited_first(index)
    serials = np.array([5, 4, 3, 2, 1, 99], dtype=np.int64)
    with index.snapshot() as snapshot:
        by_serial = dict(zip(snapshot.column("serial"), snapshot.ids, strict=True))
    assert [by_serial.get(serial, "new") for serial in order(serials).tolist()] == ["c", "b", "a", "d", "e", "new"]


def test_blocks_are_filled_in_this_order(index):
    settings = plan_channel("dense", language="fr")
    index.channels.make("dense", settings)
    encode = channel_kind("dense").encoding(index, "dense", threads=1)
    blocks = []

    def noted(documents):
        blocks.append([document.id for document in documents])
        return encode(documents)

    index.channels.fill("dense", noted, block=2, order=most_cited_first(index))
    assert blocks == [["b", "c"], ["a", "d"], ["e"]]


def test_a_changed_document_is_encoded_in_its_new_version(index):
    index.channels.make("dense", plan_channel("dense", language="fr"))
    order = most_cited_first(index)
    with index.snapshot() as snapshot:
        (old,) = snapshot.documents(["c"])
    index.add([replace(old, text="autre texte")], update=True)
    assert len(order(index.channels.pending("dense"))) == 5
    assert fill_channel(index, "dense") == 5
