"""The first-run welcome."""
