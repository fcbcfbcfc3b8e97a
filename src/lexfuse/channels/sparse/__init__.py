"""Learned sparse channels: weighted terms from a model (SPLADE)."""
