"""Colours, fonts and icons, from one table of tokens."""
