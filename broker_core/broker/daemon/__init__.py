"""The broker as a process: put together from its parts, started, recovered, stopped in order."""
