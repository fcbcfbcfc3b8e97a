"""Builds a cluster with channels, and is killed by SIGKILL when some encoded blocks are in the store, before they are committed.

Usage: block_kills.py FOLDER MODEL CHANNEL BLOCKS.
"""

import os
import signal
import sys
from pathlib import Path

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.channel_blocks import ChannelBlocks
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.store import ClusterStore


def main(folder, model, channel, blocks):
    upload, done = ChannelBlocks.upload, []

    def upload_and_die(self, *block):
        upload(self, *block)
        done.append(block)
        if len(done) == blocks:
            os.kill(os.getpid(), signal.SIGKILL)

    ChannelBlocks.upload = upload_and_die
    builder = ClusterBuilder(store=ClusterStore(str(folder / "law")), work=folder / "lost machine")
    builder.build(folder / "corpus.jsonl", shards=1, channels={channel: ChannelPlan(model)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
