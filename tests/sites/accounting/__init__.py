"""Sites whose batch system keeps accounts of what ended."""
