"""What the client asks of a broker, by subject."""
