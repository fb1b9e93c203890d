"""Settings of the broker, by subject."""
