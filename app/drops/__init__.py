"""Dropping things on the desktop: what they are, what will happen, and doing it."""
