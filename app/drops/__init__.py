"""Dropping things on the desk: what they are, what will happen, and doing it."""
