"""A job over several sites: its components, and the barrier that holds them together."""
