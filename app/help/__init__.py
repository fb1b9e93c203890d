"""In-app help."""
