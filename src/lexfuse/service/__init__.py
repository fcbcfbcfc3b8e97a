"""The HTTP service: the library's calls as one FastAPI application, with keys, limits, metrics and problems."""
