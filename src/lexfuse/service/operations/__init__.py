"""What the service does, one module per operation; routes, MCP tools and pages call these."""
