"""The description editor."""
