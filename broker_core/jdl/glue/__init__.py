"""The names of the GLUE schemas."""
