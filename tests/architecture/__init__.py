"""Measures of how the sources are built, and the ratchet that lets none of them grow worse."""
