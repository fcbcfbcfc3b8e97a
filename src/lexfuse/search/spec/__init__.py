"""A search pipeline as a TOML file, which `search` and `run` take, and which advice ends in."""
