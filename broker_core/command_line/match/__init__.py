"""Commands that match descriptions with resources."""
