"""Searching in the logs of many jobs at once."""
