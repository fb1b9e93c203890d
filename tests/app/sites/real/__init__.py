"""The sites view before a real broker, a real cluster and a real SSH server."""
