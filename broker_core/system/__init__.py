"""The process and its machine: clock, folders, turns of the event loop, garbage, errors of files."""
