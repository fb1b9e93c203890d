"""The jobs table."""
