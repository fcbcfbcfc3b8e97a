"""The same engine over several shards: ordinary index folders that are searched with the statistics of all documents."""
