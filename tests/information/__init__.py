"""Tests of what feeds the Resource Cache."""
