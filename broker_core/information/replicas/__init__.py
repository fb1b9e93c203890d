"""Replica catalogues (CB-UPD-06)."""
