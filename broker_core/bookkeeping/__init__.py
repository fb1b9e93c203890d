"""Logging & Bookkeeping: append-only events, job rows, recovery, repair."""
