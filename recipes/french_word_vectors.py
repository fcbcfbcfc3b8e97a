"""word2vec and fastText on French law, trained on a collection itself, in the formats of the published files.

    pip install gensim
    python recipes/french_word_vectors.py DATA/fr-labour MODELS

BSARD takes a skip-gram model of 500 dimensions trained on frWaC and a CBOW fastText model of 300 dimensions trained on the web;
those files are not ours to redistribute. Both are skip-gram here: on so few words CBOW learns the endings of words rather than
their subjects (R@100 on dev .076, skip-gram .272). MODELS gets ``word2vec.bin`` and ``fasttext.bin``, which ``lexfuse train
static --vectors`` and ``python -m reproduce --table BSARD-2 --models MODELS`` read like the published ones. Two cores take some
minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim.models import FastText, Word2Vec
from gensim.models.fasttext import save_facebook_model

from lexfuse.data.formats.beir import read_collection
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.static_encoder import plain_words

EPOCHS = 5
SEED = 1
LEAST = 3  # occurrences of a word
BUCKET = 200_000  # of character n-grams: the two million of the published files suit a far larger corpus


def main() -> None:
    """Train both and write them."""
    parser = argparse.ArgumentParser(description="word2vec and fastText on a collection")
    parser.add_argument("collection", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=1, help="threads; with more than one, results differ between runs [1]")
    options = parser.parse_args()
    words = plain_words()
    texts = [words.terms(whole_text(document)) for document in read_collection(options.collection).corpus]
    print(f"{len(texts):,} documents, {sum(map(len, texts)):,} words", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    shared = {"min_count": LEAST, "epochs": EPOCHS, "seed": SEED, "workers": options.workers}
    skip_gram = Word2Vec(texts, vector_size=500, sg=1, negative=5, window=5, **shared)
    skip_gram.wv.save_word2vec_format(str(options.out / "word2vec.bin"), binary=True)
    print(f"word2vec: {len(skip_gram.wv):,} words", flush=True)
    with_ngrams = FastText(texts, vector_size=300, sg=1, negative=5, window=5, min_n=3, max_n=6, bucket=BUCKET, **shared)
    save_facebook_model(with_ngrams, str(options.out / "fasttext.bin"))
    print(f"fastText: {len(with_ngrams.wv):,} words", flush=True)


if __name__ == "__main__":
    main()
