"""Orderings and queues. Pure."""
