"""Every action of the desk, in one declarative table."""
