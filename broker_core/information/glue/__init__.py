"""Entries of GLUE 1.3 and 2.0: typed, checked, and joined to facts."""
