"""The desktop as a user has it: a real window on a real X server, driven from outside."""
