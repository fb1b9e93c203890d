"""Recordings of displays as videos."""
