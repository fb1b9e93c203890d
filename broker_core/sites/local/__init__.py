"""This machine as a computing element."""
