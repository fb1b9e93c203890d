"""The submission path: checked, expanded, durable, and turned to launch orders."""
