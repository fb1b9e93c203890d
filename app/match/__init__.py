"""Where a description can run: the match view."""
