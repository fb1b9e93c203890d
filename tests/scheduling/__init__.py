"""Tests of broker_core.scheduling."""
