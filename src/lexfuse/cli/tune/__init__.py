"""``lexfuse tune``: parameters, weights and the confidence of a search, from judged queries."""
