"""Models as they are trained, one file a kind; `lexfuse.encode` has the same models as they are used."""
