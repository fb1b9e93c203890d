"""Matchmaking and its explanation: one function decides. Pure."""
