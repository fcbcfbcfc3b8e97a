"""Model folders: location, content, reading."""
