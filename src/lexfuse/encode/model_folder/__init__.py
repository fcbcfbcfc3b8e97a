"""Model folders: where they are, what they hold, how they are read."""
