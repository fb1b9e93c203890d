"""The statistics view."""
