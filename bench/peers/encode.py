"""sentence-transformers on torch, timed in an environment of its own; started by bench/encode.py.

    python bench/peers/encode.py FOLDER THREADS

Reads one JSON object a line ({"texts": […], "repeats": n}), encodes them, and answers with the seconds of each repeat.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from sentence_transformers import SentenceTransformer


def main() -> None:
    """Serve until the input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what the library prints is no answer
    torch.set_num_threads(int(sys.argv[2]))
    model = SentenceTransformer(sys.argv[1], device="cpu").float()  # weights may be stored in 16 bits, slow on processors
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        seconds = []
        for _ in range(asked["repeats"]):
            begun = time.perf_counter()
            model.encode(asked["texts"], batch_size=32, show_progress_bar=False)
            seconds.append(time.perf_counter() - begun)
        print(json.dumps(seconds), file=answers, flush=True)


if __name__ == "__main__":
    main()
