"""Input by lines, for sessions without a terminal."""
