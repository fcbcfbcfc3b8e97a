"""Models in training, one file per kind; `lexfuse.encode` has the same models for use."""
