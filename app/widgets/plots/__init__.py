"""Plots: bars and lines with their read-out, made once they are wanted."""
