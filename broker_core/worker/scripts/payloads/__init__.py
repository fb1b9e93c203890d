"""Runs plain payloads of a glidein one after the other, without a shell for each. Python 3.9 and newer."""
