"""The pages: Jinja templates over the operations of the service, with optional JavaScript."""
