"""A remote site: every attempt is handed over, watched and brought home once."""
