"""The citation channel: documents that a question cites."""
