"""The HTTP API: authentication, routes, and what they show."""
