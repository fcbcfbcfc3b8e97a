"""Late-interaction channels: one vector per token, compared by MaxSim."""
