"""Encoded blocks of an unfinished shard are in the store: another machine encodes only what is missing."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lexfuse import Document, Index, Queries, Query
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.channel_blocks import ChannelBlocks, blocks_folder
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.errors import DataError
from lexfuse.storage.channel_store import BLOCK

DOCUMENTS = 2 * BLOCK + 30
QUERIES = Queries.of([Query("a", "article 7 du bail"), Query("b", "préavis 1030")])


@pytest.fixture(scope="module")
def documents():
    return [Document(f"a{number:04}", text=f"article {number} du bail", language="fr") for number in range(DOCUMENTS)]


@pytest.fixture
def killed(tmp_path, tiny, documents):
    """Begin to build a channel until some blocks are in the store; the machine is lost with its work folder."""
    write_corpus(Corpus.of(documents), tmp_path / "corpus.jsonl")
    model = str(tiny.folder(tmp_path / "model"))

    def begin(channel, blocks):
        script = Path(__file__).with_name("block_kills.py")
        done = subprocess.run([sys.executable, script, tmp_path, model, channel, str(blocks)], capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        shutil.rmtree(tmp_path / "lost machine")
        return ClusterBuilder(store=ClusterStore(str(tmp_path / "law")), work=tmp_path / "other machine"), ChannelPlan(model)

    return begin


@pytest.mark.parametrize("channel", ["dense", "colbert"])
def test_another_machine_encodes_what_is_missing(killed, tmp_path, documents, channel):
    builder, plan = killed(channel, 2)
    change = builder.build(tmp_path / "corpus.jsonl", shards=1, channels={channel: plan})
    assert change.channels[channel].encoded == DOCUMENTS - 2 * BLOCK
    assert (change.channels[channel].passages, builder.store.names("builds")) == (DOCUMENTS, [])
    with (
        Index.build(tmp_path / "one.index", documents, channels={channel: plan}) as single,
        ClusterIndex.published(builder.store, tmp_path / "cache") as cluster,
    ):
        ours, theirs = (one.run(QUERIES, channels=[channel], depth=50).as_dict() for one in (cluster, single))
    assert ours == {query: pytest.approx(hits, rel=1e-6) for query, hits in theirs.items()}
    assert [list(hits) for hits in ours.values()] == [list(hits) for hits in theirs.values()]


def test_a_damaged_block_is_refused(killed, tmp_path):
    builder, plan = killed("dense", 1)
    (build,) = builder.store.names("builds")
    (block,) = (folder for folder, _ in ChannelBlocks(builder.store, build, "000001-0f3a5c7e9b2d", 0, "dense").stored())
    builder.store.write_bytes(f"{block}/norms.npy", b"nothing")
    with pytest.raises(DataError, match=r"norms\.npy.*has 7 bytes"):
        builder.build(tmp_path / "corpus.jsonl", shards=1, channels={"dense": plan})
    builder.store.remove(blocks_folder(build, 0))
    assert builder.build(tmp_path / "corpus.jsonl", shards=1, channels={"dense": plan}).channels["dense"].encoded == DOCUMENTS
