"""Builds and updates a cluster again and again, each time killed at a later write to the store; the next call must resume.

Usage: kills.py FOLDER. It prints how often it was killed. Every attempt is a forked process that ends with SIGKILL.
"""

import os
import signal
import sys
from pathlib import Path

from lexfuse import Document
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.local_copy import LocalCopies
from lexfuse.cluster.statistics import gather_statistics, load_statistics
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.index import Index
from lexfuse.storage.folder_snapshot import open_snapshot


class DyingStore(ClusterStore):
    """A store that kills the process before its n-th write."""

    left = 0

    def _step(self):
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        type(self).left -= 1

    def upload(self, path, name):
        self._step()
        super().upload(path, name)

    def write_bytes(self, name, raw):
        self._step()
        super().write_bytes(name, raw)

    def remove(self, name):
        self._step()
        super().remove(name)


def killed(call, folder, writes):
    """Whether a call was killed at a write."""
    child = os.fork()
    if child == 0:
        import lexfuse.cluster.build.shard_task as shard_task

        DyingStore.left = writes
        shard_task.ClusterStore = DyingStore
        call(ClusterBuilder(store=DyingStore(str(folder / "law")), work=folder / "work"))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), status
    return status == signal.SIGKILL


def state(folder):
    """The documents and statistics of what is published."""
    store = ClusterStore(str(folder / "law"))
    manifest = store.manifest()
    copies = LocalCopies(store, folder / "cache")
    paths = [copies.shard(manifest, number) for number in range(len(manifest.shards))]
    statistics = load_statistics(copies.statistics(manifest))["bm25"]
    found = {}
    for path in paths:
        with Index(path) as index:
            assert index.verify() == []
            for id in index.snapshot.ids.names:
                assert id not in found
                found[id] = index.document(id).text
    counted = gather_statistics([open_snapshot(path) for path in paths])["bm25"]
    assert statistics.documents == counted.documents == len(found) == manifest.documents
    assert statistics.terms.strings() == counted.terms.strings()
    assert statistics.document_frequency.tolist() == counted.document_frequency.tolist()
    assert store.names("builds") == []
    return found


def main(folder):
    articles = [Document(f"a{number}", text=f"article {number} de la loi", language="fr") for number in range(12)]
    changed = [Document("a3", text="article 3 abrogé", language="fr")]
    write_corpus(Corpus.of(articles), folder / "articles.jsonl")
    write_corpus(Corpus.of(changed), folder / "changed.jsonl")
    first = {one.id: one.text for one in articles}
    second = first | {one.id: one.text for one in changed}
    calls = [
        (lambda builder: builder.build(folder / "articles.jsonl", shards=2), first),
        (lambda builder: builder.update(folder / "changed.jsonl"), second),
        (lambda builder: builder.delete(["a3"]), {id: text for id, text in second.items() if id != "a3"}),
    ]
    deaths = 0
    for call, expected in calls:
        writes = 0
        while killed(call, folder, writes):
            writes += 1
            deaths += 1
        assert state(folder) == expected
    sys.stdout.write(str(deaths))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
