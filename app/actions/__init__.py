"""Every action of the desktop, in one declarative table."""
