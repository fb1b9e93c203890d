"""Updaters that feed the Resource Cache."""
