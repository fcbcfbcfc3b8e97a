"""The report of an advice, as one HTML page and as JSON."""
