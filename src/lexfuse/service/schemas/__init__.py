"""What the service answers, as values: one shape for JSON, for the page and for assistants."""
