"""``lexfuse tune``: BM25 parameters and fusion weights, one module each."""
