"""Fusion of rankings: by ranks or by normalised scores, exact, with every source's share in every hit."""
