"""The attributes of descriptions that are known."""
