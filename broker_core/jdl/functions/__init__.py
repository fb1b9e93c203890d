"""The functions of the language, by subject."""
