"""Models made from the user's own texts."""
