"""Searching in the logs of jobs, in a process of its own."""
