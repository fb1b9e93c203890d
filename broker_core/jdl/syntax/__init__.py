"""Text to tree and back: tokens, statements, expressions, changes of a text."""
