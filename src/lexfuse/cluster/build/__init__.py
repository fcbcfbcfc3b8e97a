"""The build of a cluster: shards, made by tasks."""
