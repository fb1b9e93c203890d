"""Tests of broker_core.resources."""
