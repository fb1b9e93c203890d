"""Settings and directories as each released version wrote them, and tests that the present one opens them."""
