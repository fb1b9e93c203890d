"""Carries out what is decided about glideins and their slots, and tells what comes of it (CB-GLI)."""
