"""Matching one job with a set of computing elements (CB-SET, SA-SEL). Pure."""
