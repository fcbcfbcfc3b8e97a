"""The search page: Jinja templates over the calls of the service, and a little JavaScript that they work without."""
