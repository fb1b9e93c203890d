"""Glideins, virtual slots, claims and leases."""
