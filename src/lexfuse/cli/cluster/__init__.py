"""Commands of clusters: build, serve and describe one."""
