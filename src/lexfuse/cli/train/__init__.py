"""``lexfuse train``: word vectors and models, one module per group of commands."""
