"""ARC computing elements, spoken to over REST with X.509 credentials."""
