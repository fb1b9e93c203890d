"""Tests of the page of virtual slots."""
