"""Real components that tests run against, each started on a free port of this machine."""
