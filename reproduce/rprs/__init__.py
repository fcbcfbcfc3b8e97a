"""Askari et al.: retrieval for extremely long queries and documents."""
