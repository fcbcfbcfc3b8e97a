"""``lexfuse export``: an index written into another system or format."""
