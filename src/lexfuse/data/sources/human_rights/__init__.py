"""Judgments of the European Court of Human Rights."""
