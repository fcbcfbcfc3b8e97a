"""A cluster as Ray Serve deployments: replicas of shards, and routers that run the application of the service over them."""
