"""File formats: JSON lines, CSV, Parquet, BEIR, TREC, PDF, HTML, TOML."""
