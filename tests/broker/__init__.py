"""Tests of broker_core.broker: the API and the daemon, with a real process."""
