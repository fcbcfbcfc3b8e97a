"""What commands print: tables, JSON, progress and notes."""
