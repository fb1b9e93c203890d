"""Tests of the page of a batch."""
