"""Mori et al.: lexical and semantic models on paragraphs of the Court of Justice."""
