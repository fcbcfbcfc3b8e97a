"""When to fuse, with evidence: every configuration tried, why it wins or loses, what it costs, and a verdict in plain words."""
