"""XML of law: one module for each vocabulary, recognised by its root element."""
