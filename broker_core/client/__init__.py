"""The typed asynchronous client that desktop, command line and tests use."""
