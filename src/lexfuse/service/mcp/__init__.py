"""The Model Context Protocol server for LLM clients."""
