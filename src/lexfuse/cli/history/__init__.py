"""Commands about documents in time."""
