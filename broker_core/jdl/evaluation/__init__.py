"""The value of an expression, and what it may learn of the world."""
