"""Responses of the service as values: the same for JSON, pages and MCP clients."""
