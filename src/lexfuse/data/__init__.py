"""Values: corpora, queries, judgements and runs, and every file format they come in."""
