"""Dense channels: one vector per passage, exact and approximate search."""
