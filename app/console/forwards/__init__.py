"""Forwarded ports of a session."""
