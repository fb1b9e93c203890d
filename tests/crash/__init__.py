"""The broker killed, starved and stopped: nothing is lost, doubled or stuck."""
