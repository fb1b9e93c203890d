"""Comparing a few jobs: what they have in common is muted, what differs stands out."""
