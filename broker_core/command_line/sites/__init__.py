"""Commands of sites."""
