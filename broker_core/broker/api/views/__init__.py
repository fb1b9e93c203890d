"""What the API shows, made from the broker's own records."""
